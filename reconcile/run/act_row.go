package run

import (
	"context"
	"slices"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// carryRow fails or requeues a task: it reads, judges again, and writes with a guard. A
// row that is only busy is tried again, the last time under its lock, so that a busy row
// cannot outrun its verdict.
func (r *run) carryRow(ctx context.Context, a reconcile.Action) reconcile.Action {
	const tries = 3
	for try := range tries {
		o, err := r.again(ctx, &a)
		if err != nil {
			return r.later(a, err.Error())
		}
		//guard:row-own-mark lost
		if o.subject != nil && o.subject.Task != nil && reconcile.MarkedBy(o.subject.Task.Error, a.ID) {
			a.Outcome, a.Detail = reconcile.OutcomeDone, "written by an earlier attempt"
			a.ClosedAt = r.now
			return a
		}
		if o.finding == nil {
			return r.withdraw(a, "looked again: "+o.kept)
		}
		//guard:row-final-probe harm
		if out, stop := r.probesAgain(ctx, a, o); stop {
			return out
		}
		//guard:row-held P8
		if waits := r.stillHeld(ctx, o, &a); waits != "" {
			return r.later(a, waits)
		}
		out, settled := r.write(ctx, a, o, try == tries-1)
		if settled {
			return out
		}
	}
	return r.later(a, "the row changed at each try")
}

// stillHeld looks at the holds once more, with what the second look knows and with the
// wishes of this very moment: looking takes its time, and a pause counts at once.
func (r *run) stillHeld(ctx context.Context, o *second, a *reconcile.Action) string {
	controls, why := r.controlsNow(ctx, a)
	if why != "" {
		return why
	}
	o.controls = controls
	holds := slices.Clone(o.finding.HeldBy).With(reconcile.StepHolds(&controls, a, r.target(a))...)
	for i := range o.subject.Boxes {
		b := &o.subject.Boxes[i]
		holds = holds.With(reconcile.StepHolds(&controls, a,
			reconcile.ControlTarget{Rule: a.Rule, Subject: a.Subject, Provider: b.Provider,
				Sandbox: b.ID, Task: a.Task, Names: []string{b.Name, b.AlsoKey}, Labels: b.Labels})...)
	}
	return holds.String()
}

// controlsNow are the wishes in force right before a deed, or why it may not be done.
func (r *run) controlsNow(ctx context.Context, a *reconcile.Action) (c reconcile.Controls, why string) {
	c, err := r.k.Ledger.Controls(ctx)
	if err != nil {
		return c, "read the controls once more: " + text.Clip(err.Error(), 200)
	}
	//guard:deed-late once
	return c, r.expired(a)
}

// write makes one guarded write. settled is false when the row was only busy.
func (r *run) write(ctx context.Context, a reconcile.Action, o *second, lock bool) (out reconcile.Action,
	settled bool) {
	task := o.subject.Task
	//guard:row-requeue-again once
	if why := r.noRequeueNow(&a, o); why != "" {
		return r.withdraw(a, why+": it will be failed instead"), true
	}
	a.Reason, a.Evidence = o.finding.Reason, o.finding.Evidence
	by := reconcile.RuleNamed(a.Rule).RefutedBy
	known := task.LifeSign()
	//guard:row-active harm
	if by == reconcile.ByActivity {
		known = task.Activity()
	}
	written, before, err := r.k.Tasks.Write(ctx, reconcile.Write{
		Step: a.Step, Task: *task, Reason: a.Reason + " " + reconcile.Mark(a.ID),
		//guard:row-refutable P14
		LifeSign: known, Refutable: by != reconcile.Irrefutable, Active: by == reconcile.ByActivity, Lock: lock,
	})
	switch {
	case err != nil:
		return r.later(a, err.Error()), true
	//guard:row-busy lost
	case written == reconcile.WriteBusy:
		return a, false
	//guard:row-alive lost
	case written == reconcile.WriteAlive:
		return r.withdraw(a, "a newer life sign arrived"), true
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

// noRequeueNow says why a requeue must not be done after all: by what the second look saw,
// or because an incident explains the failure by now.
func (r *run) noRequeueNow(a *reconcile.Action, o *second) string {
	if a.Step != reconcile.StepRequeue {
		return ""
	}
	if id := o.controls.Incident(a.Signature); id != "" {
		return "incident " + id + " explains it"
	}
	return o.view.NoRequeue(o.subject)
}

// probesAgain probes once more where the verdict rests on probes.
func (r *run) probesAgain(ctx context.Context, a reconcile.Action, o *second) (out reconcile.Action, stop bool) {
	rule := reconcile.RuleNamed(a.Rule)
	if rule.Needs == reconcile.NeedExecutions {
		return r.queueAgain(ctx, a, o)
	}
	if rule.Needs != reconcile.NeedProbes {
		return a, false
	}
	for i := range o.subject.Boxes {
		b := &o.subject.Boxes[i]
		// One that is one too many says nothing of the task, and would refute the verdict for ever.
		if !b.Here || b.State != reconcile.SandboxRunning || o.view.Replaced(o.subject, b) ||
			!rule.Silence && b.ID != o.finding.Sandbox {
			continue
		}
		if out, stop := r.finalProbe(ctx, a, b.Sandbox); stop {
			return out, true
		}
	}
	return a, false
}

// finalProbe probes a sandbox right before its verdict is carried out. One that answers
// refutes it, unless the verdict is on the worker, and that is dead; one that cannot be probed
// proves nothing, and the action waits.
func (r *run) finalProbe(ctx context.Context, a reconcile.Action, sb reconcile.Sandbox) (out reconcile.Action,
	stop bool) {
	result := r.probeOne(ctx, sb)
	if err := r.k.Ledger.SaveProbes(ctx, r.lease, []reconcile.ProbeResult{result}); err != nil {
		return r.later(a, err.Error()), true
	}
	switch {
	//guard:probe-worker-dead live
	case result.Outcome == reconcile.Answered && result.Worker == reconcile.WorkerDead &&
		reconcile.RuleNamed(a.Rule).Silence && r.view.WorkersSeen(sb.Provider):
		return a, false
	//guard:probe-answered live
	case result.Outcome == reconcile.Answered:
		return r.withdraw(a, "the final probe was answered"), true
	//guard:probe-proves-nothing P3
	case !result.Outcome.Failed():
		return r.later(a, "the final probe proved nothing: "+result.Detail), true
	}
	return a, false
}
