package web

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/web/fresh"
	"github.com/sandkeeper/sandkeeper/web/ui"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/web/fleet"
)

func noSchema(s *model) (verdict, bool) {
	return verdict{
		Level: ui.Bad, Word: "Not set up",
		Sentence: "The ledger has no schema yet: nothing is being kept in agreement.",
		Next:     "Create it with:", Command: "sandkeeper migrate",
	}, s.Fresh
}

func neverRan(s *model) (verdict, bool) {
	v := verdict{
		Level: ui.Bad, Word: "Never ran",
		Sentence: "No pass was ever complete: nothing is being kept in agreement.",
		Next:     "Start “sandkeeper run”, or “sandkeeper once” by a CronJob. If it is started, read its log.",
	}
	if len(s.Passes) == 0 {
		return v, s.fresh.Never
	}
	newest := s.Passes[0]
	age := s.Now.Sub(newest.BeganAt)
	switch {
	case newest.Error != "":
		v.Sentence = "No pass was ever complete. The last one: " + ui.Sentence(text.Plain(newest.Error, mostHead))
	case newest.EndedAt.IsZero() && age < fresh.Overdue(0):
		v.Level, v.Word, v.Next = ui.Busy, "Starting", ""
		v.Sentence = fmt.Sprintf("The first pass began %s ago.", text.Coarse(age))
	}
	return v, s.fresh.Never
}

func stale(s *model) (verdict, bool) {
	v := verdict{
		Level: ui.Bad, Word: "Not running",
		Sentence: fmt.Sprintf("No complete pass for %s: nothing is being kept in agreement.", text.Coarse(s.fresh.Age)),
		Next: "Make sure that “sandkeeper run”, or the CronJob of “sandkeeper once”, still runs. " +
			"If it does, read its log.",
	}
	switch {
	case s.fresh.Ahead():
		v.Word, v.Sentence = "Clock set back", ui.Sentence(ui.Capital(s.fresh.String()))
		v.Next = "Its age is unknown until the next complete pass. See below whether it comes."
	case s.fresh.Full:
		v.Word = "Full passes missing"
		v.Sentence = fmt.Sprintf(
			"No complete full pass for %s: what only a listing shows, like orphans, is not found.", text.Coarse(s.fresh.Age))
		v.Next = "The passes below say why the last full one is not complete."
		if lost := fleet.Unlisted(s.Sources); len(lost) > 0 && len(lost) < len(s.policy.Providers) {
			v.Sentence = fmt.Sprintf("No complete full pass for %s, for want of the listing of %s. "+
				"What only that shows, like orphans, is not found.", text.Coarse(s.fresh.Age), text.Plain(strings.Join(lost, ", "),
				mostHolding))
			v.Next, v.Command = "Make sure that the provider is up, then run:", "sandkeeper check"
		}
	}
	return v, !s.fresh.OK()
}

func incomplete(s *model) (verdict, bool) {
	p, ok := lastIncomplete(s.Passes)
	if p.Unlisted() && len(fleet.Unlisted(s.Sources)) > 0 {
		ok = false // the frozen listing says more
	}
	why := text.Plain(p.Error, mostHead)
	if why == "" {
		why = "it does not say why"
	}
	return verdict{
		Level: ui.Bad, Word: "Not complete",
		Sentence: fmt.Sprintf("The last %s pass was not complete: %s", p.Kind, ui.Sentence(why)),
	}, ok
}

// lastIncomplete is the newest pass of a kind, when it ended without being complete. A full
// pass is a quick one too.
func lastIncomplete(newest []reconcile.PassSeen) (reconcile.PassSeen, bool) {
	quickDone := false
	for _, p := range newest {
		switch {
		case p.EndedAt.IsZero(), p.Kind == reconcile.Quick && quickDone:
			continue
		case !p.Complete:
			return p, true
		case p.Kind == reconcile.Full:
			return reconcile.PassSeen{}, false
		}
		quickDone = true
	}
	return reconcile.PassSeen{}, false
}

func tripped(s *model) (verdict, bool) {
	rules := slices.Sorted(maps.Keys(s.Controls.Breakers))
	if len(rules) == 0 {
		return verdict{}, false
	}
	b := s.Controls.Breakers[rules[0]]
	v := verdict{
		Level: ui.Warn, Word: "Circuit breaker open",
		Sentence: fmt.Sprintf("%s wants to act on %s at once%s.", ui.Capital(ui.Name(b.Rule)),
			ui.Count(len(b.Subjects), "subject"), reconcile.FirstOf(colon(breakerWhy(s.Overview, b)), ", more than its limit")),
		Next: "Nothing of it is done. Review the list, then release it.",
		Link: ui.Link{Text: "Review the list", Href: "stops"},
	}
	if len(rules) > 1 {
		v.Sentence += fmt.Sprintf(" %s more.", ui.Capital(ui.Count(len(rules)-1, "breaker")))
	}
	return v, true
}

func releaseCommand(b reconcile.Breaker) string {
	return ui.Command("sandkeeper release %s --hash %s", b.Rule, b.Hash)
}

func repairing(s *model) (verdict, bool) {
	n := s.steps.awake()
	return verdict{
		Level: ui.Busy, Word: "Repairing",
		Sentence: fmt.Sprintf("%s %s under way.", ui.Capital(ui.Count(n, "repair step")), ui.Verb(n, "is", "are")),
	}, n > 0
}

// settling are the due findings about which something was done since a pass saw them. The next pass looks whether they
// are over.
func settling(s *model) (verdict, bool) {
	n := s.findings.dueAnd(awaited)
	return verdict{
		Level: ui.Busy, Word: "Acted on",
		Sentence: fmt.Sprintf("%s %s acted on; the next pass looks again. %s", ui.Capital(ui.Count(n, "finding")),
			ui.Verb(n, "was", "were"), lastFullPass(s.Overview)),
	}, n > 0
}

// resting are the due findings whose sandboxes are in quarantine: they stop costing, can come back, and nothing is to
// be done until their time is over.
func resting(s *model) (verdict, bool) {
	n := s.findings.dueAnd(underWay)
	return verdict{
		Level: ui.Well, Word: "In quarantine",
		Sentence: fmt.Sprintf("Nothing else is due. What is wrong with %s is in quarantine, and can be brought back. %s",
			ui.Count(n, "finding"), lastFullPass(s.Overview)),
	}, n > 0
}

// dueAnd is how many findings are due and in this state.
func (s *findings) dueAnd(in state) (n int) {
	for i := range s.Findings {
		n += truth(s.Findings[i].Due && s.states.of(&s.Findings[i]) == in)
	}
	return n
}

// watching are suspicions that are not past their thresholds.
func watching(s *model) (verdict, bool) {
	n := total(s.FindingsOpen)
	return verdict{
		Level: ui.Well, Word: "Watching",
		Sentence: fmt.Sprintf("Nothing is due. %s %s being watched. %s", ui.Capital(ui.Count(n, "suspicion")),
			ui.Verb(n, "is", "are"), lastFullPass(s.Overview)),
	}, n > 0
}

// unseen: suspects could not be looked at, so that nobody knows whether they are well. A pass later they are looked at
// again.
func unseen(s *model) (verdict, bool) {
	n := 0
	var at []string
	for _, key := range slices.Sorted(maps.Keys(s.Counts)) {
		if of := reconcile.ParseCount(key); of.What == reconcile.CountBlind && s.Counts[key] > 0 {
			n, at = n+s.Counts[key], append(at, of.Provider)
		}
	}
	return verdict{
		Level: ui.Warn, Word: "Not known",
		Sentence: fmt.Sprintf("%s could not be looked at, for the looks at %s failed: whether %s well is not known. %s",
			ui.Capital(ui.Count(n, "suspect")), text.Plain(strings.Join(at, ", "), mostHolding), ui.Verb(n, "it is", "they are"),
			lastFullPass(s.Overview)),
		Next: "Passes look again; their log says why a look failed. Make sure that the credential may read single " +
			"sandboxes, then run:",
		Command: "sandkeeper check",
	}, n > 0
}
