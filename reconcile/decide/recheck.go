package decide

import (
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/rules"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// A Recheck is a second look at one subject, right before an action, and what judging it again
// says.
type Recheck struct {
	View    *view.View           // of what was looked at again
	Subject *reconcile.Subject   // nil when it is no more
	Finding *reconcile.Finding   // nil when the verdict no longer holds
	Kept    string               // why it does not
	Others  []*reconcile.Finding // of other rules that are due now and have a remedy
}

// Judge judges the subject again by the rule of the action.
func (o *Recheck) Judge(a *reconcile.Action) {
	d := Decide(o.View, o.Subject)
	o.Kept = reconcile.FirstOf(d.Kept, "it is healthy now")
	for i := range d.Findings {
		if f := &d.Findings[i]; f.Rule != a.Rule && f.Due && d.Remedies[i] != reconcile.Report {
			o.Others = append(o.Others, f)
		}
	}
	for i := range d.Findings {
		f := &d.Findings[i]
		if f.Rule != a.Rule {
			continue
		}
		//guard:again-due P6
		if !f.Due {
			o.Kept = "not due any more"
			continue
		}
		//guard:again-unproven live
		if rules.FindingSilent(f) {
			o.Kept = f.HeldBy.String()
			continue
		}
		//guard:again-report P9
		if d.Remedies[i] == reconcile.Report {
			o.Kept = "the rule only reports it now"
			continue
		}
		//guard:again-alone harm
		if a.Step.OnRow() && accusedAlone(o.View, o.Subject, f) {
			o.Kept = "its task has another sandbox by now"
			continue
		}
		//guard:again-live live
		if a.Subject != o.Subject.ID && o.liveByNow() {
			o.Kept = "its task is live by now: the next pass judges both together"
			continue
		}
		//guard:again-row-first harm
		if !a.Step.OnRow() && a.Seq == 0 && o.rowFirst(f, d.Remedies[i]) {
			o.Kept = "its task has been handed out by now: its row goes first"
			continue
		}
		o.Finding = f
		return
	}
}

// liveByNow reports whether the row of a sandbox that no live task explained is live, as where an emptied table was
// restored: read by its key alone, it would be taken for one outside `where` for as long as the action is open.
func (o *Recheck) liveByNow() bool {
	s := o.Subject
	return s.LinkState == reconcile.LinkExplained && s.Task != nil && !s.Task.Outside && s.Task.State.Live()
}

// rowFirst reports whether the remedy of the finding begins with the task's row: that a sandbox was to end alone, as
// where a task waits for its turn, does not hold any more.
func (o *Recheck) rowFirst(f *reconcile.Finding, remedy reconcile.Remedy) bool {
	s := o.Subject
	onRow := remedy == reconcile.Fail || remedy == reconcile.Requeue ||
		remedy == reconcile.Quarantine && reconcile.RuleNamed(f.Rule).RowFirst
	return onRow && s.Task != nil && s.LinkState == reconcile.LinkLive && !accusedAlone(o.View, s, f)
}

// ProbeSays is what a final probe says of the action's verdict. One that answers refutes it, unless
// the verdict is on the worker, and that is dead; one that cannot be probed proves nothing.
func ProbeSays(v *view.View, a *reconcile.Action, result reconcile.ProbeResult) (ProbeFact, string) {
	switch {
	//guard:probe-worker-dead live
	case result.Outcome == reconcile.Answered && result.Worker == reconcile.WorkerDead &&
		reconcile.RuleNamed(a.Rule).Silence && v.WorkersSeen(result.Provider):
		return ProbeAgrees, ""
	//guard:probe-answered live
	case result.Outcome == reconcile.Answered:
		return ProbeRefutes, "the final probe was answered"
	//guard:probe-proves-nothing P3
	case !result.Outcome.Failed():
		return ProbeUnsure, "the final probe proved nothing: " + result.Detail
	}
	return ProbeAgrees, ""
}

// WorkerSays is what a final probe says of a verdict on a worker that may have started: one that is there refutes
// it. Where the verdict rests on that it is gone, nothing but that agrees.
func (o *Recheck) WorkerSays(result reconcile.ProbeResult) (ProbeFact, string) {
	answered := result.Outcome == reconcile.Answered
	_, rests := o.View.WorkerGone(o.Subject)
	switch {
	//guard:probe-worker-there harm
	case answered && result.Worker == reconcile.WorkerAlive:
		return ProbeRefutes, "its worker was there when it was probed right before"
	//guard:probe-worker-unsure harm
	case rests && !(answered && result.Worker == reconcile.WorkerDead):
		return ProbeUnsure, "the final probe does not say that its worker is gone: " + result.Detail
	}
	return ProbeAgrees, ""
}

// QueueSays is the same of the executions of a sandbox that were to be stuck: those that move refute
// it.
func QueueSays(queue reconcile.QueueState) (ProbeFact, string) {
	switch queue {
	case reconcile.QueueUnknown:
		return ProbeUnsure, "its executions could not be measured right before"
	case reconcile.QueueMoving:
		return ProbeRefutes, "looked again: its executions are not stuck any more"
	}
	return ProbeAgrees, ""
}
