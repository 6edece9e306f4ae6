package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/protocol"
)

// Claim takes the right to carry out an action. All claims queue for one row lock, so what
// one of them counts is still true when it is written, whatever other processes do. Those of one process take turns
// before: in the database, the last of many would wait for longer than a lock may be waited for.
func (g *Keeper) Claim(ctx context.Context, l reconcile.Lease, c reconcile.Claim) (reconcile.Action, error) {
	select {
	case g.claims <- struct{}{}:
		defer func() { <-g.claims }()
	case <-ctx.Done():
		return reconcile.Action{}, fmt.Errorf("claim action %s, behind other claims: %w", c.Action, context.Cause(ctx))
	}
	var claimed reconcile.Action
	err := g.working(ctx, l, func(tx pgx.Tx, now time.Time) error {
		request, err := readRequest(ctx, tx, c, now)
		if err != nil {
			return err
		}
		if err := request.Refuse(c, now); err != nil {
			return err
		}
		claimed, err = takeClaim(ctx, tx, l, c, now, request)
		return err
	})
	if err != nil {
		return reconcile.Action{}, fmt.Errorf("claim action %s: %w", c.Action, err)
	}
	return g.seals.Load().Checked(claimed, claimed.ClaimedAt), nil
}

// readRequest reads what decides a claim, under the lock of all claims.
func readRequest(ctx context.Context, tx pgx.Tx, c reconcile.Claim, now time.Time) (protocol.Request, error) {
	var r protocol.Request
	if _, err := exec(ctx, tx, "budget_lock", nil); err != nil {
		return r, err
	}
	id := pgx.StrictNamedArgs{"id": c.Action}
	row := tx.QueryRow(ctx, queries["claim_action"], id)
	err := scanActionAnd(row, &r.Action, &r.ClaimEpoch, &r.Epoch, &r.Begun, &r.Shares)
	if errors.Is(err, pgx.ErrNoRows) {
		return r, reconcile.ErrNotFound
	}
	if err != nil {
		return r, failed("claim_action", err)
	}
	if r.Earlier, err = all(ctx, tx, "claim_earlier", id, scanAction); err != nil || !r.Begins() {
		return r, err
	}
	err = one(ctx, tx, "claim_spent", pgx.StrictNamedArgs{
		"pass": c.Pass, "hour_ago": now.Add(-protocol.Hour),
	}, &r.Spent.Total, &r.Spent.Shared, &r.Spent.Hour)
	return r, err
}

func takeClaim(ctx context.Context, tx pgx.Tx, l reconcile.Lease, c reconcile.Claim, now time.Time,
	r protocol.Request) (reconcile.Action, error) {
	row := tx.QueryRow(ctx, queries["claim_take"], pgx.StrictNamedArgs{
		"id": c.Action, "holder": l.Holder, "epoch": l.Epoch, "now": now, "ends": now.Add(c.TTL),
		"begins": r.Begins(), "pass": passOf(r.Action, c), "shares": r.Spends(c),
	})
	var claimed reconcile.Action
	if err := scanActionAnd(row, &claimed); err != nil {
		return claimed, failed("claim_take", err)
	}
	return claimed, nil
}

// passOf is the pass on whose budget a claim goes; none for what an operator asked for.
func passOf(a reconcile.Action, c reconcile.Claim) *int64 {
	if protocol.Asks(a) {
		return nil
	}
	return &c.Pass
}

// RenewClaim extends a claim that still stands.
func (g *Keeper) RenewClaim(ctx context.Context, l reconcile.Lease, a reconcile.Action, ttl time.Duration) error {
	err := g.working(ctx, l, func(tx pgx.Tx, now time.Time) error {
		return counted(ctx, tx, "claim_renew", pgx.StrictNamedArgs{
			"id": a.ID, "holder": l.Holder, "epoch": l.Epoch, "attempts": a.Attempts,
			"now": now, "ends": now.Add(ttl),
		}, protocol.ClaimLost(a))
	})
	if err != nil {
		return fmt.Errorf("renew claim of action %s: %w", a.ID, err)
	}
	return nil
}

// Settle writes what became of a claimed action and frees the claim. It works for as long
// as nobody has taken the lease or the claim over, also when both have run out: what was
// done outside must not stay unwritten.
func (g *Keeper) Settle(ctx context.Context, l reconcile.Lease, a reconcile.Action) error {
	now, err := g.Now(ctx)
	if err != nil {
		return err
	}
	err = protocol.CheckOutcome(a.Outcome)
	if err == nil {
		err = pgx.BeginFunc(ctx, g.pool, func(tx pgx.Tx) error { return settle(ctx, tx, l, a, now) })
	}
	if err != nil {
		return fmt.Errorf("settle action %s as %s: %w", a.ID, a.Outcome, err)
	}
	return nil
}

func settle(ctx context.Context, tx pgx.Tx, l reconcile.Lease, a reconcile.Action, now time.Time) error {
	if err := fenceLate(ctx, tx, l); err != nil {
		return err
	}
	if err := execAll(ctx, tx, settleLocks(a)); err != nil {
		return err
	}
	settled, err := settleAction(ctx, tx, l, a, now)
	if err != nil {
		return err
	}
	ended := []reconcile.Action{settled}
	if end := protocol.EndsRemedy(settled); end.Why != "" {
		later, err := all(ctx, tx, "settle_later", pgx.StrictNamedArgs{
			"remedy": settled.Remedy, "seq": settled.Seq, "detail": end.Why, "now": now,
			"one_sandbox": end.OneSandbox, "provider": settled.Provider, "sandbox": settled.Sandbox,
		}, scanAction)
		if err != nil {
			return err
		}
		ended = append(ended, later...)
	}
	settled.Announce = a.Announce
	return execAll(ctx, tx, append(settleWrites(settled, now), settleSums(ended, []reconcile.Action{settled}, now)...))
}

// fenceLate refuses to write down what was done once another has taken over. A worker's
// claim stands for itself.
func fenceLate(ctx context.Context, tx pgx.Tx, l reconcile.Lease) error {
	if l.Worker() {
		return protocol.CheckWorker(l)
	}
	return fence(ctx, tx, "fence_same", l, pgx.StrictNamedArgs{"holder": l.Holder, "epoch": l.Epoch})
}

// settleLocks lock all that will be changed besides the action itself, in the order in
// which everybody does: workers settle side by side, and beside a pass that records.
func settleLocks(a reconcile.Action) []write {
	var locks []write
	if protocol.EndsSandbox(a) {
		locks = append(locks, write{"settle_lock_sandbox", pgx.StrictNamedArgs{
			"provider": clean(a.Provider), "sandbox": clean(a.Sandbox),
		}})
	}
	if protocol.EndsRemedy(a).Why != "" || a.Step == reconcile.StepQuarantine {
		locks = append(locks, write{"settle_lock_remedy", pgx.StrictNamedArgs{"remedy": a.Remedy, "seq": a.Seq}})
	}
	return locks
}

// settleWrites are what follows from an action that was settled.
func settleWrites(settled reconcile.Action, now time.Time) []write {
	var writes []write
	if protocol.EndsSandbox(settled) {
		writes = append(writes, write{"settle_sandbox", pgx.StrictNamedArgs{
			"provider": settled.Provider, "sandbox": settled.Sandbox, "now": now, "ours": protocol.EndedByUs(settled),
		}})
	}
	if later := protocol.Keeps(settled, now); later > 0 {
		writes = append(writes, write{"settle_keep", pgx.StrictNamedArgs{"remedy": settled.Remedy,
			"seq": settled.Seq, "provider": settled.Provider, "sandbox": settled.Sandbox, "later": later}})
	}
	if protocol.Repairs(settled) {
		writes = append(writes, write{"settle_verdict", pgx.StrictNamedArgs{
			"subject": settled.Subject, "rule": settled.Rule, "row": protocol.Fails(settled), "now": now,
		}})
	}
	if n, tell := protocol.Notice(settled, now); tell {
		writes = append(writes, noticeWrite(n))
	}
	return writes
}

// settleSums are what is counted of actions that were settled, and at last the lines of the record of all that ended.
func settleSums(ended, settled []reconcile.Action, now time.Time) (writes []write) {
	var counts []reconcile.Counter
	for _, a := range settled {
		counts = append(counts, protocol.Gone(a)...)
	}
	if len(counts) > 0 {
		writes = append(writes, countWrite(counts))
	}
	return append(writes, putEvents(column(ended, func(e reconcile.Action) reconcile.TimelineEvent {
		return reconcile.TimelineEvent{At: now, Subject: e.Subject, Kind: "action", What: protocol.Announced(e)}
	})))
}

func countWrite(counts []reconcile.Counter) write {
	type counter = reconcile.Counter
	return write{"count", pgx.StrictNamedArgs{
		"names":     column(counts, func(c counter) string { return c.Name }),
		"rules":     column(counts, func(c counter) string { return c.Rule }),
		"providers": column(counts, func(c counter) string { return c.Provider }),
		"what":      column(counts, func(c counter) string { return c.What }),
		"values":    column(counts, func(c counter) int64 { return c.Value }),
	}}
}

func settleAction(ctx context.Context, tx pgx.Tx, l reconcile.Lease, a reconcile.Action, now time.Time,
) (reconcile.Action, error) {
	facts, err := evidence(a.Evidence)
	if err != nil {
		return a, err
	}
	before, err := rowBefore(a.Before)
	if err != nil {
		return a, err
	}
	row := tx.QueryRow(ctx, queries["settle_action"], pgx.StrictNamedArgs{
		"id": a.ID, "holder": l.Holder, "epoch": l.Epoch, "attempts": a.Attempts,
		"outcome": string(a.Outcome), "detail": clean(a.Detail), "evidence": facts,
		"how": string(a.How), "waits_for": cleaned(a.WaitsFor.Texts()),
		"acted_at": stamp(a.ActedAt), "asked_at": stamp(a.AskedAt), "next_attempt": stamp(a.NextAttempt), "now": now,
		"closed": a.Outcome.Closed(), "gives_back": protocol.GivesBack(a),
		"row_before": before,
	})
	var settled reconcile.Action
	err = scanActionAnd(row, &settled)
	if errors.Is(err, pgx.ErrNoRows) {
		return a, protocol.ClaimLost(a)
	}
	if err != nil {
		return a, failed("settle_action", err)
	}
	return settled, nil
}
