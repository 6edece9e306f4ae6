package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// Release lets the subjects that a name holds pass, when the hash is that of the list; without one it shows the list.
// Where only names some of them, those alone pass.
func (a Operator) Release(ctx context.Context, name, hash string, only []string, by *Request) (string, error) {
	what, subjects, err := a.HeldBy(ctx, name)
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
		freed, err := a.FreedLines(ctx, name, subjects)
		if err != nil {
			return "", err
		}
		return fmt.Sprintf("%s\n%s held by %s; release them with: sandkeeper release %s --hash %s --reason …",
			strings.Join(slices.Concat(subjects, freed), "\n"), console.Plural(len(subjects), "subject"), what, name, now), nil
	}
	if hash != now {
		return "", fmt.Errorf(
			"release of %s: the list has changed, its hash is %s and not %s; look at it again",
			name,
			now,
			hash,
		)
	}
	if subjects, err = chosen(name, subjects, only); err != nil {
		return "", err
	}
	at, err := a.Ledger.Now(ctx)
	if err != nil {
		return "", err
	}
	s := by.Signed()
	r := reconcile.Release{
		What:     what,
		Subjects: subjects,
		Hash:     reconcile.SubjectsHash(subjects),
		Author:   s.Author,
		Reason:   s.Reason,
		Until:    by.Until(at),
	}
	if _, err := a.Ledger.Release(ctx, r); err != nil {
		return "", err
	}
	return fmt.Sprintf("released %s from %s%s", console.Plural(len(subjects), "subject"), what, Lasting(r.Until)), nil
}

// chosen are those of the held subjects that only names, all of them where it names none. What it names and is not held
// is refused: somebody meant another list.
func chosen(name string, all, only []string) ([]string, error) {
	if len(only) == 0 {
		return all, nil
	}
	for _, subject := range only {
		if !slices.Contains(all, subject) {
			return nil, misuse(fmt.Errorf("release of %s: it does not hold %q", name, text.Clip(subject, 100)))
		}
	}
	out := slices.Clone(only)
	slices.Sort(out)
	return slices.Compact(out), nil
}

// holdsNothing is why there is nothing to release: the name is wrong, or it holds nothing now.
func holdsNothing(name, what string) error {
	kinds := []string{reconcile.SourceTasks, reconcile.SourceLink, reconcile.SourceEvents, reconcile.SourceActivity,
		reconcile.SourceListing, reconcile.SourceProbes, reconcile.SourceCredential, reconcile.SourceClock}
	_, breaker := reconcile.OfType(reconcile.SubjectBreaker, what)
	if kind, _ := reconcile.SourceParts(name); !breaker && !slices.Contains(kinds, kind) {
		return misuse(fmt.Errorf("no rule or source %q; %s", name, text.Unknown(name, append(kinds, reconcile.RuleNames...))))
	}
	return fmt.Errorf("release of %s: it holds nothing now", name)
}

// HeldBy lists what a breaker or an untrusted source holds now.
func (a Operator) HeldBy(ctx context.Context, name string) (what string, subjects []string, err error) {
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
	open, err := a.Ledger.OpenActions(ctx)
	if err != nil {
		return "", nil, err
	}
	now, err := a.Ledger.Now(ctx)
	if err != nil {
		return "", nil, err
	}
	for i := range open {
		if s := &open[i]; s.EndHeldBy(name, now) && !slices.Contains(subjects, s.Subject) {
			subjects = append(subjects, s.Subject)
		}
	}
	slices.Sort(subjects)
	if len(subjects) > 0 || name == reconcile.SourceTasks || reconcile.IsClock(name) {
		subjects = append(subjects, reconcile.SubjectOf(reconcile.SubjectSource, name)) // these two are accepted as a whole
	}
	return name, subjects, nil
}

// HeldByIncident are the subjects that wait for the incident now: of findings, and of steps
// whose row is over.
func (a Operator) HeldByIncident(ctx context.Context, incident *reconcile.Incident) ([]string, error) {
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

// FindIncident reads an incident by its id.
func (a Operator) FindIncident(ctx context.Context, id string) (reconcile.Incident, error) {
	incident, err := a.Ledger.Incident(ctx, id)
	if errors.Is(err, reconcile.ErrNotFound) {
		return incident, fmt.Errorf("incident %s: not on record; `sandkeeper affected` lists them", id)
	}
	return incident, err
}
