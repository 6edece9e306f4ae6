package decide

import (
	"fmt"
	"slices"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/rules"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// remedySteps are the ordered steps of a remedy: the row first, then the sandboxes, so
// that nobody is sent to a sandbox that is about to end.
func remedySteps(v *view.View, d *Decision, f *reconcile.Finding, remedy reconcile.Remedy) []reconcile.Action {
	s := d.Subject
	base := reconcile.Action{Rule: f.Rule, Subject: f.Subject, Task: f.Task, Reason: f.Reason, Evidence: f.Evidence,
		Began: f.Began}
	alone := remedy == reconcile.Terminate || remedy == reconcile.Stop ||
		remedy == reconcile.Quarantine && !reconcile.RuleNamed(f.Rule).RowFirst ||
		accusedAlone(v, s, f)
	//guard:plan-live-row P2
	if alone || s.Task == nil || s.LinkState != reconcile.LinkLive {
		only := reconcile.Ref{Provider: f.Provider, ID: f.Sandbox}
		if remedy == reconcile.Stop {
			return stopSteps(boxSteps(v, base, s, only))
		}
		return quarantineFirst(v, remedy, terminateSteps(v, base, s, only))
	}
	row := base
	row.Step = reconcile.StepFail
	//guard:plan-requeue live
	if remedy == reconcile.Requeue && mayRequeue(v, s) {
		row.Step = reconcile.StepRequeue
	}
	return append([]reconcile.Action{row}, quarantineFirst(v, remedy, terminateSteps(v, base, s, reconcile.Ref{}))...)
}

// accusedAlone reports whether the finding is of a sandbox, and what is wrong with that may not be held against
// its task: it is ended alone.
func accusedAlone(v *view.View, s *reconcile.Subject, f *reconcile.Finding) bool {
	return reconcile.RuleNamed(f.Rule).RowFirst && s.HasBox(func(b *reconcile.SeenSandbox) bool {
		if b.Provider != f.Provider || b.ID != f.Sandbox {
			return false
		}
		//guard:pending-alone harm
		if v.AwaitsTurn(s, b) {
			return true
		}
		//guard:label-alone harm
		return v.Replaced(s, b)
	})
}

// quarantineFirst puts a quarantine before each terminate, which then waits for as long as the
// provider entry says. All quarantines come first: they need not wait for each other's end.
func quarantineFirst(v *view.View, remedy reconcile.Remedy, ends []reconcile.Action) []reconcile.Action {
	if remedy != reconcile.Quarantine {
		return ends
	}
	steps := make([]reconcile.Action, 0, 2*len(ends))
	for _, a := range ends {
		a.Step = reconcile.StepQuarantine
		steps = append(steps, a)
	}
	for _, a := range ends {
		keep := v.P.Providers[a.Provider].QuarantineFor
		a.NextAttempt = v.Now.Add(keep)
		a.Evidence = append(slices.Clip(a.Evidence), reconcile.AfterQuarantine(v.Now, keep))
		steps = append(steps, a)
	}
	return steps
}

// stopSteps only stop what the others would end: no end waits behind them.
func stopSteps(ends []reconcile.Action) []reconcile.Action {
	for i := range ends {
		ends[i].Step = reconcile.StepQuarantine
	}
	return ends
}

// cannotQuarantine holds a quarantine where the provider has no way to stop or pause: it is
// never replaced by a harsher remedy.
func cannotQuarantine(v *view.View, s *reconcile.Subject) reconcile.HeldBy {
	var holds reconcile.HeldBy
	for _, name := range providersOf(v, s) {
		if !v.P.Providers[name].Suspends {
			holds = append(holds, reconcile.Held{Kind: reconcile.HeldQuarantine, Reason: name + " cannot stop or pause"})
		}
	}
	return holds
}

// wouldDelete holds a quarantine of what its provider deletes when it stops: of the sandbox that is found, or of all
// that would be stopped. Its stop would be refused for ever, which is no repair under way.
func wouldDelete(s *reconcile.Subject, of *reconcile.SeenSandbox) reconcile.HeldBy {
	var holds reconcile.HeldBy
	for i := range s.Boxes {
		b := &s.Boxes[i]
		//guard:quarantine-keeps live
		if b.Here && b.NotStoppable != "" && !b.State.AtRest() && (of == nil || of.Ref == b.Ref) {
			holds = append(holds, reconcile.Held{Kind: reconcile.HeldQuarantine,
				Reason: fmt.Sprintf("%s cannot stop and keep sandbox %s, for %s; set the rule's remedy to terminate or report",
					b.Provider, text.Clip(b.ID, 60), text.Clip(b.NotStoppable, 200))})
		}
	}
	return holds
}

// terminateSteps end one sandbox of the subject, or all of them, also those that the ledger knows and
// this pass did not see. Those that are on their way out, in an unknown state, at rest, or not proven
// ours are left.
func terminateSteps(v *view.View, base reconcile.Action, s *reconcile.Subject, only reconcile.Ref) []reconcile.Action {
	if keptForTask(v, s) {
		return nil
	}
	return boxSteps(v, base, s, only)
}

// boxSteps are terminateSteps of what the config does not keep.
func boxSteps(v *view.View, base reconcile.Action, s *reconcile.Subject, only reconcile.Ref) []reconcile.Action {
	var steps []reconcile.Action
	for i := range s.Boxes {
		b := &s.Boxes[i]
		//guard:plan-owned P1
		ours := b.Here && b.Owned
		//guard:plan-ending once
		if only != (reconcile.Ref{}) && b.Ref != only || b.State == reconcile.SandboxEnded || v.Ending[b.Ref] ||
			!ours && (only != (reconcile.Ref{}) || !owed(v, b)) {
			continue
		}
		//guard:plan-unknown-state harm
		if b.Here && only == (reconcile.Ref{}) && (b.State == reconcile.SandboxUnknown ||
			b.State == reconcile.SandboxDeleting || b.NotTerminable != "") {
			continue
		}
		//guard:plan-at-rest harm
		if only == (reconcile.Ref{}) && v.P.IsLeft(b.Sandbox) {
			continue
		}
		a := base
		a.Step, a.Provider, a.Sandbox = reconcile.StepTerminate, b.Provider, b.ID
		steps = append(steps, a)
	}
	return steps
}

// owed reports whether the ledger knows the sandbox as the task's own and this pass could not see it:
// whoever fails the task owes its end, which the step looks for when its time comes.
// An entry that has left the config can be asked for nothing.
func owed(v *view.View, b *reconcile.SeenSandbox) bool {
	_, ours := v.P.Providers[b.Provider]
	//guard:plan-owed live
	return ours && b.Known && !b.Here && !b.Gone && b.Seen().GoneAt.IsZero()
}

// mayRequeue: only while attempts are left and nothing explains the failure that would
// make the next attempt fail as well.
func mayRequeue(v *view.View, s *reconcile.Subject) bool { return NoRequeue(v, s) == "" }

// NoRequeue says why a task is failed and not set back to pending; "" when it may be.
func NoRequeue(v *view.View, s *reconcile.Subject) string {
	if !s.Task.Retries || s.Task.Attempts >= s.Task.MaxAttempts {
		return "no attempts are left"
	}
	if n, loops := rules.AttemptsEnded(v, s); loops {
		return fmt.Sprintf("it loops: %d attempts ended without success recently", n)
	}
	cause, _ := v.Cause(s)
	return cause
}

// rowOnly reports whether the remedy only writes a row while everything is trusted and
// nothing runs for the task: it destroys nothing.
func rowOnly(v *view.View, d *Decision, steps []reconcile.Action) bool {
	if len(steps) != 1 || steps[0].Step == reconcile.StepTerminate {
		return false
	}
	tenant := v.TenantOf(d.Subject)
	//guard:row-only-trusted P7
	if len(v.Frozen(reconcile.SourceTasks, tenant)) > 0 || len(v.Frozen(reconcile.SourceLink, tenant)) > 0 {
		return false
	}
	for _, provider := range providersOf(v, d.Subject) {
		//guard:row-only-listed P7
		if !v.Trusted(reconcile.ListingOf(provider)) {
			return false
		}
	}
	//guard:row-only-nothing-runs P7
	return !d.Subject.HasBox(func(b *reconcile.SeenSandbox) bool {
		return !b.Gone &&
			(!b.Here || b.State != reconcile.SandboxEnded)
	})
}
