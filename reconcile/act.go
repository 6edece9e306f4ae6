package reconcile

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"
)

// claimTTL is how long a claim stands without being renewed.
const claimTTL = 15 * time.Second

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
	if holds := r.heldNow(&a, &controls); len(holds) > 0 {
		r.wait(a, strings.Join(holds, "; "))
		return a, nil
	}
	limits := r.policy.Limits
	claimed, err := r.claim(ctx, Claim{Action: a.ID, Pass: r.result.Pass, TTL: claimTTL,
		Total: limits.PerPass, Shared: limits.shared(r.result.Judged.Fleet), Hour: limits.PerHour})
	if errors.Is(err, ErrHeld) {
		r.wait(a, err.Error())
		return a, nil
	}
	if err != nil {
		return a, fmt.Errorf("claim %s: %w", a.what(), err)
	}
	held, done := r.holdClaim(ctx, claimed)
	defer done()
	return r.settle(ctx, r.carry(held, claimed))
}

// heldNow is what keeps an open action from being carried out, whoever planned it and
// when: the operators' wishes, the mode that is in force now, and, for one that nobody has
// begun, that this pass does not call for it.
func (r *run) heldNow(a *Action, controls *Controls) []string {
	holds := appendNew(controlHolds(controls, r.target(a)), r.policy.Holds(controls, a)...)
	if _, known := r.policy.Rules[a.Rule]; !known {
		holds = appendNew(holds, string(Off)) // of another version
	}
	if a.Seq > 0 || a.begun() {
		return holds
	}
	if percent := r.policy.Rules[a.Rule].Rollout; !rolledOut(a.Rule, a.Subject, percent) {
		holds = append(holds, fmt.Sprintf("rollout: %d%%", percent))
	}
	if !r.due[a.ID] {
		holds = append(holds, "this pass does not call for it")
	}
	return holds
}

func (a *Action) what() string {
	if a.Step == StepTerminate {
		return fmt.Sprintf("%s of sandbox %s/%s", a.Step, a.Provider, a.Sandbox)
	}
	return fmt.Sprintf("%s of task %s", a.Step, a.Task)
}

func (r *run) target(a *Action) target {
	t := target{rule: a.Rule, subject: a.Subject, provider: a.Provider, sandbox: a.Sandbox, task: a.Task}
	for _, b := range r.boxes[a.Subject] {
		if a.Sandbox == "" || a.Sandbox == b.ID {
			t.names = append(t.names, b.ID, b.Name)
			t.labels = b.Labels
		}
		if t.provider == "" {
			t.provider = b.Provider
		}
	}
	return t
}

// holdClaim renews a claim until done is called. When it is lost the context ends.
func (r *run) holdClaim(ctx context.Context, a Action) (held context.Context, done func()) {
	held, cancel := context.WithCancelCause(ctx)
	var wg sync.WaitGroup
	wg.Go(func() {
		for pause(held, leaseRenew) == nil {
			asked := time.Now()
			err := r.k.Ledger.RenewClaim(held, r.lease, a, claimTTL)
			if errors.Is(err, ErrFenced) || errors.Is(err, ErrHeld) {
				cancel(fmt.Errorf("renew the claim on %s: %w", a.what(), err))
			}
			if err == nil {
				r.claims.Store(a.ID, asked)
			}
		}
	})
	return held, func() {
		cancel(nil)
		wg.Wait()
		r.claims.Delete(a.ID)
	}
}

// claim takes the right to carry out an action and notes when it was asked for.
func (r *run) claim(ctx context.Context, c Claim) (Action, error) {
	asked := time.Now()
	claimed, err := r.k.Ledger.Claim(ctx, r.lease, c)
	if err == nil {
		r.claims.Store(c.Action, asked)
	}
	return claimed, err
}

// expired says why the claim on an action may have ended. It is asked right before each
// deed: a process that was frozen in between, or whose ledger does not answer, must not go
// on where it stopped, because another has the action by now. Both clocks are asked: the
// monotonic one stands still while a machine sleeps, the other may be set.
func (r *run) expired(a *Action) string {
	at, ok := r.claims.Load(a.ID)
	if !ok {
		return "its claim was given up"
	}
	asked := at.(time.Time) //nolint:errcheck,forcetypeassert // only claim and holdClaim store
	now := time.Now()
	if now.Sub(asked) < claimTTL && now.Round(0).Sub(asked.Round(0)) < claimTTL {
		return ""
	}
	return fmt.Sprintf("this process stood still for longer than its claim lasts, %s", claimTTL)
}

// settle writes what became of an action, also while the process is being stopped, so
// that what the provider has carried out is never left open.
func (r *run) settle(ctx context.Context, a Action) (Action, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
	defer cancel()
	if err := r.k.Ledger.Settle(ctx, r.lease, a); err != nil {
		return a, fmt.Errorf("settle %s as %s: %w", a.what(), a.Outcome, err)
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
	if a.Step == StepTerminate {
		return r.carryTerminate(ctx, a)
	}
	return r.carryRow(ctx, a)
}

// later leaves the action open, to be tried again after a pause that doubles.
func (r *run) later(a Action, detail string) Action {
	a.Outcome, a.Detail = OutcomePending, clip(detail, 500)
	wait := time.Second << min(max(a.Attempts, 0), 8)
	a.NextAttempt = r.now.Add(min(wait, 5*time.Minute))
	r.wait(a, a.Detail)
	return a
}

func (r *run) withdraw(a Action, why string) Action {
	a.Outcome, a.Detail, a.ClosedAt = OutcomeWithdrawn, clip(why, 500), r.now
	return a
}
