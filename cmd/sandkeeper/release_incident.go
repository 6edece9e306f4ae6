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

// mostHeldShown is how many of the findings that an incident holds are listed.
const mostHeldShown = 20

// releaseIncident lets go what an incident holds. Without a reason it shows what that is.
func releaseIncident(ctx context.Context, a *app.App, id string, by *request) (string, error) {
	incident, err := a.FindIncident(ctx, id)
	if err != nil {
		return "", err
	}
	if !incident.Holds() {
		return "", fmt.Errorf("release of incident %s: it holds nothing, it is %s", id, result.IncidentState(&incident))
	}
	held, err := a.HeldByIncident(ctx, &incident)
	if err != nil {
		return "", err
	}
	if by.Reason == "" {
		return unreleased(&incident, held), nil
	}
	if err := a.Ledger.ReleaseIncident(ctx, id, by.Signed()); err != nil {
		return "", err
	}
	return fmt.Sprintf("released incident %s: %s may go on, within their budgets", id,
		console.Plural(len(held), "subject")), nil
}

// unreleased shows what a release would let go.
func unreleased(i *reconcile.Incident, held []string) string {
	var b bytes.Buffer
	result.IncidentLine(&b, console.Paint{}, result.IncidentOf(i))
	for _, subject := range held[:min(len(held), mostHeldShown)] {
		fmt.Fprintf(&b, "%s\n", text.Line(subject))
	}
	if more := len(held) - mostHeldShown; more > 0 {
		fmt.Fprintf(&b, "… and %d more\n", more)
	}
	fmt.Fprintf(&b, "%s held by it now; release them with: sandkeeper release incident:%s --reason …",
		console.Plural(len(held), "subject"), i.ID)
	return b.String()
}
