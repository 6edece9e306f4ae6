package run

import (
	"context"
	"sync"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/decide"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// carryEnd ends a sandbox, or stops it, by its immutable id.
func (r *executor) carryEnd(ctx context.Context, a reconcile.Action) reconcile.Action {
	if _, ok := r.k.Providers[a.Provider]; !ok {
		return r.later(a, "provider "+a.Provider+" is not configured any more")
	}
	f := r.gatherEnd(ctx, &a)
	ruling := r.rule(&a, f)
	if !ruling.Goes() {
		return r.instead(a, ruling)
	}
	before := a.ActedAt
	a.Detail, a.ActedAt = f.saved, f.acted
	said, err := r.k.effects().end(ctx, ruling, &a, f.target())
	if err != nil {
		return r.terminateFailed(a, said, err)
	}
	switch said {
	case reconcile.TerminateGone:
		a.ActedAt = before // it had gone without us, unless it was asked for earlier
		if !before.IsZero() {
			a.How = reconcile.HowUnheard
		}
		return r.confirmer().confirmOne(ctx, a)
	case reconcile.TerminateDone:
		return r.confirmer().confirmOne(ctx, a)
	case reconcile.TerminateChanged:
		//guard:end-changed lost
		return r.withdraw(a, "the provider shows another sandbox under this id, or another task claimed it meanwhile")
	case reconcile.TerminateRefused:
		return r.refused(a, "no reason given")
	}
	a.Outcome = reconcile.OutcomeAccepted
	return a
}

// probeBefore makes the final probe of a sandbox whose end rests on probes, and reports whether more
// has to be known.
func (r *prober) probeBefore(ctx context.Context, a *reconcile.Action, f *gathered) bool {
	rule, sb := reconcile.RuleNamed(a.Rule), f.Lookup.Sandbox
	switch {
	case a.Seq > 0 || sb.State != reconcile.SandboxRunning:
		return true
	case !decide.Proven(r.view, &sb):
		return true // the action's own ruling says so
	case rule.Needs == reconcile.NeedExecutions:
		return r.finalQueue(ctx, f, sb)
	case rule.Needs == reconcile.NeedProbes && !rule.Silence:
		return r.finalProbe(ctx, a, f, sb)
	}
	return true
}

// terminateFailed: of what did not end well nothing is known, so the next attempt looks
// before it asks again.
func (r *executor) terminateFailed(a reconcile.Action, said reconcile.Termination, err error) reconcile.Action {
	if said == reconcile.TerminateRefused {
		return r.refused(a, text.Clip(err.Error(), 400))
	}
	return r.later(a, err.Error())
}

// refused leaves an action open that the provider will not carry out, shown as failed. A
// closed one would be planned again by each pass and use up the budget of all others; an open
// one costs nothing more, and is tried again after pauses that double up to an hour.
func (r *executor) refused(a reconcile.Action, words string) reconcile.Action {
	wait := min(time.Minute<<min(max(a.Attempts-1, 0), 6), time.Hour)
	a.Outcome, a.How, a.NextAttempt = reconcile.OutcomePending, reconcile.HowRefused, r.now.Add(wait)
	a.Detail = "refused by the provider: " + words + "; tried again from " + text.Time(a.NextAttempt)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refusals[a.ID] = true
	return a
}

// leavesToFull reports whether the ground of the action can only be judged by a full pass, and
// this is none.
func (r *gatherer) leavesToFull(a *reconcile.Action) bool {
	return a.Seq == 0 && r.result.Kind != reconcile.Full && reconcile.RuleNamed(a.Rule).FullOnly
}

// logsOfCleanUps is of how many sandboxes a pass saves the log that are only left over: hundreds of them say no more
// than some, and each log costs two calls, its own and another look. What failed keeps its log in any case.
const logsOfCleanUps = 10

// cleanUpLogs counts the logs that were read of what is only left over, by the pass that found it: what one pass found
// is worked at while later ones are made.
type cleanUpLogs struct {
	mu sync.Mutex
	of map[int64]int
}

// may reports whether one more is read of what a pass found, and counts it.
func (l *cleanUpLogs) may(pass int64) bool {
	const passes = 100 // more than have work left at once
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of == nil || len(l.of) >= passes && l.of[pass] == 0 {
		l.of = map[int64]int{}
	}
	l.of[pass]++
	return l.of[pass] <= logsOfCleanUps
}

// saveEvidence keeps the end of the sandbox's log, which is gone with it.
func (r *gatherer) saveEvidence(ctx context.Context, a *reconcile.Action, f *gathered) string {
	sb := f.Lookup.Sandbox
	source := reconcile.CapabilitiesOf(r.k.Providers[sb.Provider]).Logs
	if source == nil || sb.State != reconcile.SandboxRunning && sb.State != reconcile.SandboxFailed {
		return ""
	}
	//guard:evidence-own P1
	if !decide.Proven(r.view, &sb) {
		return ""
	}
	//guard:evidence-anothers P1
	if !sb.Owned && sb.Task != "" && sb.Task != a.Task {
		return "" // a listing showed it as the task's; the look says that it is another's
	}
	if reconcile.RuleNamed(a.Rule).Family == reconcile.CleanUp && !r.result.logs.may(a.Pass) {
		return ""
	}
	f.mixed = true
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	said, err := source.Logs(ctx, sb, 2000)
	if err != nil || said == "" {
		return ""
	}
	return reconcile.SavedLog(said)
}

// ledgerNow is the ledger's clock, or the pass's when it does not answer.
func (r *prober) ledgerNow(ctx context.Context) time.Time {
	now, err := r.clock.Now(context.WithoutCancel(ctx))
	if err != nil {
		return r.now
	}
	return now
}
