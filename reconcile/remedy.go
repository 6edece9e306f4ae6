package reconcile

import (
	"fmt"
	"slices"

	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// remedySteps are the ordered steps of a remedy: the row first, then the sandboxes, so
// that nobody is sent to a sandbox that is about to end.
func (v *view) remedySteps(d *Decision, f *Finding, remedy Remedy) []Action {
	s := d.Subject
	base := Action{Rule: f.Rule, Subject: f.Subject, Task: f.Task, Reason: f.Reason, Evidence: f.Evidence, Began: f.Began}
	alone := remedy == Terminate || remedy == Quarantine && !RuleNamed(f.Rule).RowFirst
	//guard:plan-live-row P2
	if alone || s.Task == nil || s.Fate != FateLive {
		return v.gently(remedy, v.terminateSteps(base, s, Ref{f.Provider, f.Sandbox}))
	}
	row := base
	row.Step = StepFail
	//guard:plan-requeue live
	if remedy == Requeue && v.mayRequeue(s) {
		row.Step = StepRequeue
	}
	return append([]Action{row}, v.gently(remedy, v.terminateSteps(base, s, Ref{}))...)
}

// quarantined is the source of the evidence by which a terminate is known to follow a
// quarantine: it stays with the action, whatever becomes of the config meanwhile.
const quarantined = "quarantine"

// gently puts a quarantine before each terminate, which then waits for as long as the
// provider entry says. All quarantines come first: they need not wait for each other's end.
func (v *view) gently(remedy Remedy, ends []Action) []Action {
	if remedy != Quarantine {
		return ends
	}
	steps := make([]Action, 0, 2*len(ends))
	for _, a := range ends {
		a.Step = StepQuarantine
		steps = append(steps, a)
	}
	for _, a := range ends {
		keep := v.p.Providers[a.Provider].QuarantineFor
		a.NextAttempt = v.now.Add(keep)
		a.Evidence = append(slices.Clip(a.Evidence), Evidence{
			Source: quarantined, At: v.now, Fact: "stopped or paused first, and kept for " + text.Duration(keep)})
		steps = append(steps, a)
	}
	return steps
}

// inQuarantine reports whether the action is a terminate that follows a quarantine.
func (a *Action) inQuarantine() bool {
	return a.Step == StepTerminate && a.Seq > 0 &&
		slices.ContainsFunc(a.Evidence, func(e Evidence) bool { return e.Source == quarantined })
}

// cannotQuarantine holds a quarantine where the provider has no way to stop or pause: it is
// never replaced by a harsher remedy.
func (v *view) cannotQuarantine(s *Subject) []string {
	var holds []string
	for _, name := range v.providersOf(s) {
		if !v.p.Providers[name].Suspends {
			holds = append(holds, "quarantine: "+name+" cannot stop or pause")
		}
	}
	return holds
}

// terminateSteps end one sandbox of the subject, or all of them, also those that the ledger knows and
// this pass did not see. Those that are on their way out, in an unknown state, at rest, or not proven
// ours are left.
func (v *view) terminateSteps(base Action, s *Subject, only Ref) []Action {
	var steps []Action
	for i := range s.Boxes {
		b := &s.Boxes[i]
		//guard:plan-owned P1
		ours := b.Here && b.Owned
		//guard:plan-ending once
		if only != (Ref{}) && b.Ref != only || b.State == SandboxEnded || v.ending[b.Ref] ||
			!ours && (only != (Ref{}) || !v.owed(b)) {
			continue
		}
		//guard:plan-unknown-state harm
		if b.Here && only == (Ref{}) && (b.State == SandboxUnknown || b.State == SandboxDeleting || b.NoEnd != "") {
			continue
		}
		//guard:plan-at-rest harm
		if only == (Ref{}) && v.isLeft(b) {
			continue
		}
		a := base
		a.Step, a.Provider, a.Sandbox = StepTerminate, b.Provider, b.ID
		steps = append(steps, a)
	}
	return steps
}

// owed reports whether the ledger knows the sandbox as the task's own and this pass could not see it:
// whoever fails the task owes its end, which the step looks for when its time comes.
// An entry that has left the config can be asked for nothing.
func (v *view) owed(b *Box) bool {
	_, ours := v.p.Providers[b.Provider]
	//guard:plan-owed live
	return ours && b.Known && !b.Here && !b.Gone && b.Seen.GoneAt.IsZero()
}

// mayRequeue: only while attempts are left and nothing explains the failure that would
// make the next attempt fail as well.
func (v *view) mayRequeue(s *Subject) bool { return v.noRequeue(s) == "" }

// noRequeue says why a task is failed and not set back to pending; "" when it may be.
func (v *view) noRequeue(s *Subject) string {
	if !s.Task.Retries || s.Task.Attempts >= s.Task.MaxAttempts {
		return "no attempts are left"
	}
	if n, loops := v.looping(s); loops {
		return fmt.Sprintf("it loops: %d attempts ended without success lately", n)
	}
	cause, _ := v.cause(s)
	return cause
}

// rowOnly reports whether the remedy only writes a row while everything is trusted and
// nothing runs for the task: it destroys nothing.
func (v *view) rowOnly(d *Decision, steps []Action) bool {
	if len(steps) != 1 || steps[0].Step == StepTerminate {
		return false
	}
	//guard:row-only-trusted P7
	if !v.trusted(sourceTasks) || !v.trusted(sourceLink) {
		return false
	}
	for _, provider := range v.providersOf(d.Subject) {
		//guard:row-only-listed P7
		if !v.trusted(listingOf(provider)) {
			return false
		}
	}
	//guard:row-only-nothing-runs P7
	return !d.Subject.hasBox(func(b *Box) bool { return !b.Gone && (!b.Here || b.State != SandboxEnded) })
}
