package reconcile

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// actors is how many remedies are carried out at once.
const actors = 8

// act works off the open actions of the ledger, those of this pass and those that a
// killed process left: each remedy in its order, remedies side by side. What one of them
// meets stops no other.
func (r *run) act(ctx context.Context) error {
	open, err := r.k.Ledger.OpenActions(ctx)
	if err != nil {
		return fmt.Errorf("read the open actions: %w", err)
	}
	remedies := byRemedy(open)
	if len(remedies) > 0 {
		r.k.progress("acting")
	}
	errs := inParallel(remedies, r.k.parallel(actors), func(steps []Action) error { return r.remedy(ctx, steps) })
	return errors.Join(errs...)
}

func byRemedy(open []Action) [][]Action {
	var out [][]Action
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
func (r *run) remedy(ctx context.Context, steps []Action) error {
	for _, a := range steps {
		if ctx.Err() != nil || r.stop.Err() != nil {
			return nil // what is left stays in the ledger
		}
		//guard:act-accepted once
		if a.Outcome == OutcomeAccepted {
			r.keep(a)
			continue // confirm looks after it
		}
		if a.Seq == 0 && !a.begun() && !time.Now().Before(r.begin) {
			r.wait(a, "the time of --wait is over: the next run begins it")
			r.keep(a)
			return nil
		}
		after, err := r.step(ctx, a)
		r.keep(after)
		if err != nil {
			return err
		}
		if after.Outcome == OutcomePending || a.Seq == 0 && after.Outcome == OutcomeWithdrawn ||
			after.Outcome == OutcomeFailed {
			return nil
		}
	}
	return nil
}

func (r *run) keep(a Action) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.done[a.ID] = a
}

func (r *run) wait(a Action, why string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waits[a.ID] = why
}

// step claims one action and carries it out. An action that may not be claimed now stays
// in the ledger.
func (r *run) step(ctx context.Context, a Action) (Action, error) {
	controls, err := r.k.Ledger.Controls(ctx)
	if err != nil {
		return a, fmt.Errorf("read the controls before %s: %w", a.what(), err)
	}
	outdated := a.outdated(r.now)
	if holds := r.heldNow(&a, &controls); len(holds) > 0 && outdated == "" {
		r.wait(a, strings.Join(holds, "; "))
		return a, nil
	}
	limits := r.policy.Limits
	wanted := Claim{Action: a.ID, Pass: r.result.Pass, TTL: claimTTL,
		Total: limits.PerPass, Shared: limits.shared(r.result.Judged.Fleet), Hour: limits.PerHour,
		Lifted: r.lifted(&a)}
	if outdated != "" {
		wanted.Hour = math.MaxInt // nothing is ended by it, and what is not begun is given back
	}
	claimed, err := r.claim(ctx, wanted)
	if errors.Is(err, ErrHeld) {
		r.wait(a, heldBy(err))
		return a, nil
	}
	if err != nil {
		return a, fmt.Errorf("claim %s: %w", a.what(), err)
	}
	held, done := r.holdClaim(ctx, claimed)
	defer done()
	if outdated != "" && !a.begun() {
		return r.settle(ctx, r.withdraw(claimed, outdated))
	}
	return r.settle(ctx, r.carry(held, claimed))
}

func (a *Action) what() string {
	switch {
	case a.Step.onRow():
		return fmt.Sprintf("%s of task %s", a.Step, a.Task)
	case a.Step == StepActivate:
		return fmt.Sprintf("%s of %s", a.Step, a.Subject)
	}
	return fmt.Sprintf("%s of sandbox %s/%s", a.Step, a.Provider, a.Sandbox)
}

func (r *run) target(a *Action) target {
	t := target{rule: a.Rule, subject: a.Subject, provider: a.Provider, sandbox: a.Sandbox, task: a.Task}
	for _, b := range r.boxes[a.Subject] {
		if a.Sandbox == "" || a.Sandbox == b.ID {
			t.names = append(t.names, b.ID, b.Name, b.AlsoKey)
			t.labels = b.Labels
		}
		if t.provider == "" {
			t.provider = b.Provider
		}
	}
	return t
}

// settle writes what became of an action, also while the process is being stopped, so
// that what the provider has carried out is never left open.
func (r *run) settle(ctx context.Context, a Action) (Action, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
	defer cancel()
	a.Tell = r.k.tells() && a.Task != ""
	if err := r.k.Ledger.Settle(ctx, r.lease, a); err != nil {
		return a, fmt.Errorf("settle %s as %s: %w", a.what(), a.Outcome, err)
	}
	if a.Tell && (a.Outcome == OutcomeDone || a.Outcome == OutcomeConfirmed) {
		r.news.Store(true)
	}
	level := slog.LevelInfo
	if a.Outcome == OutcomePending || a.Outcome == OutcomeFailed {
		level = slog.LevelWarn
	}
	r.k.Log.LogAttrs(ctx, level, "action "+string(a.Outcome), a.told()...)
	return a, nil
}

// told is what the log says of an action, without what it does not have.
func (a *Action) told() []slog.Attr {
	attrs := []slog.Attr{
		slog.String("action", a.ID), slog.String("rule", a.Rule), slog.String("step", string(a.Step)),
		slog.String("task", a.Task), slog.String("sandbox", a.Sandbox), slog.String("provider", a.Provider),
		slog.String("reason", a.Reason), slog.String("detail", a.Detail),
	}
	return slices.DeleteFunc(attrs, func(x slog.Attr) bool { return x.Value.String() == "" })
}

// carry does what the action says, after a second look at everything that it rests on.
func (r *run) carry(ctx context.Context, a Action) Action {
	switch a.Step {
	case StepTerminate, StepQuarantine:
		return r.carryEnd(ctx, a)
	case StepFail, StepRequeue:
		return r.carryRow(ctx, a)
	case StepResume:
		return r.carryResume(ctx, a)
	case StepRestore:
		return r.carryRestore(ctx, a)
	case StepActivate:
		return r.carryActivate(ctx, a)
	}
	return r.later(a, "this version does not know the step "+text.Clip(string(a.Step), 60))
}

// later leaves the action open, to be tried again after a pause that doubles.
func (r *run) later(a Action, detail string) Action {
	a.Outcome, a.Detail = OutcomePending, text.Clip(detail, 500)
	wait := time.Second << min(max(a.Attempts, 0), 8)
	a.NextAttempt = r.now.Add(min(wait, 5*time.Minute))
	r.wait(a, a.Detail)
	return a
}

func (r *run) withdraw(a Action, why string) Action {
	a.Outcome, a.Detail, a.ClosedAt = OutcomeWithdrawn, text.Clip(why, 500), r.now
	return a
}

// giveUp closes an action that cannot be done, and with it the later steps of its remedy.
func (r *run) giveUp(a Action, why string) Action {
	a.Outcome, a.Detail, a.ClosedAt = OutcomeFailed, text.Clip(why, 500), r.now
	return a
}

// patience is how often what a person asked for is tried: about half an hour of it.
const patience = 12

// laterOrNever tries later, until patience ends.
func (r *run) laterOrNever(a Action, why string) Action {
	//guard:ask-patience live
	if a.Attempts >= patience {
		return r.giveUp(a, fmt.Sprintf("given up after %d attempts: %s", a.Attempts, why))
	}
	return r.later(a, why)
}
