package main

import (
	"context"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/result"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/verb"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// allIncidents is how many incidents are read: the ledger keeps few.
const allIncidents = 10_000

func incidentsCommand(o *app.Options) *cobra.Command {
	f := &listFlags{}
	c := &cobra.Command{
		Use:   "incidents",
		Short: "List failures that have one cause",
		Long: `Incidents lists many failures of one kind as one thing, with the likely cause: the open ones first.
One that holds keeps further terminations and requeues of its failures from being done, until
it closes or is released. Its tasks: sandkeeper affected ID.`,
		Example: "  sandkeeper incidents --state holds\n  sandkeeper incidents -o yaml",
		Args:    verb.Needs(),
		RunE:    func(cmd *cobra.Command, _ []string) error { return list(cmd.Context(), o, f, listIncidentRows) },
	}
	f.add(c)
	f.addRule(c)
	f.addProvider(c)
	f.addState(c, "open, holds, released, closed or all (default all)", reconcile.ChosenOpen, "holds", "released",
		"closed", stateAll)
	f.addText(c, "only with this part of the id, the cause, the error or the template")
	return c
}

func listIncidentRows(ctx context.Context, a *app.App, f *listFlags) (*listing, error) {
	found, err := a.Ledger.Incidents(ctx, allIncidents)
	if err != nil {
		return nil, err
	}
	l := &listing{name: "incidents", narrow: 6, none: "no such incident",
		head: []string{"id", "state", "rule", "failures", "last", "cause", "provider", "template", "first", "closed", "cost"}}
	var chosen []reconcile.Incident
	for i := range found {
		if f.choosesIncident(&found[i]) {
			chosen = append(chosen, found[i])
		}
	}
	chosen, l.more = cutList(f, chosen)
	if err := sayCauses(ctx, a, chosen); err != nil {
		return nil, err
	}
	items := result.IncidentsOf(chosen)
	l.items = items
	for _, r := range items {
		l.rows = append(l.rows, []string{r.ID, r.State, r.Rule, strconv.Itoa(r.Count), text.Time(r.LastSeen),
			reconcile.FirstOf(r.Cause, r.Error, "no likely cause found"), r.Provider, r.Template, text.Time(r.FirstSeen),
			console.Stamp(r.ClosedAt), r.Cost.String()})
	}
	return l, nil
}

// sayCauses puts the cause of each in the tense of now, by the templates that they blame.
func sayCauses(ctx context.Context, a *app.App, all []reconcile.Incident) error {
	now, err := a.Ledger.Overview(ctx, 1)
	for i := range all {
		all[i].Cause = all[i].CauseSaid(now.Now, now.Templates)
	}
	return err
}

func (f *listFlags) choosesIncident(i *reconcile.Incident) bool {
	state := result.IncidentState(i)
	is := f.state == "" || f.state == stateAll || f.state == state || f.state == reconcile.ChosenOpen &&
		i.ClosedAt.IsZero()
	said := strings.Join([]string{i.ID, i.Cause, i.Error, i.Template}, "\n")
	return is && (f.rule == "" || f.rule == i.Rule) && (f.provider == "" || f.provider == i.Provider) &&
		strings.Contains(said, f.text)
}
