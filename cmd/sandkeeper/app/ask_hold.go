package app

import (
	"context"
	"fmt"
	"strings"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// Hold keeps what an argument means from being acted on.
func (a Operator) Hold(ctx context.Context, arg string, by *Request) (string, error) {
	wanted, err := Targets(arg)
	if err != nil {
		return "", err
	}
	if name, is := reconcile.OfType(reconcile.SubjectProvider, arg); is && !a.Config.HasProvider(name) {
		return "", misuse(fmt.Errorf("hold %s: %w", arg, a.UnknownProvider(name)))
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
		if err != nil {
			last = err
		}
	}
	if lifted == 0 && last != nil {
		return "", last
	}
	if lifted == 0 {
		return "", fmt.Errorf("nothing holds %s", strings.Join(wanted, " or "))
	}
	return "lifted " + console.Plural(lifted, "hold"), nil
}
