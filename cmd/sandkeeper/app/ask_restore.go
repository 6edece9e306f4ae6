package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// Restore takes a quarantine back.
func (a Operator) Restore(ctx context.Context, id string, by *Request) (string, error) {
	remedy, err := a.findQuarantine(ctx, id)
	if err != nil {
		return "", err
	}
	actions, withdraw := reconcile.AskRestore(remedy)
	for i := range actions {
		if name := actions[i].Provider; name != "" && !a.Config.HasProvider(name) {
			return "", fmt.Errorf("restore %s: it was quarantined at the entry %q, which the config does not name any more; "+
				"name the entry so again, or start the sandbox at the provider itself", id, name)
		}
		actions[i].Reason = "restored by " + by.Author + ": " + by.Signed().Reason
	}
	asked, err := a.Ledger.Ask(ctx, by.Signed(), actions, withdraw)
	if err != nil {
		return "", fmt.Errorf("restore %s: %w", id, err)
	}
	if len(asked) == 0 {
		return "", fmt.Errorf("restore %s: it is under way already; see sandkeeper explain %s", id, id)
	}
	held, err := a.holdBack(ctx, asked, by)
	if err != nil {
		return "", fmt.Errorf("restore %s: it is recorded, but it is not held: %w", id, err)
	}
	var b bytes.Buffer
	for i := range asked {
		fmt.Fprintf(&b, "recorded: %s\n", text.Line(comesBack(&asked[i])))
	}
	if !slices.ContainsFunc(asked, func(a reconcile.Action) bool { return a.Step == reconcile.StepRestore }) {
		fmt.Fprintln(&b, "no task row comes back: none was written")
	}
	if until := untilOf(remedy); !until.IsZero() {
		fmt.Fprintf(&b, "its end, which was due at %s, is withdrawn\n", text.Time(until))
	}
	fmt.Fprintf(&b, "%s%s", held, a.Kicked(ctx, asked))
	return b.String(), nil
}

// findQuarantine finds the remedy that has something in quarantine, whole.
func (a Operator) findQuarantine(ctx context.Context, id string) ([]reconcile.Action, error) {
	h, err := a.Ledger.Subject(ctx, id)
	if err != nil && !errors.Is(err, reconcile.ErrNotFound) {
		return nil, err
	}
	var ended *reconcile.Action
	for i := range h.Actions { // newest first
		step := &h.Actions[i]
		stopped := step.Outcome == reconcile.OutcomeDone || step.Outcome == reconcile.OutcomeAccepted
		if step.Step != reconcile.StepQuarantine || !stopped {
			continue
		}
		remedy, err := a.wholeRemedy(ctx, step, h.Actions)
		if err != nil {
			return nil, err
		}
		if _, withdraw := reconcile.AskRestore(remedy); len(withdraw) > 0 || stillStopped(remedy, step, h.Actions) {
			return remedy, nil
		}
		if ended == nil {
			ended = step
		}
	}
	if ended != nil {
		return nil, fmt.Errorf("restore %s: its quarantine is over: it was restored, or its end has begun; "+
			"see sandkeeper explain %s", id, id)
	}
	return nil, fmt.Errorf("restore %s: nothing of it is in quarantine", id)
}

// stillStopped reports whether the remedy only stopped the sandbox, for good, and nothing has been done to it since.
func stillStopped(remedy []reconcile.Action, stop *reconcile.Action, known []reconcile.Action) bool {
	if slices.ContainsFunc(remedy, func(a reconcile.Action) bool { return a.Step == reconcile.StepTerminate }) {
		return false
	}
	return !slices.ContainsFunc(known, func(a reconcile.Action) bool {
		return a.Provider == stop.Provider && a.Sandbox == stop.Sandbox && a.PlannedAt.After(stop.PlannedAt) &&
			(a.Step == reconcile.StepResume && a.Outcome != reconcile.OutcomeWithdrawn ||
				a.Step == reconcile.StepTerminate && a.Outcome == reconcile.OutcomeConfirmed)
	})
}

// wholeRemedy is the whole remedy of a quarantine. Its first step may be on the task's row, which
// has a history of its own.
func (a Operator) wholeRemedy(ctx context.Context, of *reconcile.Action, known []reconcile.Action,
) ([]reconcile.Action, error) {
	if of.Task != "" {
		h, err := a.Ledger.Subject(ctx, "task:"+of.Task)
		if err != nil && !errors.Is(err, reconcile.ErrNotFound) {
			return nil, err
		}
		known = append(slices.Clone(known), h.Actions...)
	}
	seen := map[string]bool{}
	var steps []reconcile.Action
	for i := range known {
		if step := known[i]; step.Remedy == of.Remedy && !seen[step.ID] {
			seen[step.ID] = true
			steps = append(steps, step)
		}
	}
	slices.SortFunc(steps, func(a, b reconcile.Action) int { return a.Seq - b.Seq })
	return steps, nil
}

// holdBack holds what comes back.
func (a Operator) holdBack(ctx context.Context, asked []reconcile.Action, by *Request) (string, error) {
	if by.Last <= 0 {
		return "it is not held: the rule that found it may find it again\n", nil
	}
	now, err := a.Ledger.Now(ctx)
	if err != nil {
		return "", err
	}
	var targets []string
	for i := range asked {
		target := "sandbox:" + asked[i].Sandbox
		if asked[i].Step == reconcile.StepRestore {
			target = "task:" + asked[i].Task
		}
		targets = append(targets, target)
	}
	for _, target := range targets {
		h := reconcile.Hold{Target: target, Author: by.Author, Until: by.Until(now),
			Reason: "restored: " + by.Signed().Reason}
		if _, err := a.Ledger.Hold(ctx, h); err != nil {
			return "", err
		}
	}
	return "holding " + text.Line(fmt.Sprint(targets)) + Lasting(by.Until(now)) + "\n", nil
}

func comesBack(a *reconcile.Action) string {
	if a.Step == reconcile.StepRestore {
		return "task " + a.Task + " gets its row back, unless it was changed since"
	}
	out := "sandbox " + a.Provider + "/" + a.Sandbox + " comes back"
	if at := a.NextAttempt; !at.IsZero() {
		out += ", from " + text.Time(at) + " on, when the stop that is under way has settled"
	}
	return out
}

// untilOf is when the first end of the remedy's quarantines would have begun.
func untilOf(remedy []reconcile.Action) (first time.Time) {
	for i := range remedy {
		a := &remedy[i]
		open := a.Step == reconcile.StepTerminate && a.Outcome == reconcile.OutcomePending
		if open && (first.IsZero() || a.NextAttempt.Before(first)) {
			first = a.NextAttempt
		}
	}
	return first
}
