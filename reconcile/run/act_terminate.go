package run

import (
	"context"
	"errors"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// carryEnd ends a sandbox, or stops it, by its immutable id. What takes time comes first: the
// final probe, and saving the end of its log. Then the sandbox is got once more, then the
// rows that could explain it are read, and then, with nothing in between, it is ended.
func (r *run) carryEnd(ctx context.Context, a reconcile.Action) reconcile.Action {
	provider, ok := r.k.Providers[a.Provider]
	if !ok {
		return r.later(a, "provider "+a.Provider+" is not configured any more")
	}
	first := r.k.lookAt(ctx, reconcile.Ref{Provider: a.Provider, ID: a.Sandbox})
	if out, settled := r.underway(a, first); settled {
		return out
	}
	if first.Error != "" {
		return r.later(a, "look at the sandbox: "+first.Error)
	}
	//guard:end-final-probe harm
	if out, stop := r.probeBefore(ctx, a, first.Sandbox); stop {
		return out
	}
	saved := r.saveEvidence(ctx, provider, first.Sandbox)
	sb, out, settled := r.ground(ctx, a)
	if settled {
		return out
	}
	a.Detail = saved
	a.ActedAt = r.ledgerNow(ctx)
	//guard:end-late once
	if why := r.expired(&a); why != "" {
		return r.later(a, why)
	}
	return r.ended(ctx, a, sb)
}

// ended asks the provider to end or to stop the sandbox and says what became of it.
func (r *run) ended(ctx context.Context, a reconcile.Action, sb reconcile.Sandbox) reconcile.Action {
	said, err := r.end(ctx, &a, sb)
	if err != nil {
		return r.terminateFailed(a, said, err)
	}
	switch said {
	case reconcile.TerminateDone, reconcile.TerminateGone:
		return r.confirmOne(ctx, a)
	case reconcile.TerminateChanged:
		//guard:end-changed lost
		return r.withdraw(a, "the provider shows another sandbox under this id, or another task claimed it meanwhile")
	case reconcile.TerminateRefused:
		return r.refused(a, "no reason given")
	}
	a.Outcome = reconcile.OutcomeAccepted
	return a
}

// end makes the one call that the step stands for.
func (r *run) end(ctx context.Context, a *reconcile.Action, sb reconcile.Sandbox) (reconcile.Termination, error) {
	provider := r.k.Providers[a.Provider]
	if a.Step != reconcile.StepQuarantine {
		return provider.Terminate(ctx, sb)
	}
	suspender, ok := provider.(reconcile.Suspender)
	if !ok {
		return "", errors.New("quarantine: " + a.Provider + " cannot stop or pause")
	}
	return suspender.Suspend(ctx, sb)
}

// probeBefore is the final probe of a sandbox whose end rests on probes.
func (r *run) probeBefore(ctx context.Context, a reconcile.Action, sb reconcile.Sandbox) (reconcile.Action, bool) {
	rule := reconcile.RuleNamed(a.Rule)
	switch {
	case a.Seq > 0 || sb.State != reconcile.SandboxRunning:
		return a, false
	//guard:probe-own P1
	case !r.proven(&sb):
		return a, false // the ground says so
	case rule.Needs == reconcile.NeedExecutions:
		return r.finalQueue(ctx, a, sb)
	case rule.Needs == reconcile.NeedProbes && !rule.Silence:
		return r.finalProbe(ctx, a, sb)
	}
	return a, false
}

// terminateFailed: of what did not end well nothing is known, so the next attempt looks
// before it asks again.
func (r *run) terminateFailed(a reconcile.Action, said reconcile.Termination, err error) reconcile.Action {
	if said == reconcile.TerminateRefused {
		return r.refused(a, text.Clip(err.Error(), 400))
	}
	return r.later(a, err.Error())
}

// refused leaves an action open that the provider will not carry out, shown as failed. A
// closed one would be planned anew by each pass and use up the budget of all others; an open
// one costs nothing more, and is tried again after pauses that double up to an hour.
func (r *run) refused(a reconcile.Action, words string) reconcile.Action {
	wait := min(time.Minute<<min(max(a.Attempts-1, 0), 6), time.Hour)
	a.Outcome, a.NextAttempt = reconcile.OutcomePending, r.now.Add(wait)
	a.Detail = reconcile.RefusedDetail(words, a.NextAttempt)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refusals[a.ID] = true
	return a
}

// ground settles whether the sandbox may be ended now, and as what.
func (r *run) ground(ctx context.Context, a reconcile.Action) (reconcile.Sandbox, reconcile.Action, bool) {
	switch {
	case a.Asked():
		return r.groundAsked(ctx, a)
	case a.Seq > 0:
		return r.groundLater(ctx, a)
	case r.leavesToFull(&a):
		return reconcile.Sandbox{}, r.later(a, "only a full pass judges by this rule"), true
	}
	o, err := r.again(ctx, &a)
	if err != nil {
		return reconcile.Sandbox{}, r.later(a, err.Error()), true
	}
	look := o.view.S.Looks[reconcile.Ref{Provider: a.Provider, ID: a.Sandbox}]
	if out, settled := r.underway(a, look); settled {
		return reconcile.Sandbox{}, out, true
	}
	//guard:end-own P1
	if !r.proven(&look.Sandbox) {
		return reconcile.Sandbox{}, r.withdraw(a, "looked again: the sandbox is not proven ours any more"), true
	}
	//guard:end-other-box harm
	if o.finding == nil || o.finding.Sandbox != a.Sandbox || o.finding.Provider != a.Provider {
		return reconcile.Sandbox{}, r.withdraw(a, "looked again: "+o.kept), true
	}
	if out, used := r.usedByOther(ctx, a, look.Sandbox); used {
		return reconcile.Sandbox{}, out, true
	}
	//guard:end-held P4
	if waits := r.stillHeld(ctx, o, &a); waits != "" {
		return reconcile.Sandbox{}, r.later(a, waits), true
	}
	return look.Sandbox, a, false
}

// usedByOther settles an action of a task's whose sandbox another live task's row names by now. A
// sandbox without a task was looked for in all rows just now.
func (r *run) usedByOther(ctx context.Context, a reconcile.Action, sb reconcile.Sandbox) (reconcile.Action, bool) {
	//guard:end-used P4
	if reconcile.TypeOf(a.Subject) != reconcile.SubjectTask {
		return a, false
	}
	switch why, err := r.usedAgain(ctx, &a, sb); {
	case err != nil:
		return r.later(a, err.Error()), true
	case why != "":
		return r.withdraw(a, "looked again: "+why), true
	}
	return a, false
}

// leavesToFull reports whether the ground of the action can only be judged by a full pass, and
// this is none.
func (r *run) leavesToFull(a *reconcile.Action) bool {
	return a.Seq == 0 && r.result.Kind != reconcile.Full && reconcile.RuleNamed(a.Rule).FullOnly
}

// underway settles an action whose sandbox is gone or on its way out: by us, in an attempt
// that a crash cut short, or by somebody else. Nothing is asked twice.
func (r *run) underway(a reconcile.Action, look reconcile.Look) (reconcile.Action, bool) {
	if a.Step == reconcile.StepQuarantine {
		return r.stoppedBefore(a, look)
	}
	switch {
	//guard:underway-gone lost
	case look.Gone, look.Error == "" && look.Sandbox.State == reconcile.SandboxEnded:
		a.Outcome, a.ClosedAt = reconcile.OutcomeConfirmed, r.now
		a.Detail = "gone when looked at again"
		return a, true
	// A sandbox on its way out is not ended once more.
	case look.Error == "" && look.Sandbox.State == reconcile.SandboxDeleting:
		a.Outcome, a.Detail = reconcile.OutcomeAccepted, "is being deleted already"
		if a.ActedAt.IsZero() {
			a.ActedAt = r.now
		}
		return a, true
	}
	return a, false
}

// saveEvidence keeps the end of the sandbox's log, which is gone with it.
func (r *run) saveEvidence(ctx context.Context, p reconcile.Provider, sb reconcile.Sandbox) string {
	source, ok := p.(reconcile.Logs)
	if !ok || sb.State != reconcile.SandboxRunning && sb.State != reconcile.SandboxFailed {
		return ""
	}
	//guard:evidence-own P1
	if !r.proven(&sb) {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	said, err := source.Logs(ctx, sb, 2000)
	if err != nil || said == "" {
		return ""
	}
	return reconcile.SavedLog(said)
}

// proven reports whether the sandbox is ours by its labels or name, or may be by a row.
func (r *run) proven(sb *reconcile.Sandbox) bool {
	return sb.Owned || r.policy.Providers[sb.Provider].ByRow(sb)
}

// ledgerNow is the ledger's clock, or the pass's when it does not answer.
func (r *run) ledgerNow(ctx context.Context) time.Time {
	now, err := r.k.Ledger.Now(context.WithoutCancel(ctx))
	if err != nil {
		return r.now
	}
	return now
}
