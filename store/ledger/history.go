package ledger

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/protocol"
)

// mostOfHistory bounds each list of a history: the newest ones are kept.
const mostOfHistory = 200

// Subject reads everything that is known of a task or a sandbox: id is a task's id, a
// sandbox's id or name, provider/id, or a subject. [reconcile.ErrNotFound] means nothing.
func (g *Reader) Subject(ctx context.Context, id string) (reconcile.History, error) {
	var h reconcile.History
	err := pgx.BeginTxFunc(ctx, g.pool, snapshot, func(tx pgx.Tx) error {
		if err := g.usable(ctx, tx); err != nil {
			return err
		}
		return readHistory(ctx, tx, protocol.Subject(id), &h)
	})
	if err == nil && h.Empty() {
		err = reconcile.ErrNotFound
	}
	if err != nil {
		return reconcile.History{}, fmt.Errorf("read history of %s: %w", id, err)
	}
	return h, nil
}

func readHistory(ctx context.Context, tx pgx.Tx, s protocol.Sought, h *reconcile.History) error {
	var err error
	h.Sandboxes, err = all(ctx, tx, "history_sandboxes", pgx.StrictNamedArgs{
		"id": s.ID, "provider": s.Ref.Provider, "sandbox": s.Ref.ID, "most": mostOfHistory,
	}, scanSandbox)
	if err != nil {
		return err
	}
	h.Tasks, err = all(ctx, tx, "history_tasks", pgx.StrictNamedArgs{
		"id": s.ID, "tasks": column(h.Sandboxes, func(b reconcile.SandboxSeen) string { return b.Task }),
		"most": mostOfHistory,
	}, scanTask)
	if err != nil {
		return err
	}
	return read(ctx, tx, historyReadings(s, h))
}

// historyReadings read what happened to the tasks and sandboxes that were found.
func historyReadings(s protocol.Sought, h *reconcile.History) []reading {
	refs := s.Refs(*h)
	providers := column(refs, func(r reconcile.Ref) string { return r.Provider })
	sandboxes := column(refs, func(r reconcile.Ref) string { return r.ID })
	about := pgx.StrictNamedArgs{
		"id": s.Given, "tasks": s.Tasks(*h), "providers": providers, "sandboxes": sandboxes, "most": mostOfHistory,
	}
	return []reading{
		each("history_findings", about, scanFinding, func(f reconcile.FindingSeen) {
			h.Findings = append(h.Findings, f)
		}),
		each("history_actions", about, scanAction, func(a reconcile.Action) {
			h.Actions = append(h.Actions, a)
		}),
		each("history_verdicts", about, scanVerdict, func(v reconcile.Verdict) {
			h.Verdicts = append(h.Verdicts, v)
		}),
		each("history_probes", pgx.StrictNamedArgs{
			"providers": providers, "sandboxes": sandboxes, "most": mostOfHistory,
		}, scanProbe, func(p reconcile.ProbeResult) { h.Probes = append(h.Probes, p) }),
		each("history_timeline", pgx.StrictNamedArgs{
			"subjects": s.Subjects(*h), "most": mostOfHistory,
		}, scanEvent, func(e reconcile.TimelineEvent) { h.Timeline = append(h.Timeline, e) }),
	}
}

// LastPasses reads the newest n passes, newest first, those under way included.
func (g *Reader) LastPasses(ctx context.Context, n int) ([]reconcile.PassSeen, error) {
	found, err := all(ctx, g.pool, "last_passes", pgx.StrictNamedArgs{"most": n}, scanPass)
	if err != nil {
		return nil, fmt.Errorf("read last %d passes: %w", n, err)
	}
	return found, nil
}

// Counters reads all totals.
func (g *Reader) Counters(ctx context.Context) ([]reconcile.Counter, error) {
	found, err := all(ctx, g.pool, "counters", nil, scanCounter)
	if err != nil {
		return nil, fmt.Errorf("read counters: %w", err)
	}
	return found, nil
}

func scanCounter(r pgx.Rows) (reconcile.Counter, error) {
	var c reconcile.Counter
	err := r.Scan(&c.Name, &c.Rule, &c.Provider, &c.What, &c.Value)
	return c, err
}
