package main

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/result"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/verb"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

func findingsCommand(o *app.Options) *cobra.Command {
	f := &listFlags{}
	c := &cobra.Command{
		Use:   "findings",
		Short: "List what is not in agreement, and what holds its repair",
		Long: `Findings lists the open findings as the last pass left them, newest first. Due ones are past their
threshold and nothing holds them; held ones wait for what is named; watched ones are not
past their threshold yet. --state resolved lists those that are over.`,
		Example: `  sandkeeper findings --state held --held-by budget
  sandkeeper findings --rule orphan --provider daytona -o json`,
		Args: verb.Needs(),
		RunE: func(cmd *cobra.Command, _ []string) error { return list(cmd.Context(), o, f, listFindings) },
	}
	f.add(c)
	f.addRule(c)
	f.addProvider(c)
	f.addState(c, "open, due, held, watched or resolved (default open)", reconcile.ChosenOpen, reconcile.ChosenDue,
		reconcile.ChosenHeld, reconcile.ChosenWatched, reconcile.ChosenResolved)
	f.addHeldBy(c)
	f.addTemplate(c)
	f.addText(c, "only with this part of a subject, or of the id of its task or sandbox")
	return c
}

// A foundReport is a finding as the ledger has it. Its JSON is a public contract.
type foundReport struct {
	Rule       string               `json:"rule"`
	Subject    result.Subject       `json:"subject"`
	Provider   string               `json:"provider,omitempty"`
	Sandbox    string               `json:"sandbox,omitempty"`
	Task       string               `json:"task,omitempty"`
	State      string               `json:"state"` // due, held, watched or resolved
	Reason     string               `json:"reason"`
	HeldBy     reconcile.HeldBy     `json:"held_by,omitempty"`
	Incident   string               `json:"incident,omitempty"`
	Sightings  int                  `json:"sightings,omitempty"`
	OpenedAt   time.Time            `json:"opened_at"`
	ResolvedAt *time.Time           `json:"resolved_at,omitempty"`
	Evidence   []reconcile.Evidence `json:"evidence,omitempty"`
}

func listFindings(ctx context.Context, a *app.App, f *listFlags) (*listing, error) {
	now, controls, err := controlsNow(ctx, a)
	if err != nil {
		return nil, err
	}
	c := f.chosen()
	if c.State = f.state; c.State == reconcile.ChosenOpen {
		c.State = ""
	}
	found, more, err := chosenParts(f, c,
		func(*reconcile.FindingSeen) bool { return true },
		func(c reconcile.Chosen) ([]reconcile.FindingSeen, reconcile.Cursor, error) {
			return a.Ledger.Findings(ctx, c)
		})
	if err == nil && len(found) == 0 {
		err = unheard(ctx, a, &c)
	}
	if err != nil {
		return nil, err
	}
	l := &listing{name: "findings", more: more, narrow: 6, none: "no such finding",
		head: []string{"rule", "subject", "state", "age", "reason", "held by", "task", "sandbox", "incident", "sightings",
			"opened"}}
	items := []foundReport{}
	for i := range found {
		r := foundOf(&found[i], &controls)
		items = append(items, r)
		l.rows = append(l.rows, []string{r.Rule, found[i].Subject, r.State, text.Coarse(now.Sub(r.OpenedAt)), r.Reason,
			r.HeldBy.String(), r.Task, r.Sandbox, r.Incident, strconv.Itoa(r.Sightings), text.Time(r.OpenedAt)})
	}
	l.items = items
	return l, nil
}

func foundOf(f *reconcile.FindingSeen, c *reconcile.Controls) foundReport {
	held := slices.Clone(f.HeldBy)
	result.Date(held, c)
	return foundReport{Rule: f.Rule, Subject: result.SubjectOf(f.Subject, f.Provider), Provider: f.Provider,
		Sandbox: f.Sandbox, Task: f.Task, State: findingState(f), Reason: f.Reason, HeldBy: held, Incident: f.Incident,
		Sightings: f.Sightings, OpenedAt: f.OpenedAt.UTC(), ResolvedAt: console.When(f.ResolvedAt), Evidence: f.Evidence}
}

// findingState is one word for where a finding is.
func findingState(f *reconcile.FindingSeen) string {
	switch {
	case !f.ResolvedAt.IsZero():
		return reconcile.ChosenResolved
	case !f.Due:
		return reconcile.ChosenWatched
	case len(f.HeldBy) > 0:
		return reconcile.ChosenHeld
	}
	return reconcile.ChosenDue
}

// controlsNow are the operators' requests in force, and the ledger's now.
func controlsNow(ctx context.Context, a *app.App) (time.Time, reconcile.Controls, error) {
	now, err := a.Ledger.Now(ctx)
	if err != nil {
		return now, reconcile.Controls{}, err
	}
	c, err := a.Ledger.Controls(ctx)
	return now, c, err
}
