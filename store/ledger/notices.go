package ledger

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/protocol"
)

var _ reconcile.Notices = (*Ledger)(nil)

func noticeWrite(n reconcile.Notice) write {
	return write{"notice_add", pgx.StrictNamedArgs{
		"action": n.Action, "task": n.Task, "provider": n.Provider, "sandbox": n.Sandbox, "rule": n.Rule,
		"step": string(n.Step), "outcome": string(n.Outcome), "reason": n.Reason, "now": n.At,
	}}
}

// TakeNotices takes up to most notices that are due and puts their next attempt off: also
// when this process dies, nobody tries them again before.
func (g *Outbox) TakeNotices(ctx context.Context, most int) ([]reconcile.Notice, error) {
	now, err := g.Now(ctx)
	if err != nil {
		return nil, err
	}
	taken, err := all(ctx, g.pool, "notices_take", pgx.StrictNamedArgs{
		"now": now, "most": max(most, 0), "shortest": protocol.ShortestPause, "longest": protocol.LongestPause,
	}, scanNotice)
	if err != nil {
		return nil, fmt.Errorf("take notices: %w", err)
	}
	return taken, nil
}

func scanNotice(r pgx.Rows) (reconcile.Notice, error) {
	var n reconcile.Notice
	err := r.Scan(&n.Action, &n.Task, &n.Provider, &n.Sandbox, &n.Rule, (*string)(&n.Step), (*string)(&n.Outcome),
		&n.Reason, at(&n.At), &n.Attempts)
	return n, err
}

// NoticeTold closes a notice that was delivered. A second time changes nothing.
func (g *Outbox) NoticeTold(ctx context.Context, action string) error {
	now, err := g.Now(ctx)
	if err != nil {
		return err
	}
	_, err = exec(ctx, g.pool, "notice_told", pgx.StrictNamedArgs{"action": action, "now": now})
	if err != nil {
		return fmt.Errorf("close notice of action %s: %w", action, err)
	}
	return nil
}

// NoticeFailed writes down why a notice could not be delivered. One that is too old is given
// up, and kept with the reason until its retention ends.
func (g *Outbox) NoticeFailed(ctx context.Context, action, why string) error {
	now, err := g.Now(ctx)
	if err != nil {
		return err
	}
	_, err = exec(ctx, g.pool, "notice_failed", pgx.StrictNamedArgs{
		"action": action, "why": clean(why), "now": now, "too_old": now.Add(-protocol.MostNotice),
	})
	if err != nil {
		return fmt.Errorf("write down the failure of the notice of action %s: %w", action, err)
	}
	return nil
}
