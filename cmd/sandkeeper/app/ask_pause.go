package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// PauseOf stops acting on what the arguments mean.
func (a Operator) PauseOf(ctx context.Context, args []string, by *Request) (string, error) {
	now, err := a.Ledger.Now(ctx)
	if err != nil {
		return "", err
	}
	scope, err := a.PauseScope(args)
	if err != nil {
		return "", err
	}
	s := by.Signed()
	p := reconcile.Pause{Scope: scope, Author: s.Author, Reason: s.Reason, Until: by.Until(now)}
	return "paused " + scope + Lasting(p.Until), a.Ledger.Pause(ctx, p)
}

// Resume ends the pause of what the arguments mean.
func (a Operator) Resume(ctx context.Context, args []string, by *Request) (string, error) {
	scope, err := a.PauseScope(args)
	if err != nil {
		return "", err
	}
	err = a.Ledger.Resume(ctx, scope, by.Signed())
	if errors.Is(err, reconcile.ErrNotFound) {
		err = notPaused(scope)
	}
	return "resumed " + scope, err
}

// PauseScope is what a pause is about; "rule orphan" is as good as "rule:orphan". A rule or a
// provider that does not exist is refused: the pause would hold nothing.
func (a Operator) PauseScope(args []string) (string, error) {
	scope := reconcile.FirstOf(strings.Join(args, ":"), "all")
	of := reconcile.ParseSubject(scope)
	rule, provider := of.Type == reconcile.SubjectRule, of.Type == reconcile.SubjectProvider
	switch {
	case scope == "all", rule && slices.Contains(reconcile.RuleNames, of.ID), provider && a.Config.HasProvider(of.ID):
		return scope, nil
	case rule:
		return "", UnknownRule(of.ID)
	case provider:
		return "", a.UnknownProvider(of.ID)
	case slices.Contains(reconcile.RuleNames, scope):
		return reconcile.SubjectOf(reconcile.SubjectRule, scope), nil
	}
	return "", misuse(fmt.Errorf("%q is nothing that can be paused: say all, rule:NAME or provider:NAME", scope))
}

// UnknownRule says that no rule has the name, with the one that was probably meant.
func UnknownRule(name string) error {
	return misuse(fmt.Errorf("no rule %q; %s", name, text.Unknown(name, reconcile.RuleNames)))
}

// Lasting says until when; "" for no end.
func Lasting(until time.Time) string {
	if until.IsZero() {
		return ""
	}
	return " until " + text.Time(until)
}

func notPaused(scope string) error {
	if scope == "all" {
		return errors.New("nothing is paused as a whole; a pause of a rule or provider is resumed by its name")
	}
	return fmt.Errorf("%s is not paused", scope)
}
