package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/web/api"
)

// Hold keeps what an argument means from being acted on.
func (a Operator) Hold(ctx context.Context, arg string, by *Request) (string, error) {
	wanted, err := a.holdable(arg)
	if err != nil {
		return "", err
	}
	now, err := a.Ledger.Now(ctx)
	if err != nil {
		return "", err
	}
	s := by.Signed()
	for _, target := range wanted {
		h := reconcile.Hold{Target: target, Author: s.Author, Reason: s.Reason, Until: by.Until(now)}
		if _, err := a.Ledger.Hold(ctx, h); err != nil {
			return "", err
		}
	}
	return "holding " + text.Line(strings.Join(wanted, " and ")) + Lasting(by.Until(now)), nil
}

// holdable are the targets of an argument that a hold may have: a provider is one of the config.
func (a Operator) holdable(arg string) ([]string, error) {
	wanted, err := Targets(arg)
	if name, is := reconcile.OfType(reconcile.SubjectProvider, arg); err == nil && is && !a.Config.HasProvider(name) {
		return nil, misuse(fmt.Errorf("hold %s: %w", arg, a.UnknownProvider(name)))
	}
	return wanted, err
}

// heldThen says in the preview of a hold, or of its end, what that is about.
func (a Operator) heldThen(ctx context.Context, verb, arg string, p *api.Preview) error {
	wanted, err := Targets(arg)
	if verb == "hold" {
		wanted, err = a.holdable(arg)
	}
	if err != nil {
		return err
	}
	e, err := a.endingOf(ctx, reconcile.RuleOperator, false)
	if err != nil {
		return err
	}
	p.Subjects = e.heldBy(wanted)
	switch {
	case reconcile.TypeOf(arg) == reconcile.SubjectLabel:
		p.Will = append(p.Will, "The ledger keeps no labels: passes and actions look at those that the provider tells.")
	case len(p.Subjects) > 0:
		p.Will = append(p.Will, "It is about the sandboxes and tasks listed here, and about all that match it later.")
	case verb == "hold":
		p.Will = append(p.Will, "It matches no task and no sandbox that is known now. It counts once one appears; if it is "+
			"misspelt, it protects nothing.")
	}
	return nil
}

// heldBy are the subjects, of those that are known to exist, that holds of these targets keep from being acted on: a
// sandbox with the live tasks in it, as a pass takes them together.
func (e *ending) heldBy(targets []string) []string {
	var c reconcile.Controls
	for _, target := range targets {
		c.Holds = append(c.Holds, reconcile.Hold{Target: target})
	}
	holds := func(t reconcile.ControlTarget) bool { return len(reconcile.ControlHolds(&c, t)) > 0 }
	live := func(id string) bool { return !e.m.Tasks.Of(id).State.Terminal() }
	var out []string
	for ref, b := range e.m.Sandboxes.All() {
		if !b.GoneAt.IsZero() || b.State == reconcile.SandboxEnded {
			continue
		}
		tasks := e.tasksOf(&b)
		if slices.ContainsFunc(append(tasks, b.Task), func(task string) bool {
			return holds(reconcile.ControlTarget{Provider: ref.Provider, Sandbox: ref.ID, Names: []string{b.Name}, Task: task})
		}) {
			out = append(out, reconcile.BoxSubject(ref))
			for _, task := range slices.DeleteFunc(tasks, func(id string) bool { return !live(id) }) {
				out = append(out, reconcile.TaskSubject(task))
			}
		}
	}
	for id := range e.m.Tasks.Keys() {
		if live(id) && holds(reconcile.ControlTarget{Task: id}) {
			out = append(out, reconcile.TaskSubject(id))
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Targets are what a person means by an argument: a bare id may be a task or a sandbox. A
// word before a colon that means nothing is refused: the hold would hold nothing.
func Targets(arg string) ([]string, error) {
	of := reconcile.ParseSubject(arg)
	switch key, _ := reconcile.LabelParts(of.ID); of.Type {
	case "":
		if arg != "" && of.ID[0] != ':' {
			return []string{reconcile.TaskSubject(arg), reconcile.SubjectOf(reconcile.SubjectSandbox, arg)}, nil
		}
	case reconcile.SubjectLabel:
		if key != "" && key != of.ID {
			return []string{arg}, nil
		}
	case reconcile.SubjectTask, reconcile.SubjectSandbox, reconcile.SubjectProvider:
		if of.Within() != "" {
			return []string{arg}, nil
		}
	}
	return nil, misuse(fmt.Errorf("%q is nothing that can be held: say task:ID, sandbox:ID, "+
		"label:KEY=VALUE or provider:NAME", arg))
}

// UnknownProvider says that no entry has the name, with the one that was probably meant.
func (a Operator) UnknownProvider(name string) error {
	var known []string
	for _, p := range a.Config.Providers {
		known = append(known, p.Name)
	}
	return misuse(fmt.Errorf("no provider %q in the config; %s", name, text.Unknown(name, known)))
}

// Unhold lifts the holds of what an argument means.
func (a Operator) Unhold(ctx context.Context, arg string, by *Request) (string, error) {
	wanted, err := Targets(arg)
	if err != nil {
		return "", err
	}
	lifted := 0
	var last error
	for _, target := range wanted {
		n, err := a.Ledger.Unhold(ctx, target, by.Signed())
		lifted += n
		if err != nil && !errors.Is(err, reconcile.ErrNotFound) {
			last = err
		}
	}
	if lifted == 0 && last != nil {
		return "", last
	}
	if lifted == 0 {
		return "", notHeld(strings.Join(wanted, " or "))
	}
	return "lifted " + console.Plural(lifted, "hold"), nil
}

// notHeld is a target that no hold is on: it is a [reconcile.ErrNotFound], in words.
type notHeld string

func (e notHeld) Error() string        { return "nothing holds " + string(e) }
func (e notHeld) Is(target error) bool { return target == reconcile.ErrNotFound }
