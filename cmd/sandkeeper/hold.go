package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

func holdCommand(o *app.Options) *cobra.Command {
	by := &request{}
	c := &cobra.Command{
		Use:   "hold TARGET",
		Short: "Keep one task, sandbox, label or provider from being acted on",
		Long: `Hold excludes a target: no rule takes a step against it until the hold is lifted or
ends. TARGET is task:ID, sandbox:ID (or its name), label:KEY=VALUE or
provider:NAME; a bare id is held as a task and as a sandbox.

A hold may be set before its task or sandbox appears. It is recorded at once; when nothing
that is there now matches it, a warning says so, as it may be misspelt. A provider that the
config does not name is refused.

Exit code 2: wrong usage; nothing is held.`,
		Example: `  sandkeeper hold task:8c02ffe6-26b9-4b1c-9d6e-0d2f9d6a1c11 --reason "debugging with the customer" --for 4h
  sandkeeper hold label:team=research`,
		Args: needs("TARGET"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return onLedger(cmd.Context(), o, func(a *app.App) error {
				said, err := hold(cmd.Context(), a, args[0], by)
				if err != nil {
					return err
				}
				if _, err := fmt.Fprintln(o.Out, said); err != nil {
					return err
				}
				// Only now: an operator in a hurry has the hold before anything is looked up.
				doubtHold(cmd.Context(), a, o.Err, args[0])
				return nil
			})
		},
	}
	by.add(c, 0, "end the hold by itself after this time (default: until lifted)")
	return c
}

func hold(ctx context.Context, a *app.App, arg string, by *request) (string, error) {
	wanted, err := targets(arg)
	if err != nil {
		return "", err
	}
	if name, is := reconcile.OfType(reconcile.SubjectProvider, arg); is && !a.Config.HasProvider(name) {
		return "", misused(fmt.Errorf("hold %s: %w", arg, unknownProvider(a, name)))
	}
	now, err := a.Ledger.Now(ctx)
	if err != nil {
		return "", err
	}
	s := by.signature()
	for _, target := range wanted {
		h := reconcile.Hold{Target: target, Author: s.Author, Reason: s.Reason, Until: by.until(now)}
		if _, err := a.Ledger.Hold(ctx, h); err != nil {
			return "", err
		}
	}
	return "holding " + text.Line(strings.Join(wanted, " and ")) + lasting(by.until(now)), nil
}

// targets are what a person means by an argument: a bare id may be a task or a sandbox. A
// word before a colon that means nothing is refused: the hold would hold nothing.
func targets(arg string) ([]string, error) {
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
	return nil, misused(fmt.Errorf("%q is nothing that can be held: say task:ID, sandbox:ID, "+
		"label:KEY=VALUE or provider:NAME", arg))
}

// unknownProvider says that no entry has the name, with the one that was probably meant.
func unknownProvider(a *app.App, name string) error {
	var known []string
	for _, p := range a.Config.Providers {
		known = append(known, p.Name)
	}
	return misused(fmt.Errorf("no provider %q in the config; %s", name, text.Unknown(name, known)))
}

func unholdCommand(o *app.Options) *cobra.Command {
	by := &request{}
	c := &cobra.Command{
		Use:     "unhold TARGET",
		Short:   "Lift a hold",
		Example: "  sandkeeper unhold task:8c02ffe6-26b9-4b1c-9d6e-0d2f9d6a1c11",
		Args:    needs("TARGET"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withLedger(cmd.Context(), o, func(a *app.App) (string, error) {
				return unhold(cmd.Context(), a, args[0], by)
			})
		},
	}
	by.add(c, 0, "")
	return c
}

func unhold(ctx context.Context, a *app.App, arg string, by *request) (string, error) {
	wanted, err := targets(arg)
	if err != nil {
		return "", err
	}
	lifted := 0
	var last error
	for _, target := range wanted {
		n, err := a.Ledger.Unhold(ctx, target, by.signature())
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
