package reconcile

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// carryTerminate ends a sandbox by its immutable id. What takes time comes first: the final
// probe, and saving the end of its log. Then the sandbox is got once more, then the rows
// that could explain it are read, and then, with nothing in between, it is ended.
func (r *run) carryTerminate(ctx context.Context, a Action) Action {
	if _, ok := r.k.Providers[a.Provider]; !ok {
		return r.later(a, "provider "+a.Provider+" is not configured any more")
	}
	first := r.k.lookAt(ctx, Ref{a.Provider, a.Sandbox})
	if out, settled := r.underway(a, first); settled {
		return out
	}
	if first.Error != "" {
		return r.later(a, "look at the sandbox: "+first.Error)
	}
	if out, stop := r.probeBefore(ctx, a, first.Sandbox); stop {
		return out
	}
	provider := r.k.Providers[a.Provider]
	saved := r.saveEvidence(ctx, provider, first.Sandbox)
	sb, out, settled := r.ground(ctx, a)
	if settled {
		return out
	}
	a.Detail = saved
	a.ActedAt = r.ledgerNow(ctx)
	if why := r.expired(&a); why != "" {
		return r.later(a, why)
	}
	return r.ended(ctx, a, sb)
}

// ended asks the provider to end the sandbox and says what became of it.
func (r *run) ended(ctx context.Context, a Action, sb Sandbox) Action {
	said, err := r.k.Providers[a.Provider].Terminate(ctx, sb)
	if err != nil {
		return r.terminateFailed(a, said, err)
	}
	switch said {
	case TerminateDone, TerminateGone:
		return r.confirmOne(ctx, a)
	case TerminateChanged:
		return r.withdraw(a, "the provider shows another sandbox under this id")
	case TerminateRefused:
		return r.refused(a, "no reason given")
	}
	a.Outcome = OutcomeAccepted
	return a
}

// probeBefore is the final probe of a sandbox whose end rests on probes.
func (r *run) probeBefore(ctx context.Context, a Action, sb Sandbox) (Action, bool) {
	if a.Rule != "idle-broken" || a.Seq > 0 || sb.State != SandboxRunning {
		return a, false
	}
	return r.finalProbe(ctx, a, sb)
}

// terminateFailed: of what did not end well nothing is known, so the next attempt looks
// before it asks again.
func (r *run) terminateFailed(a Action, said Termination, err error) Action {
	if said == TerminateRefused {
		return r.refused(a, clip(err.Error(), 400))
	}
	return r.later(a, err.Error())
}

// refused leaves an action open that the provider will not carry out, shown as failed. A
// closed one would be planned anew by each pass and use up the budget of all others; an open
// one costs nothing more, and is tried again after pauses that double up to an hour.
func (r *run) refused(a Action, words string) Action {
	wait := min(time.Minute<<min(max(a.Attempts-1, 0), 6), time.Hour)
	a.Outcome, a.NextAttempt = OutcomePending, r.now.Add(wait)
	a.Detail = "refused by the provider: " + words + "; tried again from " + stamp(a.NextAttempt)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.refusals[a.ID] = true
	return a
}

// ground settles whether the sandbox may be ended now, and as what.
func (r *run) ground(ctx context.Context, a Action) (Sandbox, Action, bool) {
	if a.Seq > 0 {
		return r.groundLater(ctx, a)
	}
	o, err := r.again(ctx, &a)
	if err != nil {
		return Sandbox{}, r.later(a, err.Error()), true
	}
	look := o.view.s.Looks[Ref{a.Provider, a.Sandbox}]
	if out, settled := r.underway(a, look); settled {
		return Sandbox{}, out, true
	}
	if o.finding == nil || o.finding.Sandbox != a.Sandbox || o.finding.Provider != a.Provider {
		return Sandbox{}, r.withdraw(a, "looked again: "+o.kept), true
	}
	if waits := r.stillHeld(ctx, o, &a); waits != "" {
		return Sandbox{}, r.later(a, waits), true
	}
	return look.Sandbox, a, false
}

// underway settles an action whose sandbox is gone or on its way out: by us, in an attempt
// that a crash cut short, or by somebody else. Nothing is asked twice.
func (r *run) underway(a Action, look Look) (Action, bool) {
	switch {
	case look.Gone, look.Error == "" && look.Sandbox.State == SandboxEnded:
		a.Outcome, a.ClosedAt = OutcomeConfirmed, r.now
		a.Detail = "gone when looked at again"
		return a, true
	case look.Error == "" && look.Sandbox.State == SandboxDeleting:
		a.Outcome, a.Detail = OutcomeAccepted, "is being deleted already"
		if a.ActedAt.IsZero() {
			a.ActedAt = r.now
		}
		return a, true
	}
	return a, false
}

// groundLater is the ground of a later step of a remedy: the earlier step's write stands,
// or the row is over; the sandbox is the same; and no other live task links to it.
func (r *run) groundLater(ctx context.Context, a Action) (Sandbox, Action, bool) {
	look := r.k.lookAt(ctx, Ref{a.Provider, a.Sandbox})
	if look.Error != "" {
		return Sandbox{}, r.later(a, "look at the sandbox: "+look.Error), true
	}
	if out, settled := r.underway(a, look); settled {
		return Sandbox{}, out, true
	}
	sb := look.Sandbox
	if !sb.Owned && !r.policy.Providers[a.Provider].Referenced {
		return Sandbox{}, r.withdraw(a, "the sandbox is not proven ours any more"), true
	}
	why, err := r.linkedAgain(ctx, &a, sb)
	if err != nil {
		return Sandbox{}, r.later(a, err.Error()), true
	}
	if why != "" {
		return Sandbox{}, r.withdraw(a, why), true
	}
	if waits := r.heldWith(ctx, &a, sb); waits != "" {
		return Sandbox{}, r.later(a, waits), true
	}
	return sb, a, false
}

// heldWith is what holds a step against a sandbox as it was just seen, by the wishes of this
// very moment.
func (r *run) heldWith(ctx context.Context, a *Action, sb Sandbox) string {
	controls, why := r.controlsNow(ctx, a)
	if why != "" {
		return why
	}
	return strings.Join(controlHolds(&controls, target{rule: a.Rule, subject: a.Subject, provider: a.Provider,
		sandbox: a.Sandbox, task: a.Task, names: []string{sb.Name}, labels: sb.Labels}), "; ")
}

// linkedAgain says why the sandbox must not be ended: a live task that uses it.
func (r *run) linkedAgain(ctx context.Context, a *Action, sb Sandbox) (string, error) {
	if sb.Task != "" && sb.Task != a.Task {
		return "the sandbox names another task by now, " + clip(sb.Task, 60), nil
	}
	ids, err := r.k.Tasks.ByID(ctx, []string{a.Task})
	if err != nil {
		return "", fmt.Errorf("read the row again: %w", err)
	}
	for _, t := range ids.Tasks {
		if a.Seq == 0 {
			break // the sandbox itself is the verdict's ground, its task may well live
		}
		if why := r.stands(&t, a, sb); why != "" {
			return why, nil
		}
	}
	if sb.SandboxKey == "" {
		return "", nil
	}
	users, err := r.k.Tasks.BySandbox(ctx, []string{sb.SandboxKey})
	if err != nil {
		return "", fmt.Errorf("read the rows that name the sandbox: %w", err)
	}
	for _, t := range users.Tasks {
		if t.State.Live() && t.ID != a.Task {
			return "live task " + t.ID + " uses the sandbox", nil
		}
	}
	return "", nil
}

// stands says why the earlier step's write does not stand. A terminal row always lets the
// sandbox go; a live one only when it carries our own requeue and does not name the
// sandbox any more.
func (r *run) stands(t *Task, a *Action, sb Sandbox) string {
	if t.State.Terminal() {
		return ""
	}
	if !t.State.Live() {
		return "the row has a status that the config does not map: " + clip(t.Status, 60)
	}
	ours := strings.Contains(t.Error, Mark(a.Remedy))
	if t.State == TaskPending && ours {
		return ""
	}
	if ours && sb.SandboxKey != "" && t.Sandbox != sb.SandboxKey {
		return ""
	}
	return "the task is live again: " + t.Status
}

// saveEvidence keeps the end of the sandbox's log, which is gone with it.
func (r *run) saveEvidence(ctx context.Context, p Provider, sb Sandbox) string {
	source, ok := p.(Logs)
	if !ok || sb.State != SandboxRunning && sb.State != SandboxFailed {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	text, err := source.Logs(ctx, sb, 2000)
	if err != nil || text == "" {
		return ""
	}
	return "last log lines: " + clip(text, 2000)
}

// ledgerNow is the ledger's clock, or the pass's when it does not answer.
func (r *run) ledgerNow(ctx context.Context) time.Time {
	now, err := r.k.Ledger.Now(context.WithoutCancel(ctx))
	if err != nil {
		return r.now
	}
	return now
}

// confirmOne looks once whether the sandbox is gone. "terminated" is true only when the
// provider, asked again, says so.
func (r *run) confirmOne(ctx context.Context, a Action) Action {
	p := r.k.Providers[a.Provider]
	sb, err := p.Get(ctx, a.Sandbox)
	if errors.Is(err, ErrNotFound) || err == nil && sb.ID == a.Sandbox && sb.State == SandboxEnded {
		a.Outcome, a.ClosedAt = OutcomeConfirmed, r.ledgerNow(ctx)
		return a
	}
	a.Outcome = OutcomeAccepted
	return a
}
