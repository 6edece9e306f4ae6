package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

func pauseCommand(o *app.Options) *cobra.Command {
	by := &request{}
	c := &cobra.Command{
		Use:   "pause [all|rule:NAME|provider:NAME]",
		Short: "Stop acting: of everything, of a rule, or at a provider",
		Long: `Pause stops acting at once, over all replicas. Judging and probing go on, and what would
be done is shown as held by the pause.`,
		Example: `  sandkeeper pause --reason "provider maintenance" --for 2h
  sandkeeper pause rule:orphan --reason "wrong label rolled out"
  sandkeeper pause provider:daytona`,
		Args: upTo(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withLedger(cmd.Context(), o, func(a *app.App) (string, error) {
				now, err := a.Ledger.Now(cmd.Context())
				if err != nil {
					return "", err
				}
				scope, err := pauseScope(a, args)
				if err != nil {
					return "", err
				}
				s := by.signature()
				p := reconcile.Pause{Scope: scope, Author: s.Author, Reason: s.Reason, Until: by.until(now)}
				return "paused " + scope + lasting(p.Until), a.Ledger.Pause(cmd.Context(), p)
			})
		},
	}
	by.add(c, 0, "end the pause by itself after this time (default: until resumed)")
	return c
}

// pauseScope is what a pause is about; "rule orphan" is as good as "rule:orphan". A rule or a
// provider that does not exist is refused: the pause would hold nothing.
func pauseScope(a *app.App, args []string) (string, error) {
	scope := firstText(strings.Join(args, ":"), "all")
	of := reconcile.ParseSubject(scope)
	rule, provider := of.Type == reconcile.SubjectRule, of.Type == reconcile.SubjectProvider
	switch {
	case scope == "all", rule && slices.Contains(reconcile.RuleNames, of.ID), provider && a.Config.HasProvider(of.ID):
		return scope, nil
	case rule:
		return "", unknownRule(of.ID)
	case provider:
		return "", unknownProvider(a, of.ID)
	case slices.Contains(reconcile.RuleNames, scope):
		return reconcile.SubjectOf(reconcile.SubjectRule, scope), nil
	}
	return "", misused(fmt.Errorf("%q is nothing that can be paused: say all, rule:NAME or provider:NAME", scope))
}

func unknownRule(name string) error {
	return misused(fmt.Errorf("no rule %q; %s", name, text.Unknown(name, reconcile.RuleNames)))
}

func lasting(until time.Time) string {
	if until.IsZero() {
		return ""
	}
	return " until " + text.Time(until)
}

func resumeCommand(o *app.Options) *cobra.Command {
	by := &request{}
	c := &cobra.Command{
		Use:     "resume [all|rule:NAME|provider:NAME]",
		Short:   "End a pause",
		Example: "  sandkeeper resume\n  sandkeeper resume rule:orphan",
		Args:    upTo(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withLedger(cmd.Context(), o, func(a *app.App) (string, error) {
				scope, err := pauseScope(a, args)
				if err != nil {
					return "", err
				}
				err = a.Ledger.Resume(cmd.Context(), scope, by.signature())
				if errors.Is(err, reconcile.ErrNotFound) {
					err = notPaused(scope)
				}
				return "resumed " + scope, err
			})
		},
	}
	by.add(c, 0, "")
	return c
}

func notPaused(scope string) error {
	if scope == "all" {
		return errors.New("nothing is paused as a whole; a pause of a rule or provider is resumed by its name")
	}
	return fmt.Errorf("%s is not paused", scope)
}
