package run

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// actors is how many remedies are carried out at once: each spends most of its time waiting for its provider. Where the
// two calls of an end take half a second, so many use up a rate of a hundred.
const actors = 32

// act works off the open actions of the ledger, those of this pass and those that a
// killed process left: each remedy in its order, remedies side by side. What one of them
// meets stops no other.
func (r *executor) act(ctx context.Context) error {
	if r.view.S.Plain.Tasks > 0 {
		return nil // what was asked for since the pass began waits for one that keeps all rows
	}
	open, err := r.actions.OpenActions(ctx)
	if err != nil {
		return fmt.Errorf("read the open actions: %w", err)
	}
	remedies := byRemedy(open)
	if len(remedies) > 0 {
		r.k.progress("acting")
	}
	errs := inParallel(remedies, r.k.parallel(actors), func(steps []reconcile.Action) error {
		return r.remedy(ctx, steps)
	})
	return errors.Join(errs...)
}

func byRemedy(open []reconcile.Action) [][]reconcile.Action {
	var out [][]reconcile.Action
	at := map[string]int{}
	for _, a := range open {
		i, ok := at[a.Remedy]
		if !ok {
			i = len(out)
			at[a.Remedy] = i
			out = append(out, nil)
		}
		out[i] = append(out[i], a)
	}
	return out
}

// remedy carries out the steps of one remedy, until one of them has to wait.
func (r *executor) remedy(ctx context.Context, steps []reconcile.Action) error {
	ctx = reconcile.InLane(ctx, reconcile.LaneAction)
	for _, a := range steps {
		if ctx.Err() != nil || r.stop.Err() != nil {
			return nil // what is left stays in the ledger
		}
		//guard:act-accepted once
		if a.Outcome == reconcile.OutcomeAccepted {
			r.keep(a)
			continue // confirm looks after it
		}
		if a.Seq == 0 && !a.Begun() && !time.Now().Before(r.begin) {
			r.wait(a, reconcile.HeldByOf("the time of --wait is over: the next run begins it"))
			r.keep(a)
			return nil
		}
		after, err := r.step(ctx, a)
		r.keep(after)
		if err != nil {
			return err
		}
		if after.Outcome == reconcile.OutcomePending || a.Seq == 0 && after.Outcome == reconcile.OutcomeWithdrawn ||
			after.Outcome == reconcile.OutcomeFailed {
			return nil
		}
	}
	return nil
}

func (r *executor) keep(a reconcile.Action) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done[a.ID] = a
}

func (r *executor) wait(a reconcile.Action, why reconcile.HeldBy) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waits[a.ID] = why
}

// step claims one action and carries it out. An action that may not be claimed now stays
// in the ledger.
func (r *executor) step(ctx context.Context, a reconcile.Action) (reconcile.Action, error) {
	controls, err := r.actions.Controls(ctx)
	if err != nil {
		return a, fmt.Errorf("read the controls before %s: %w", actionWhat(&a), err)
	}
	over := reconcile.FirstOf(a.Unsigned, a.Outdated(r.now))
	if holds := r.heldNow(&a, &controls); len(holds) > 0 && over == "" {
		r.wait(a, holds)
		return a, nil
	}
	limits := r.policy.Limits
	wanted := reconcile.Claim{Action: a.ID, Pass: r.result.Pass, TTL: claimTTL,
		Total: limits.PerPass, Shared: limits.Shared(r.result.Judged.Fleet), Hour: limits.PerHour,
		Lifted: r.lifted(&a)}
	if over != "" {
		wanted.Hour = math.MaxInt // nothing is ended by it, and what is not begun is given back
	}
	claimed, err := r.claim(ctx, wanted)
	if errors.Is(err, reconcile.ErrHeld) {
		r.wait(a, heldBy(err))
		return a, nil
	}
	if err != nil {
		return a, fmt.Errorf("claim %s: %w", actionWhat(&a), err)
	}
	held, done := r.holdClaim(ctx, claimed)
	defer done()
	if a.Begun() {
		over = "" // what was begun is gone on with
	}
	held, end := r.spanOfAction(held, &claimed)
	out, err := r.carryClaimed(ctx, held, claimed, over)
	end(err, slog.String("outcome", string(out.Outcome)), slog.String("detail", out.Detail))
	return out, err
}

// carryClaimed carries out what was claimed, or closes what it is too late for.
func (r *executor) carryClaimed(ctx, held context.Context, claimed reconcile.Action, over string,
) (reconcile.Action, error) {
	if claimed.Unsigned != "" {
		return r.refuse(ctx, claimed)
	}
	if over != "" {
		return r.settle(ctx, r.withdraw(claimed, over))
	}
	return r.settle(ctx, r.carry(held, claimed))
}

// refuse closes what somebody without the operator key asked for.
func (r *executor) refuse(ctx context.Context, a reconcile.Action) (reconcile.Action, error) {
	r.k.Log.WarnContext(ctx, "operator request refused", "action", a.ID, "step", string(a.Step), "author", a.Author,
		"task", a.Task, "sandbox", a.Sandbox, "provider", a.Provider, "why", a.Unsigned)
	return r.settle(ctx, r.withdraw(a, a.Unsigned))
}

func actionWhat(a *reconcile.Action) string {
	switch {
	case a.Step.OnRow():
		return fmt.Sprintf("%s of task %s", a.Step, a.Task)
	case a.Step == reconcile.StepActivate:
		return fmt.Sprintf("%s of %s", a.Step, a.Subject)
	}
	return fmt.Sprintf("%s of sandbox %s/%s", a.Step, a.Provider, a.Sandbox)
}

func (r *gatherer) target(a *reconcile.Action) reconcile.ControlTarget {
	t := reconcile.ControlTarget{Rule: a.Rule, Subject: a.Subject, Provider: a.Provider, Sandbox: a.Sandbox, Task: a.Task}
	for _, b := range r.judged.BoxesOf(a.Subject) {
		if a.Sandbox == "" || a.Sandbox == b.ID {
			t.Names = append(t.Names, b.ID, b.Name, b.AltKey)
			t.Labels = b.Labels
		}
		if t.Provider == "" {
			t.Provider = b.Provider
		}
	}
	return t
}

// settle writes what became of an action, also while the process is being stopped, so
// that what the provider has carried out is never left open.
func (r *executor) settle(ctx context.Context, a reconcile.Action) (reconcile.Action, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
	defer cancel()
	a.Announce = r.k.announces() && a.Task != ""
	if err := r.actions.Settle(ctx, r.lease, a); err != nil {
		return a, fmt.Errorf("settle %s as %s: %w", actionWhat(&a), a.Outcome, err)
	}
	if a.Announce && (a.Outcome == reconcile.OutcomeDone || a.Outcome == reconcile.OutcomeConfirmed) {
		r.news.Store(true)
	}
	level := slog.LevelInfo
	if a.Outcome == reconcile.OutcomePending || a.Outcome == reconcile.OutcomeFailed {
		level = slog.LevelWarn
	}
	r.k.Log.LogAttrs(ctx, level, "action "+string(a.Outcome), actionTold(&a)...)
	return a, nil
}

// actionTold is what the log says of an action, without what it does not have.
func actionTold(a *reconcile.Action) []slog.Attr {
	attrs := []slog.Attr{
		slog.String("action", a.ID), slog.String("rule", a.Rule), slog.String("step", string(a.Step)),
		slog.String("task", a.Task), slog.String("sandbox", a.Sandbox), slog.String("provider", a.Provider),
		slog.String("reason", a.Reason), slog.String("detail", a.Detail),
	}
	return slices.DeleteFunc(attrs, func(x slog.Attr) bool { return x.Value.String() == "" })
}

// carry does what the action says, after a second look at everything that it rests on.
func (r *executor) carry(ctx context.Context, a reconcile.Action) reconcile.Action {
	a.How, a.WaitsFor = "", nil
	switch a.Step {
	case reconcile.StepTerminate, reconcile.StepQuarantine:
		return r.carryEnd(ctx, a)
	case reconcile.StepFail, reconcile.StepRequeue:
		if a.Asked() {
			return r.carryRetry(ctx, a)
		}
		return r.carryRow(ctx, a)
	case reconcile.StepResume:
		return r.carryResume(ctx, a)
	case reconcile.StepRestore:
		return r.carryRestore(ctx, a)
	case reconcile.StepActivate:
		return r.carryActivate(ctx, a)
	}
	return r.later(a, "this version does not know the step "+text.Clip(string(a.Step), 60))
}

// later leaves the action open, to be tried again after a pause that doubles.
func (r *executor) later(a reconcile.Action, detail string) reconcile.Action {
	a.Outcome, a.Detail = reconcile.OutcomePending, text.Clip(detail, 500)
	wait := time.Second << min(max(a.Attempts, 0), 8)
	a.NextAttempt = r.now.Add(min(wait, 5*time.Minute))
	by := a.WaitsFor
	if len(by) == 0 {
		by = reconcile.HeldBy{{Kind: reconcile.HeldOther, Reason: a.Detail}}
	}
	r.wait(a, by)
	return a
}

func (r *executor) withdraw(a reconcile.Action, why string) reconcile.Action {
	a.Outcome, a.Detail, a.ClosedAt = reconcile.OutcomeWithdrawn, text.Clip(why, 500), r.now
	return a
}

// giveUp closes an action that cannot be done, and with it the later steps of its remedy.
func (r *executor) giveUp(a reconcile.Action, why string) reconcile.Action {
	a.Outcome, a.Detail, a.ClosedAt = reconcile.OutcomeFailed, text.Clip(why, 500), r.now
	return a
}

// maxAttempts is how often what a person asked for is tried: about half an hour of it.
const maxAttempts = 12

// laterOrNever tries later, until patience ends.
func (r *executor) laterOrNever(a reconcile.Action, why string) reconcile.Action {
	//guard:ask-patience live
	if a.Attempts >= maxAttempts {
		return r.giveUp(a, fmt.Sprintf("given up after %d attempts: %s", a.Attempts, why))
	}
	return r.later(a, why)
}
