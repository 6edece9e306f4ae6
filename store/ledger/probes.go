package ledger

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/protocol"
)

// SaveProbes adds probe results to the history and to what each sandbox's probes come to.
func (g *Keeper) SaveProbes(ctx context.Context, l reconcile.Lease, results []reconcile.ProbeResult) error {
	if len(results) == 0 {
		return nil
	}
	results = column(results, cleanProbe)
	err := g.working(ctx, l, func(tx pgx.Tx, now time.Time) error {
		sums, err := lockSums(ctx, tx, results)
		if err != nil {
			return err
		}
		if err := putSums(ctx, tx, foldAll(sums, results)); err != nil {
			return err
		}
		args := probeArgs(results)
		args["hour"] = protocol.HourOf(now)
		_, err = exec(ctx, tx, "probe_history", args)
		return err
	})
	if err != nil {
		return fmt.Errorf("save %d probe results: %w", len(results), err)
	}
	return nil
}

func cleanProbe(p reconcile.ProbeResult) reconcile.ProbeResult {
	p.Provider, p.ID, p.Detail = clean(p.Provider), clean(p.ID), clean(p.Detail)
	p.At, p.Took = micro(p.At), p.Took.Truncate(time.Microsecond)
	if p.Measurements != nil {
		v := protocol.Sound(*p.Measurements)
		v.At, v.Signs = micro(v.At), column(v.Signs, clean)
		p.Measurements = &v
	}
	return p
}

// lockSums reads what the sandboxes' probes came to so far, and keeps others from adding
// to it until this transaction ends: two replicas may probe one sandbox.
func lockSums(ctx context.Context, tx pgx.Tx, results []reconcile.ProbeResult) ([]reconcile.ProbeSeen, error) {
	return all(ctx, tx, "probe_lock", pgx.StrictNamedArgs{
		"providers": column(results, func(p reconcile.ProbeResult) string { return p.Provider }),
		"sandboxes": column(results, func(p reconcile.ProbeResult) string { return p.ID }),
	}, scanProbeSum)
}

// foldAll adds to each sandbox's sum the results that are its own.
func foldAll(sums []reconcile.ProbeSeen, results []reconcile.ProbeResult) []reconcile.ProbeSeen {
	own := map[reconcile.Ref][]reconcile.ProbeResult{}
	for _, r := range results {
		own[r.Ref] = append(own[r.Ref], r)
	}
	return column(sums, func(s reconcile.ProbeSeen) reconcile.ProbeSeen { return protocol.Fold(s, own[s.Ref]) })
}

func putSums(ctx context.Context, tx pgx.Tx, sums []reconcile.ProbeSeen) error {
	args := probeArgs(column(sums, func(s reconcile.ProbeSeen) reconcile.ProbeResult {
		return s.Last
	}))
	runs, measurements := make([]*string, len(sums)), make([]*string, len(sums))
	for i, s := range sums {
		var err error
		if runs[i], err = listText(s.Failures); err != nil {
			return err
		}
		if measurements[i], err = listText(s.Measurements); err != nil {
			return err
		}
	}
	args["failures"], args["vitals"] = runs, measurements
	args["worker_at"] = column(sums, func(s reconcile.ProbeSeen) pgtype.Timestamptz { return stamp(s.WorkerAt) })
	args["last_answered"] = column(sums, func(s reconcile.ProbeSeen) pgtype.Timestamptz { return stamp(s.LastAnswered) })
	args["run_ended"] = column(sums, func(s reconcile.ProbeSeen) pgtype.Timestamptz { return stamp(s.RunEnded) })
	_, err := exec(ctx, tx, "probe_sums", args)
	return err
}

// listText is a list as JSON, nil when it is empty.
func listText[T any](list []T) (*string, error) {
	if len(list) == 0 {
		return nil, nil
	}
	text, err := jsonText(list)
	return &text, err
}

func probeArgs(results []reconcile.ProbeResult) pgx.StrictNamedArgs {
	type probe = reconcile.ProbeResult
	return pgx.StrictNamedArgs{
		"providers": column(results, func(p probe) string { return p.Provider }),
		"sandboxes": column(results, func(p probe) string { return p.ID }),
		"outcomes":  column(results, func(p probe) string { return string(p.Outcome) }),
		"details":   column(results, func(p probe) string { return p.Detail }),
		"at":        column(results, func(p probe) pgtype.Timestamptz { return stamp(p.At) }),
		"took":      column(results, func(p probe) int64 { return p.Took.Microseconds() }),
		"workers": column(results, func(p probe) pgtype.Text {
			return pgtype.Text{String: string(p.Worker), Valid: p.Worker != ""}
		}),
	}
}

// ReserveProbes takes up to want probes out of the provider's budget for this minute,
// shared by all replicas, and returns how many it got.
func (g *Keeper) ReserveProbes(ctx context.Context, l reconcile.Lease, provider string, want, perMinute int,
) (int, error) {
	var got int
	err := g.working(ctx, l, func(tx pgx.Tx, now time.Time) error {
		minute, err := lockMinute(ctx, tx, provider)
		if err != nil {
			return err
		}
		minute, got = minute.Grant(now, want, perMinute)
		_, err = exec(ctx, tx, "probe_budget_take", pgx.StrictNamedArgs{
			"provider": provider, "minute": stamp(minute.Start), "used": minute.Used,
		})
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("reserve %d probes of %s: %w", want, provider, err)
	}
	return got, nil
}

func lockMinute(ctx context.Context, tx pgx.Tx, provider string) (protocol.Minute, error) {
	var m protocol.Minute
	args := pgx.StrictNamedArgs{"provider": provider}
	if _, err := exec(ctx, tx, "probe_budget_row", args); err != nil {
		return m, err
	}
	return m, one(ctx, tx, "probe_budget_lock", args, at(&m.Start), &m.Used)
}
