package main

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// mostHeldShown is how many of the findings that an incident holds are listed.
const mostHeldShown = 20

// releaseIncident lets go what an incident holds. Without a reason it shows what that is.
func releaseIncident(ctx context.Context, a *app.App, id string, by *request) (string, error) {
	incident, err := findIncident(ctx, a, id)
	if err != nil {
		return "", err
	}
	if !incident.Holds() {
		return "", fmt.Errorf("release of incident %s: it holds nothing, it is %s", id, incidentState(&incident))
	}
	held, err := heldByIncident(ctx, a, &incident)
	if err != nil {
		return "", err
	}
	if by.reason == "" {
		return unreleased(&incident, held), nil
	}
	if err := a.Ledger.ReleaseIncident(ctx, id, by.signature()); err != nil {
		return "", err
	}
	return fmt.Sprintf("released incident %s: %s may go on, within their budgets", id,
		console.Plural(len(held), "subject")), nil
}

// heldByIncident are the subjects that wait for the incident now: of findings, and of steps
// whose row is over.
func heldByIncident(ctx context.Context, a *app.App, incident *reconcile.Incident) ([]string, error) {
	findings, err := a.Ledger.OpenFindings(ctx)
	if err != nil {
		return nil, err
	}
	open, err := a.Ledger.OpenActions(ctx)
	if err != nil {
		return nil, err
	}
	var subjects []string
	for i := range open {
		step := &open[i]
		waits := step.Seq > 0 && step.Signature == incident.Signature && step.Attempts == 0
		if waits && !slices.Contains(subjects, step.Subject) {
			subjects = append(subjects, step.Subject)
		}
	}
	for _, f := range findings {
		by, held := f.HeldBy.Of(reconcile.HeldIncident)
		if held && by.What == incident.ID && !slices.Contains(subjects, f.Subject) {
			subjects = append(subjects, f.Subject)
		}
	}
	slices.Sort(subjects)
	return subjects, nil
}

// unreleased shows what a release would let go.
func unreleased(i *reconcile.Incident, held []string) string {
	var b bytes.Buffer
	incidentLine(&b, console.Paint{}, incidentOf(i))
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
