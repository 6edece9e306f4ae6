package run_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

var errDead = errors.New("the process is dead")

// A life is one process. It stands between a keeper and everything outside of it, counts
// the calls, and can end at any of them.
type life struct {
	dieAt  int                         // the number of the call at which it dies; 0: never
	after  bool                        // it dies when that call has taken effect, not before
	before func(n int, call string)    // runs before each call; may be nil
	refuse func(call, id string) error // an error instead of the call; may be nil

	mu    sync.Mutex
	calls []string
	dead  bool
	lost  bool     // another holder has taken over
	asked []string // the sandboxes that the provider was asked to end
	late  []string // what it did outside after that
	lease reconcile.Lease
	begun map[int64]int // remedies begun, by pass
}

func (l *life) begin(name string) (n int, dies bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.dead {
		return 0, false, errDead
	}
	l.calls = append(l.calls, name)
	n = len(l.calls)
	l.dead = n == l.dieAt
	return n, l.dead, nil
}

// do makes one call outside, unless the process is dead or the call is not wanted any more.
func (l *life) do(ctx context.Context, name, id string, call func() error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	n, dies, err := l.begin(name)
	if err != nil || dies && !l.after {
		return errors.Join(err, errDead)
	}
	if l.before != nil {
		l.before(n, name)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if l.refuse != nil {
		if err := l.refuse(name, id); err != nil {
			return err
		}
	}
	l.note(name + " " + id)
	err = call()
	if dies {
		return errDead
	}
	return err
}

// note remembers what a process does that has lost its lease.
func (l *life) note(what string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lost {
		l.late = append(l.late, what)
	}
}

func (l *life) count() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.calls)
}

// ask is do for a call with an answer.
func ask[T any](ctx context.Context, l *life, name, id string, call func() (T, error)) (T, error) {
	var out T
	err := l.do(ctx, name, id, func() (err error) {
		out, err = call()
		return err
	})
	if errors.Is(err, errDead) {
		var none T
		return none, err
	}
	return out, err
}

// ledgerCalls are a process's calls of the ledger.
type ledgerCalls struct {
	l *life
	g reconcile.Ledger
}

func (c ledgerCalls) Now(ctx context.Context) (time.Time, error) {
	return ask(ctx, c.l, "Now", "", func() (time.Time, error) { return c.g.Now(ctx) })
}

func (c ledgerCalls) TakeLease(ctx context.Context, holder string, ttl time.Duration) (reconcile.Lease, error) {
	return ask(ctx, c.l, "TakeLease", holder, func() (reconcile.Lease, error) {
		lease, err := c.g.TakeLease(ctx, holder, ttl)
		if err == nil {
			c.l.mu.Lock()
			defer c.l.mu.Unlock()
			c.l.lease = lease
		}
		return lease, err
	})
}

func (c ledgerCalls) RenewLease(ctx context.Context, l reconcile.Lease, ttl time.Duration) error {
	return c.l.do(ctx, "RenewLease", l.Holder, func() error { return c.g.RenewLease(ctx, l, ttl) })
}

func (c ledgerCalls) DropLease(ctx context.Context, l reconcile.Lease) error {
	return c.l.do(ctx, "DropLease", l.Holder, func() error { return c.g.DropLease(ctx, l) })
}

func (c ledgerCalls) Recall(ctx context.Context) (reconcile.Memory, error) {
	return ask(ctx, c.l, "Recall", "", func() (reconcile.Memory, error) { return c.g.Recall(ctx) })
}

func (c ledgerCalls) Sources(ctx context.Context) (map[string]reconcile.SourceSeen, error) {
	return ask(ctx, c.l, "Sources", "", func() (map[string]reconcile.SourceSeen, error) { return c.g.Sources(ctx) })
}

func (c ledgerCalls) LastBegan(ctx context.Context, kind reconcile.PassKind) (began, now time.Time, err error) {
	err = c.l.do(ctx, "LastBegan", string(kind), func() error {
		began, now, err = c.g.LastBegan(ctx, kind)
		return err
	})
	return began, now, err
}

func (c ledgerCalls) LastRecorded(ctx context.Context) (int64, error) {
	return ask(ctx, c.l, "LastRecorded", "", func() (int64, error) { return c.g.LastRecorded(ctx) })
}

func (c ledgerCalls) BeginPass(ctx context.Context, l reconcile.Lease, kind reconcile.PassKind, at time.Time,
) (int64, error) {
	return ask(ctx, c.l, "BeginPass", string(kind), func() (int64, error) { return c.g.BeginPass(ctx, l, kind, at) })
}

func (c ledgerCalls) Record(ctx context.Context, l reconcile.Lease, r reconcile.Record) error {
	return c.l.do(ctx, "Record", fmt.Sprint(r.Pass), func() error { return c.g.Record(ctx, l, r) })
}

func (c ledgerCalls) Controls(ctx context.Context) (reconcile.Controls, error) {
	return ask(ctx, c.l, "Controls", "", func() (reconcile.Controls, error) { return c.g.Controls(ctx) })
}

func (c ledgerCalls) OpenActions(ctx context.Context, remedies ...string) ([]reconcile.Action, error) {
	return ask(ctx, c.l, "OpenActions", "", func() ([]reconcile.Action, error) { return c.g.OpenActions(ctx, remedies...) })
}

func (c ledgerCalls) Claim(ctx context.Context, l reconcile.Lease, q reconcile.Claim) (reconcile.Action, error) {
	return ask(ctx, c.l, "Claim", q.Action, func() (reconcile.Action, error) {
		a, err := c.g.Claim(ctx, l, q)
		if err == nil && a.Seq == 0 && a.Attempts == 1 {
			c.l.mu.Lock()
			defer c.l.mu.Unlock()
			c.l.begun[q.Pass]++
		}
		return a, err
	})
}

func (c ledgerCalls) RenewClaim(ctx context.Context, l reconcile.Lease, a reconcile.Action, ttl time.Duration) error {
	return c.l.do(ctx, "RenewClaim", a.ID, func() error { return c.g.RenewClaim(ctx, l, a, ttl) })
}

func (c ledgerCalls) Settle(ctx context.Context, l reconcile.Lease, a reconcile.Action) error {
	return c.l.do(ctx, "Settle", a.Subject, func() error { return c.g.Settle(ctx, l, a) })
}

func (c ledgerCalls) Confirm(ctx context.Context, l reconcile.Lease, ids []string) ([]reconcile.Action, error) {
	return ask(ctx, c.l, "Confirm", "", func() ([]reconcile.Action, error) { return c.g.Confirm(ctx, l, ids) })
}

func (c ledgerCalls) SaveProbes(ctx context.Context, l reconcile.Lease, results []reconcile.ProbeResult) error {
	return c.l.do(ctx, "SaveProbes", "", func() error { return c.g.SaveProbes(ctx, l, results) })
}

func (c ledgerCalls) ReserveProbes(ctx context.Context, l reconcile.Lease, provider string, want, perMinute int,
) (int, error) {
	return ask(ctx, c.l, "ReserveProbes", provider, func() (int, error) {
		return c.g.ReserveProbes(ctx, l, provider, want, perMinute)
	})
}

// taskCalls are a process's calls of the task database.
type taskCalls struct {
	l *life
	t *table
}

func (c taskCalls) Clock(ctx context.Context) (reconcile.TaskClock, error) {
	return ask(ctx, c.l, "Clock", "", func() (reconcile.TaskClock, error) { return c.t.Clock(ctx) })
}

func (c taskCalls) Live(ctx context.Context) (reconcile.Rows, error) {
	return ask(ctx, c.l, "Live", "", func() (reconcile.Rows, error) { return c.t.Live(ctx) })
}

func (c taskCalls) ByID(ctx context.Context, ids []string) (reconcile.Rows, error) {
	return ask(ctx, c.l, "ByID", fmt.Sprint(ids), func() (reconcile.Rows, error) { return c.t.ByID(ctx, ids) })
}

func (c taskCalls) BySandbox(ctx context.Context, keys []string) (reconcile.Rows, error) {
	return ask(ctx, c.l, "BySandbox", fmt.Sprint(keys), func() (reconcile.Rows, error) { return c.t.BySandbox(ctx, keys) })
}

func (c taskCalls) Explaining(ctx context.Context, by int, values []string) ([]string, error) {
	return ask(ctx, c.l, "Explaining", fmt.Sprint(values), func() ([]string, error) { return c.t.Explaining(ctx, by, values) })
}

func (c taskCalls) Write(ctx context.Context, w reconcile.Write) (reconcile.Written, *reconcile.RowBefore, error) {
	var before *reconcile.RowBefore
	written, err := ask(ctx, c.l, "Write", w.Task.ID, func() (written reconcile.Written, err error) {
		written, before, err = c.t.Write(ctx, w)
		return written, err
	})
	return written, before, err
}

func (c taskCalls) Restore(ctx context.Context, id string, before reconcile.RowBefore) (reconcile.Written, error) {
	return ask(ctx, c.l, "Restore", id, func() (reconcile.Written, error) { return c.t.Restore(ctx, id, before) })
}

// noticeCalls are a process's calls of the ledger about what the platform is to be told, and
// its calls of the platform.
type noticeCalls struct {
	l *life
	g reconcile.Notices
	p *platform
}

func (c noticeCalls) TakeNotices(ctx context.Context, most int) ([]reconcile.Notice, error) {
	return ask(ctx, c.l, "TakeNotices", "", func() ([]reconcile.Notice, error) { return c.g.TakeNotices(ctx, most) })
}

func (c noticeCalls) NoticeTold(ctx context.Context, action string) error {
	return c.l.do(ctx, "NoticeTold", action, func() error { return c.g.NoticeTold(ctx, action) })
}

func (c noticeCalls) NoticeFailed(ctx context.Context, action, why string) error {
	return c.l.do(ctx, "NoticeFailed", action, func() error { return c.g.NoticeFailed(ctx, action, why) })
}

func (c noticeCalls) Notify(ctx context.Context, n reconcile.Notice) error {
	return c.l.do(ctx, "Notify", n.Action, func() error { return c.p.hear(n) })
}

// providerCalls are a process's calls of the provider.
type providerCalls struct {
	l *life
	p *simulated.Provider
}

var _ reconcile.Restorer = taskCalls{}

func (c providerCalls) Capabilities() reconcile.Capabilities {
	return reconcile.Capabilities{Logs: c, Suspender: c, Templates: c}
}

func (c providerCalls) List(ctx context.Context, yield func([]reconcile.Sandbox) error) (reconcile.Listing, error) {
	return ask(ctx, c.l, "List", "", func() (reconcile.Listing, error) { return c.p.List(ctx, yield) })
}

func (c providerCalls) Get(ctx context.Context, id string) (reconcile.Sandbox, error) {
	return ask(ctx, c.l, "Get", id, func() (reconcile.Sandbox, error) { return c.p.Get(ctx, id) })
}

func (c providerCalls) Find(ctx context.Context, task string) ([]reconcile.Sandbox, error) {
	return ask(ctx, c.l, "Find", task, func() ([]reconcile.Sandbox, error) { return c.p.Find(ctx, task) })
}

func (c providerCalls) Terminate(ctx context.Context, s reconcile.Sandbox) (reconcile.Termination, error) {
	return ask(ctx, c.l, "Terminate", s.ID, func() (reconcile.Termination, error) {
		c.l.mu.Lock()
		c.l.asked = append(c.l.asked, s.ID)
		c.l.mu.Unlock()
		return c.p.Terminate(ctx, s)
	})
}

func (c providerCalls) Suspend(ctx context.Context, s reconcile.Sandbox) (reconcile.Termination, error) {
	return ask(ctx, c.l, "Suspend", s.ID, func() (reconcile.Termination, error) { return c.p.Suspend(ctx, s) })
}

func (c providerCalls) Resume(ctx context.Context, s reconcile.Sandbox) error {
	return c.l.do(ctx, "Resume", s.ID, func() error { return c.p.Resume(ctx, s) })
}

func (c providerCalls) Template(ctx context.Context, name string) (reconcile.Template, error) {
	return ask(ctx, c.l, "Template", name, func() (reconcile.Template, error) { return c.p.Template(ctx, name) })
}

func (c providerCalls) Activate(ctx context.Context, name string) error {
	return c.l.do(ctx, "Activate", name, func() error { return c.p.Activate(ctx, name) })
}

func (c providerCalls) Logs(ctx context.Context, s reconcile.Sandbox, limit int) (string, error) {
	return ask(ctx, c.l, "Logs", s.ID, func() (string, error) { return c.p.Logs(ctx, s, limit) })
}

func (c providerCalls) Probe(ctx context.Context, s reconcile.Sandbox, p reconcile.ProbePolicy) reconcile.ProbeResult {
	out, err := ask(ctx, c.l, "Probe", s.ID, func() (reconcile.ProbeResult, error) { return c.p.Probe(ctx, s, p), nil })
	if err != nil {
		return reconcile.ProbeResult{Ref: s.Ref, Outcome: reconcile.Infrastructure, Detail: err.Error()}
	}
	return out
}
