package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

func releaseCommand(o *app.Options) *cobra.Command {
	by := &request{}
	hash := ""
	c := &cobra.Command{
		Use:   "release RULE|SOURCE|incident:ID",
		Short: "Let the listed subjects pass an open breaker, a freeze or an incident",
		Long: `Release lets exactly the subjects that are held now pass: those of a rule's open breaker,
or those that wait for an untrusted source (tasks, link, events, listing:PROVIDER,
probes:PROVIDER, clock:COLUMN). Without --hash it shows the list and its hash and changes
nothing; with the hash it releases that list, and no other. New subjects trip it again.

An open incident holds further terminations and requeues of its failures. "release incident:ID"
shows what it holds; with --reason it lets all of them go, those that come later as well,
until the incident closes.`,
		Example: `  sandkeeper release orphan
  sandkeeper release orphan --hash 2f9k1 --reason "checked by hand, all from the test run" --for 1h
  sandkeeper release incident:i-3k9f2 --reason "the snapshot is active again"`,
		Args: needs("RULE|SOURCE|incident:ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withLedger(cmd.Context(), o, func(a *app.App) (string, error) {
				if id, incident := reconcile.OfType(reconcile.SubjectIncident, args[0]); incident {
					return releaseIncident(cmd.Context(), a, id, by)
				}
				return release(cmd.Context(), a, args[0], hash, by)
			})
		},
	}
	by.add(c, time.Hour, "how long the release lasts")
	c.Flags().StringVar(&hash, "hash", "", "hash of the list as it was shown")
	return c
}

func release(ctx context.Context, a *app.App, name, hash string, by *request) (string, error) {
	what, subjects, err := heldBy(ctx, a, name)
	if err != nil {
		return "", err
	}
	if len(subjects) == 0 {
		return "", holdsNothing(name, what)
	}
	if of, is := reconcile.ClockProvider(name); is {
		return "", fmt.Errorf("release of %s: it holds nothing; the clock of %s is believed again as soon as it is within "+
			"%s of ours: set the wrong one right", name, of, text.Duration(reconcile.ProviderSkew))
	}
	now := reconcile.SubjectsHash(subjects)
	if hash == "" {
		return fmt.Sprintf("%s\n%s held by %s; release them with: sandkeeper release %s --hash %s --reason …",
			strings.Join(subjects, "\n"), console.Plural(len(subjects), "subject"), what, name, now), nil
	}
	if hash != now {
		return "", fmt.Errorf(
			"release of %s: the list has changed, its hash is %s and not %s; look at it again",
			name,
			now,
			hash,
		)
	}
	at, err := a.Ledger.Now(ctx)
	if err != nil {
		return "", err
	}
	s := by.signature()
	r := reconcile.Release{
		What:     what,
		Subjects: subjects,
		Hash:     now,
		Author:   s.Author,
		Reason:   s.Reason,
		Until:    by.until(at),
	}
	if _, err := a.Ledger.Release(ctx, r); err != nil {
		return "", err
	}
	return fmt.Sprintf("released %s from %s%s", console.Plural(len(subjects), "subject"), what, lasting(r.Until)), nil
}

// holdsNothing is why there is nothing to release: the name is wrong, or it holds nothing now.
func holdsNothing(name, what string) error {
	kinds := []string{reconcile.SourceTasks, reconcile.SourceLink, reconcile.SourceEvents, reconcile.SourceActivity,
		reconcile.SourceListing, reconcile.SourceProbes, reconcile.SourceCredential, reconcile.SourceClock}
	_, breaker := reconcile.OfType(reconcile.SubjectBreaker, what)
	if kind, _ := reconcile.SourceParts(name); !breaker && !slices.Contains(kinds, kind) {
		return fmt.Errorf("no rule or source %q; %s", name, text.Unknown(name, append(kinds, reconcile.RuleNames...)))
	}
	return fmt.Errorf("release of %s: it holds nothing now", name)
}

// heldBy lists what a breaker or an untrusted source holds now.
func heldBy(ctx context.Context, a *app.App, name string) (what string, subjects []string, err error) {
	if rule, _ := reconcile.OfType(reconcile.SubjectBreaker, name); slices.Contains(reconcile.RuleNames, rule) {
		controls, err := a.Ledger.Controls(ctx)
		return reconcile.SubjectOf(reconcile.SubjectBreaker, rule), controls.Breakers[rule].Subjects, err
	}
	findings, err := a.Ledger.OpenFindings(ctx)
	if err != nil {
		return "", nil, err
	}
	for _, f := range findings {
		if f.HeldBy.Has(reconcile.HeldFrozen(name)) && !slices.Contains(subjects, f.Subject) {
			subjects = append(subjects, f.Subject)
		}
	}
	slices.Sort(subjects)
	if len(subjects) > 0 || name == reconcile.SourceTasks || reconcile.IsClock(name) {
		subjects = append(subjects, reconcile.SubjectOf(reconcile.SubjectSource, name)) // these two are accepted as a whole
	}
	return name, subjects, nil
}
