package memory

import (
	"cmp"
	"context"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/protocol"
)

var _ reconcile.Notices = (*Ledger)(nil)

// A notice with when it is tried next, and what became of it.
type notice struct {
	reconcile.Notice
	nextAt, closedAt time.Time
	why              string // the last attempt failed
}

func (g *noticeTable) addNotice(n reconcile.Notice) {
	if _, known := g.notices[n.Action]; !known {
		g.notices[n.Action] = notice{Notice: n, nextAt: n.At}
	}
}

func (g *noticeTable) openNotices() int {
	open := 0
	for _, n := range g.notices {
		if n.closedAt.IsZero() {
			open++
		}
	}
	return open
}

// TakeNotices takes up to most notices that are due and puts their next attempt off.
func (g *Ledger) TakeNotices(ctx context.Context, most int) ([]reconcile.Notice, error) {
	var taken []reconcile.Notice
	err := g.locked(ctx, func(now time.Time) error {
		next := func(a, b notice) int { return cmp.Or(a.nextAt.Compare(b.nextAt), cmp.Compare(a.Action, b.Action)) }
		due := sorted(g.notices, next, func(n notice) bool { return n.closedAt.IsZero() && !n.nextAt.After(now) })
		for _, n := range cut(due, max(most, 0)) {
			taken = append(taken, n.Notice)
			n.nextAt = now.Add(protocol.Pause(n.Attempts))
			n.Attempts++
			g.notices[n.Action] = n
		}
		return nil
	})
	return taken, err
}

// NoticeTold closes a notice that was delivered.
func (g *Ledger) NoticeTold(ctx context.Context, action string) error {
	return g.changeNotice(ctx, action, func(n *notice, now time.Time) {
		n.closedAt, n.why = now, ""
		g.count("notices", n.Rule, n.Provider, "told")
	})
}

// NoticeFailed writes down why a notice could not be delivered.
func (g *Ledger) NoticeFailed(ctx context.Context, action, why string) error {
	return g.changeNotice(ctx, action, func(n *notice, now time.Time) {
		n.why = why
		if protocol.GivenUp(n.At, now) {
			n.closedAt = now
			g.count("notices", n.Rule, n.Provider, "given-up")
		}
	})
}

// changeNotice changes a notice that is open; one that is not stays as it is.
func (g *Ledger) changeNotice(ctx context.Context, action string, change func(n *notice, now time.Time)) error {
	return g.locked(ctx, func(now time.Time) error {
		n, known := g.notices[action]
		if known && n.closedAt.IsZero() {
			change(&n, now)
			g.notices[action] = n
		}
		return nil
	})
}
