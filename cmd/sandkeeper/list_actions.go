package main

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/result"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/verb"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// stateAll is the state of a list that leaves none out.
const stateAll = "all"

func actionsCommand(o *app.Options) *cobra.Command {
	f := &listFlags{}
	c := &cobra.Command{
		Use:   "actions",
		Short: "List what was done, what is being done, and what became of it",
		Long: `Actions lists the steps that were recorded: the open ones first, then the closed ones, newest first.
A terminate is accepted once the provider took it, and confirmed once the sandbox was seen gone.`,
		Example: `  sandkeeper actions --state open
  sandkeeper actions --rule orphan -o json`,
		Args: verb.Needs(),
		RunE: func(cmd *cobra.Command, _ []string) error { return list(cmd.Context(), o, f, listActions) },
	}
	f.add(c)
	f.addRule(c, reconcile.AskedRules...)
	f.addProvider(c)
	f.addState(c, "open, closed or all (default all)", reconcile.ChosenOpen, reconcile.ChosenClosed, stateAll)
	f.addText(c, "only with this part of a subject, or of the id of its task or sandbox")
	return c
}

// An actionReport is an action as the ledger has it. Its JSON is a public contract.
type actionReport struct {
	ID          string               `json:"id"`
	Rule        string               `json:"rule"`
	Step        reconcile.Step       `json:"step"`
	Outcome     reconcile.Outcome    `json:"outcome"`
	Subject     result.Subject       `json:"subject"`
	Provider    string               `json:"provider,omitempty"`
	Sandbox     string               `json:"sandbox,omitempty"`
	Task        string               `json:"task,omitempty"`
	Reason      string               `json:"reason"`
	Detail      string               `json:"detail,omitempty"`
	By          string               `json:"by,omitempty"` // the operator who asked for it
	Pass        int64                `json:"pass,omitempty"`
	PlannedAt   time.Time            `json:"planned_at"`
	RequestedAt *time.Time           `json:"requested_at,omitempty"`
	ClosedAt    *time.Time           `json:"closed_at,omitempty"`
	Evidence    []reconcile.Evidence `json:"evidence,omitempty"`
}

func listActions(ctx context.Context, a *app.App, f *listFlags) (*listing, error) {
	now, err := a.Ledger.Now(ctx)
	if err != nil {
		return nil, err
	}
	found, more, err := actionsOf(ctx, a, f)
	if err != nil {
		return nil, err
	}
	l := &listing{name: "actions", more: more, narrow: 7, none: "no such action",
		head: []string{"id", "step", "subject", "rule", "outcome", "age", "reason", "detail", "by", "planned", "requested",
			"closed"}}
	items := []actionReport{}
	for i := range found {
		r := actionOf(&found[i])
		items = append(items, r)
		l.rows = append(l.rows, []string{r.ID, string(r.Step), found[i].Subject, r.Rule, string(r.Outcome),
			text.Coarse(now.Sub(r.PlannedAt)), r.Reason, r.Detail, r.By, text.Time(r.PlannedAt), console.Stamp(r.RequestedAt),
			console.Stamp(r.ClosedAt)})
	}
	l.items = items
	return l, nil
}

// actionsOf are the open ones and then the closed ones, as far as both are wanted.
func actionsOf(ctx context.Context, a *app.App, f *listFlags) (all []reconcile.Action, more bool, err error) {
	states := []string{reconcile.ChosenOpen, reconcile.ChosenClosed}
	if f.state != "" && f.state != stateAll {
		states = []string{f.state}
	}
	any := func(*reconcile.Action) bool { return true }
	for _, state := range states {
		c, rest := f.chosen(), *f
		if c.State = state; f.limit > 0 {
			rest.limit = f.limit - len(all)
		}
		if f.limit > 0 && rest.limit == 0 { // full: is there one more?
			c.Most = 1
			next, _, err := a.Ledger.Actions(ctx, c)
			return all, len(next) > 0, err
		}
		found, further, err := chosenParts(&rest, c, any,
			func(c reconcile.Chosen) ([]reconcile.Action, reconcile.Cursor, error) {
				return a.Ledger.Actions(ctx, c)
			})
		if err != nil || further {
			return append(all, found...), further, err
		}
		all = append(all, found...)
	}
	return all, false, nil
}

func actionOf(a *reconcile.Action) actionReport {
	return actionReport{ID: a.ID, Rule: a.Rule, Step: a.Step, Outcome: a.Outcome,
		Subject:  result.SubjectOf(a.Subject, a.Provider),
		Provider: a.Provider, Sandbox: a.Sandbox, Task: a.Task, Reason: a.Reason, Detail: a.Detail,
		By: a.Author, Pass: a.Pass,
		PlannedAt: a.PlannedAt.UTC(), RequestedAt: console.When(a.ActedAt), ClosedAt: console.When(a.ClosedAt),
		Evidence: a.Evidence}
}
