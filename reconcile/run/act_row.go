package run

import (
	"cmp"
	"context"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/decide"
)

// carryRow fails or requeues a task: it reads, judges again, and writes with a guard. A
// row that is only busy is tried again, the last time under its lock, so that a busy row
// cannot outrun its verdict.
func (r *executor) carryRow(ctx context.Context, a reconcile.Action) reconcile.Action {
	const tries = 3
	for try := range tries {
		f := r.gatherRow(ctx, &a)
		ruling := r.rule(&a, f)
		if !ruling.Goes() {
			return r.instead(a, ruling)
		}
		out, settled := r.write(ctx, a, f, ruling, try == tries-1)
		if settled {
			return out
		}
	}
	return r.later(a, "the row changed at each try")
}

// gatherRow gathers what the write of a task's row rests on.
func (r *gatherer) gatherRow(ctx context.Context, a *reconcile.Action) *gathered {
	f := r.factsOf(a)
	if !r.gatherRecheck(ctx, a, f) || decide.Over(r.view, a, &f.Facts) || !r.recheckProbes(ctx, a, f) {
		return f
	}
	r.readWishes(ctx, a, f)
	return f
}

// write makes one guarded write. settled is false when the row was only busy.
func (r *executor) write(ctx context.Context, a reconcile.Action, f *gathered, ruling decide.Ruling, lock bool,
) (out reconcile.Action, settled bool) {
	task := f.Recheck.Subject.Task
	a.Reason, a.Evidence = f.Recheck.Finding.Reason, f.Recheck.Finding.Evidence
	by := reconcile.RuleNamed(a.Rule).RefutedBy
	known := task.LastSeen()
	//guard:row-active harm
	if by == reconcile.ByActivity {
		known = task.Activity()
	}
	written, before, err := r.k.effects().write(ctx, ruling, &a, reconcile.Write{
		Step: a.Step, Task: *task, Reason: rowReason(&a, task),
		//guard:row-refutable P14
		LastSeen: known, Refutable: by != reconcile.Irrefutable, Active: by == reconcile.ByActivity, Lock: lock,
	})
	switch {
	case err != nil:
		return r.later(a, err.Error()), true
	case written == reconcile.WriteAsked:
		a.AskedAt = r.now
		return r.later(a, "the platform took the call, and its row does not show it yet"), true
	//guard:row-busy lost
	case written == reconcile.WriteBusy:
		return a, false
	//guard:row-alive lost
	case written == reconcile.WriteAlive:
		return r.withdraw(a, "a newer sign of life arrived"), true
	//guard:row-moved lost
	case written == reconcile.WriteMoved:
		if lock {
			return r.withdraw(a, "the row moved on"), true
		}
		return a, false
	}
	a.Outcome, a.Detail, a.ActedAt, a.ClosedAt, a.Before = reconcile.OutcomeDone, "", r.now, r.now, before
	return a, true
}

// recheckProbes probes once more where the verdict rests on probes, and reports whether more has to
// be known.
func (r *prober) recheckProbes(ctx context.Context, a *reconcile.Action, f *gathered) bool {
	rule := reconcile.RuleNamed(a.Rule)
	o := f.Recheck
	//guard:row-final-probe harm
	if rule.Needs != reconcile.NeedProbes && rule.Needs != reconcile.NeedExecutions && !rule.Worker {
		return true
	}
	for i := range o.Subject.Boxes {
		b := &o.Subject.Boxes[i]
		found := b.ID == o.Finding.Sandbox && b.Provider == o.Finding.Provider
		if rule.Needs == reconcile.NeedExecutions {
			if found && !r.finalQueue(ctx, f, *b.Sandbox) {
				return false
			}
			continue
		}
		// One that is one too many says nothing of the task, and would refute the verdict for ever.
		if !b.Here || b.State != reconcile.SandboxRunning || o.View.Replaced(o.Subject, b) ||
			!rule.Silence && b.ID != o.Finding.Sandbox || rule.Worker && !r.asksWorker(b) {
			continue
		}
		if !r.finalProbe(ctx, a, f, *b.Sandbox) {
			return false
		}
	}
	return true
}

// asksWorker reports whether a probe of the sandbox may be made, and tells of its worker.
func (r *prober) asksWorker(b *reconcile.SeenSandbox) bool {
	p := r.policy.Providers[b.Provider].Probe
	return !p.Off && p.Worker != "" && b.Ours()
}

// finalProbe probes a sandbox right before its verdict is carried out, and reports whether more has
// to be known.
func (r *prober) finalProbe(ctx context.Context, a *reconcile.Action, f *gathered, sb reconcile.Sandbox) bool {
	ruling := decide.MayAct(r.view, decide.ProbeOf(sb.Ref),
		&decide.Facts{Read: cmp.Or(f.asked, time.Now()), Lookup: reconcile.Lookup{Sandbox: sb}})
	if !ruling.Goes() {
		f.Probe, f.ProbeSaid = decide.ProbeUnsure, "no final probe: "+ruling.Why
		return false
	}
	result := r.probeOne(ctx, ruling, sb)
	f.mixed = true
	if err := r.probes.SaveProbes(ctx, r.lease, []reconcile.ProbeResult{result}); err != nil {
		f.Unread = err.Error()
		return false
	}
	if reconcile.RuleNamed(a.Rule).Worker {
		f.Probe, f.ProbeSaid = f.Recheck.WorkerSays(result)
	} else {
		f.Probe, f.ProbeSaid = decide.ProbeSays(r.view, a, result)
	}
	return f.Probe == decide.ProbeAgrees
}
