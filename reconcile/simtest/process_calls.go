package simtest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// ledgerCalls are a process's calls of the ledger.
type ledgerCalls struct{ *seat }

var _ reconcile.Ledger = ledgerCalls{}

func read(name, id string) query { return query{party: partyLedger, name: name, id: id} }

func write(name, id string, args any) query {
	return query{party: partyLedger, name: name, id: id, args: args, writes: true}
}

// done is ask for a call that only says whether it was done.
func done(ctx context.Context, s *seat, q query, do func() error) error {
	_, err := ask(ctx, s, q, func() (bool, error) {
		err := do()
		return err == nil, err
	})
	return err
}

func (c ledgerCalls) Now(ctx context.Context) (time.Time, error) {
	return ask(ctx, c.seat, read("Now", ""), func() (time.Time, error) { return c.e.ledger.Now(ctx) })
}

func (c ledgerCalls) TakeLease(ctx context.Context, holder string, ttl time.Duration) (reconcile.Lease, error) {
	return ask(ctx, c.seat, write("TakeLease", holder, nil), func() (reconcile.Lease, error) {
		l, err := c.e.ledger.TakeLease(ctx, holder, ttl)
		if err == nil {
			c.e.lease = l
		}
		return l, err
	})
}

func (c ledgerCalls) RenewLease(ctx context.Context, l reconcile.Lease, ttl time.Duration) error {
	return done(ctx, c.seat, write("RenewLease", l.Holder, l), func() error { return c.e.ledger.RenewLease(ctx, l, ttl) })
}

func (c ledgerCalls) DropLease(ctx context.Context, l reconcile.Lease) error {
	return done(ctx, c.seat, write("DropLease", l.Holder, l), func() error { return c.e.ledger.DropLease(ctx, l) })
}

func (c ledgerCalls) Recall(ctx context.Context) (reconcile.Memory, error) {
	return ask(ctx, c.seat, read("Recall", ""), func() (reconcile.Memory, error) { return c.e.ledger.Recall(ctx) })
}

func (c ledgerCalls) Sources(ctx context.Context) (map[string]reconcile.SourceSeen, error) {
	return ask(ctx, c.seat, read("Sources", ""), func() (map[string]reconcile.SourceSeen, error) {
		return c.e.ledger.Sources(ctx)
	})
}

func (c ledgerCalls) LastBegan(ctx context.Context, kind reconcile.PassKind) (began, now time.Time, err error) {
	both, err := ask(ctx, c.seat, read("LastBegan", string(kind)), func() ([2]time.Time, error) {
		began, now, err := c.e.ledger.LastBegan(ctx, kind)
		return [2]time.Time{began, now}, err
	})
	return both[0], both[1], err
}

func (c ledgerCalls) LastRecorded(ctx context.Context) (int64, error) {
	return ask(ctx, c.seat, read("LastRecorded", ""), func() (int64, error) { return c.e.ledger.LastRecorded(ctx) })
}

func (c ledgerCalls) BeginPass(ctx context.Context, l reconcile.Lease, kind reconcile.PassKind, at time.Time,
) (int64, error) {
	return ask(ctx, c.seat, write("BeginPass", string(kind), kind), func() (int64, error) {
		return c.e.ledger.BeginPass(ctx, l, kind, at)
	})
}

// Record leaves out the rules that the process's version does not know.
func (c ledgerCalls) Record(ctx context.Context, l reconcile.Lease, r reconcile.Record) error {
	r.Known = slices.DeleteFunc(slices.Clone(r.Known), func(rule string) bool { return c.p.without[rule] })
	return done(ctx, c.seat, write("Record", fmt.Sprint(r.Pass), r), func() error { return c.e.ledger.Record(ctx, l, r) })
}

func (c ledgerCalls) Controls(ctx context.Context) (reconcile.Controls, error) {
	return ask(ctx, c.seat, read("Controls", ""), func() (reconcile.Controls, error) { return c.e.ledger.Controls(ctx) })
}

func (c ledgerCalls) OpenActions(ctx context.Context, remedies ...string) ([]reconcile.Action, error) {
	return ask(ctx, c.seat, read("OpenActions", ""), func() ([]reconcile.Action, error) {
		return c.e.ledger.OpenActions(ctx, remedies...)
	})
}

func (c ledgerCalls) Claim(ctx context.Context, l reconcile.Lease, q reconcile.Claim) (reconcile.Action, error) {
	return ask(ctx, c.seat, write("Claim", q.Action, q), func() (reconcile.Action, error) {
		return c.e.ledger.Claim(ctx, l, q)
	})
}

func (c ledgerCalls) RenewClaim(ctx context.Context, l reconcile.Lease, a reconcile.Action, ttl time.Duration) error {
	return done(ctx, c.seat, write("RenewClaim", a.ID, a), func() error { return c.e.ledger.RenewClaim(ctx, l, a, ttl) })
}

func (c ledgerCalls) Settle(ctx context.Context, l reconcile.Lease, a reconcile.Action) error {
	return done(ctx, c.seat, write("Settle", a.ID, a), func() error { return c.e.ledger.Settle(ctx, l, a) })
}

func (c ledgerCalls) Confirm(ctx context.Context, l reconcile.Lease, ids []string) ([]reconcile.Action, error) {
	return ask(ctx, c.seat, write("Confirm", "", ids), func() ([]reconcile.Action, error) {
		return c.e.ledger.Confirm(ctx, l, ids)
	})
}

func (c ledgerCalls) SaveProbes(ctx context.Context, l reconcile.Lease, results []reconcile.ProbeResult) error {
	return done(ctx, c.seat, write("SaveProbes", "", results), func() error {
		return c.e.ledger.SaveProbes(ctx, l, results)
	})
}

func (c ledgerCalls) ReserveProbes(ctx context.Context, l reconcile.Lease, provider string, want, perMinute int,
) (int, error) {
	return ask(ctx, c.seat, write("ReserveProbes", provider, [2]int{want, perMinute}), func() (int, error) {
		return c.e.ledger.ReserveProbes(ctx, l, provider, want, perMinute)
	})
}

// noticeCalls are a process's calls about what the platform is to be told.
type noticeCalls struct{ *seat }

func (c noticeCalls) TakeNotices(ctx context.Context, most int) ([]reconcile.Notice, error) {
	return ask(ctx, c.seat, write("TakeNotices", "", most), func() ([]reconcile.Notice, error) {
		return c.e.ledger.TakeNotices(ctx, most)
	})
}

func (c noticeCalls) NoticeTold(ctx context.Context, action string) error {
	return done(ctx, c.seat, write("NoticeTold", action, nil), func() error { return c.e.ledger.NoticeTold(ctx, action) })
}

func (c noticeCalls) NoticeFailed(ctx context.Context, action, why string) error {
	return done(ctx, c.seat, write("NoticeFailed", action, why), func() error {
		return c.e.ledger.NoticeFailed(ctx, action, why)
	})
}

func (c noticeCalls) Notify(ctx context.Context, n reconcile.Notice) error {
	q := query{party: partyPlatform, name: "Notify", id: n.Action, args: n, writes: true}
	return done(ctx, c.seat, q, func() error { return nil })
}

// taskCalls are a process's calls of the task database.
type taskCalls struct{ *seat }

var (
	_ reconcile.Tasks    = taskCalls{}
	_ reconcile.Restorer = taskCalls{}
)

func fromTasks(name, id string, args any) query {
	return query{party: partyTasks, name: name, id: id, args: args, writes: name == "Write" || name == "Restore"}
}

func (c taskCalls) Clock(ctx context.Context) (reconcile.TaskClock, error) {
	return ask(ctx, c.seat, fromTasks("Clock", "", nil), func() (reconcile.TaskClock, error) {
		return c.e.place.Tasks().Clock(ctx)
	})
}

func (c taskCalls) Live(ctx context.Context) (reconcile.Rows, error) {
	return ask(ctx, c.seat, fromTasks("Live", "", nil), func() (reconcile.Rows, error) {
		return c.e.place.Tasks().Live(ctx)
	})
}

func (c taskCalls) ByID(ctx context.Context, ids []string) (reconcile.Rows, error) {
	return ask(ctx, c.seat, fromTasks("ByID", firstOf(ids), ids), func() (reconcile.Rows, error) {
		return c.e.place.Tasks().ByID(ctx, ids)
	})
}

func (c taskCalls) BySandbox(ctx context.Context, keys []string) (reconcile.Rows, error) {
	return ask(ctx, c.seat, fromTasks("BySandbox", firstOf(keys), keys), func() (reconcile.Rows, error) {
		return c.e.place.Tasks().BySandbox(ctx, keys)
	})
}

func (c taskCalls) Explaining(ctx context.Context, by int, values []string) ([]string, error) {
	return ask(ctx, c.seat, fromTasks("Explaining", firstOf(values), values), func() ([]string, error) {
		return c.e.place.Tasks().Explaining(ctx, by, values)
	})
}

func firstOf(list []string) string {
	if len(list) == 0 {
		return ""
	}
	return list[0]
}

func (c taskCalls) Write(ctx context.Context, w reconcile.Write) (reconcile.Written, *reconcile.RowBefore, error) {
	var before *reconcile.RowBefore
	written, err := ask(ctx, c.seat, fromTasks("Write", w.Task.ID, w), func() (written reconcile.Written, err error) {
		written, before, err = c.e.place.Tasks().Write(ctx, w)
		return written, err
	})
	if err != nil {
		before = nil
	}
	return written, before, err
}

func (c taskCalls) Restore(ctx context.Context, id string, before reconcile.RowBefore) (reconcile.Written, error) {
	return ask(ctx, c.seat, fromTasks("Restore", id, before), func() (reconcile.Written, error) {
		return c.e.place.Tasks().Restore(ctx, id, before)
	})
}
