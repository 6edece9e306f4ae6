package main

import (
	"bytes"
	"context"
	"fmt"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/result"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// mostHeldShown is how many of the findings that an incident holds are listed, and of what is done once it does not.
const mostHeldShown = 20

// releaseIncident lets go what an incident holds. Without a reason it shows what that is.
func releaseIncident(ctx context.Context, a *app.App, id string, by *request) (string, error) {
	incident, err := a.Operator().FindIncident(ctx, id)
	if err != nil {
		return "", err
	}
	if !incident.Holds() {
		return "", fmt.Errorf("release of incident %s: it holds nothing, it is %s", id, result.IncidentState(&incident))
	}
	held, err := a.Operator().HeldByIncident(ctx, &incident)
	if err != nil {
		return "", err
	}
	if by.Reason == "" {
		freed, err := a.Operator().FreedLines(ctx, reconcile.SubjectOf(reconcile.SubjectIncident, id), held)
		if err != nil {
			return "", err
		}
		said := []reconcile.Incident{incident}
		err = sayCauses(ctx, a, said)
		return unreleased(&said[0], held, freed), err
	}
	if err := a.Ledger.ReleaseIncident(ctx, id, by.Signed()); err != nil {
		return "", err
	}
	return fmt.Sprintf("released incident %s: %s may go on, within their budgets", id,
		console.Plural(len(held), "subject")), nil
}

// unreleased shows what a release would let go.
func unreleased(i *reconcile.Incident, held, freed []string) string {
	var b bytes.Buffer
	result.IncidentLine(&b, console.Paint{}, result.IncidentOf(i))
	for _, lines := range [][]string{held, freed} {
		for _, line := range lines[:min(len(lines), mostHeldShown)] {
			fmt.Fprintf(&b, "%s\n", text.Line(line))
		}
		if more := len(lines) - mostHeldShown; more > 0 {
			fmt.Fprintf(&b, "… and %d more\n", more)
		}
	}
	fmt.Fprintf(&b, "%s held by it now; release them with: sandkeeper release incident:%s --reason …",
		console.Plural(len(held), "subject"), i.ID)
	return b.String()
}
