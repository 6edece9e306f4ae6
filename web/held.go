package web

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/sandkeeper/sandkeeper/web/ui"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A heldGroup is one thing that holds due findings.
type heldGroup struct {
	Key      string
	By       string // as plan and metrics say it: "observe", "budget: per_pass 20"
	Means    string // for people, "" when By says it
	Count    string
	Subjects []ui.Cell // each with its rule
	More     string

	number int
	held   reconcile.Held
}

// mostSubjects is how many subjects a group names.
const mostSubjects = 20

// heldGroups are the due findings by what holds them, the largest group first.
func heldGroups(o *reconcile.Overview) []heldGroup {
	subjects, means, kinds := map[string][]ui.Cell{}, map[string]string{}, map[string]reconcile.Held{}
	for i := range o.Findings {
		f := &o.Findings[i]
		for _, held := range f.HeldBy {
			if f.Due {
				by := ui.Line(held.String())
				means[by], kinds[by] = heldMeans(held), held
				subjects[by] = append(subjects[by], ui.Cell{More: []ui.Cell{ui.RuleCell(f.Rule), {Text: ": "}, findingSubject(f)}})
			}
		}
	}
	var groups []heldGroup
	for by, of := range subjects {
		g := heldGroup{Key: by, By: by, Means: means[by], Count: ui.Count(len(of), "finding"), number: len(of),
			held: kinds[by]}
		g.Subjects = of[:min(len(of), mostSubjects)]
		if left := len(of) - len(g.Subjects); left > 0 {
			g.More = fmt.Sprintf("And %d more.", left)
		}
		groups = append(groups, g)
	}
	slices.SortFunc(groups, func(a, b heldGroup) int {
		return cmp.Or(cmp.Compare(b.number, a.number), cmp.Compare(a.By, b.By))
	})
	return groups[:min(len(groups), mostGroups)]
}

// heldMeans explains what holds to those who do not know its name, and says what lets go.
func heldMeans(by reconcile.Held) string {
	switch by.Kind {
	case reconcile.HeldObserve:
		return "The rule only looks. It acts once its mode is enforce in the config."
	case reconcile.HeldOff:
		return "The rule was switched off."
	case reconcile.HeldRollout:
		return "Not among the share of subjects that the rule may act on yet."
	case reconcile.HeldBudget:
		return "The budget is used up. It goes on by itself, with the next pass or hour."
	case reconcile.HeldBreaker:
		return "Too many at once. An operator reviews and releases them."
	case reconcile.HeldVeto:
		return "Another finding forbids to touch the row."
	case reconcile.HeldIncident:
		return "Many failures of this kind have one cause. It goes on once the incident closes or is released."
	case reconcile.HeldQuarantine:
		return "What cannot be stopped or paused cannot come back. Set remedy to terminate, or terminate it by hand."
	case reconcile.HeldFreeze:
		return fmt.Sprintf("%s %s not trusted. It goes on by itself when that is over.",
			ui.Capital(sourceWords(by.What)), areOrIs(by.What))
	case reconcile.HeldUnproven:
		return "The rule has not shown on your own history that it is right often enough. Raise its threshold, wait " +
			"for more cases, or run: sandkeeper arm RULE --unproven"
	case reconcile.HeldSilence:
		return "Only silence speaks for it. It goes on once a failed probe agrees."
	}
	return ""
}
