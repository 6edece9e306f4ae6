package web

import (
	"fmt"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/web/ui"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// An incidentView is many failures with one cause, as one thing. Its findings are folded
// under it.
type incidentView struct {
	Key      string
	ID       string
	Level    ui.Level
	State    string // "open", "open, released by ana", "closed"
	Rule     string
	Means    string
	Where    string // "at daytona, template ai-agent-dev-light"
	Count    string // "37 failures"
	Cause    string // the probable one; says so when nothing stands out
	Error    string // what they have in common
	Span     string // ", 2 h 3 min after the first."
	First    ui.Moment
	Last     ui.Moment
	Closed   ui.Moment
	Cost     string // "$1.24", "" when nothing was measured
	Holds    string // what it keeps from being done, or who let it go
	Release  string // the command that lets go, "" when there is nothing to let go
	Affected string // the command that lists its tasks
	Evidence []ui.EvidenceLine

	Findings string // "12 findings: 3 held, 9 watched", "" when none is open
	Reasons  []ui.Repeated
	More     string
}

// mostReasons is how many reasons of an incident are shown.
const mostReasons = 5

func (s *findings) incident(i *reconcile.Incident) incidentView {
	v := incidentView{
		Key: ui.Name(i.ID), ID: ui.Name(i.ID), Rule: ui.Name(i.Rule), Means: means(i.Rule),
		Where: placeOf(i), Count: failureWords(i), Cause: causeOf(s.Overview, i), Error: ui.Line(i.Error),
		First: ui.Ago(i.FirstSeen, s.Now), Last: ui.Ago(i.LastSeen, s.Now), Closed: ui.Ago(i.ClosedAt, s.Now),
		Span: between(i.FirstSeen, i.LastSeen), Cost: ui.Dollars(i.Cost), Evidence: ui.EvidenceLines(i.Evidence),
		Affected: ui.Command("sandkeeper affected %s", i.ID),
	}
	v.Level, v.State = stateOfIncident(s.Overview, i)
	v.Holds = holdsOf(i)
	if i.Holds() {
		v.Release = ui.Command("sandkeeper release incident:%s", i.ID)
	}
	s.fold(&v, s.members[i.ID])
	return v
}

// between ends the sentence on the last failure with how long after the first it came.
func between(first, last time.Time) string {
	if first.IsZero() || !last.After(first) {
		return "."
	}
	return ", " + text.Coarse(last.Sub(first)) + " after the first."
}

// fold puts the findings of the incident under it.
func (s *findings) fold(v *incidentView, of []*reconcile.FindingSeen) {
	if len(of) == 0 {
		return
	}
	states := map[state]int{}
	for _, f := range of {
		states[s.states.of(f)]++
	}
	v.Findings = ui.Count(len(of), "open finding") + ": " + stateWords(states)
	reasons := make([]string, len(of))
	for i, f := range of {
		reasons[i] = f.Reason
	}
	v.Reasons, v.More = ui.Alike("reason", reasons, mostReasons)
}

// placeOf is where the failures are.
func placeOf(i *reconcile.Incident) string {
	var words []string
	if i.Provider != "" {
		words = append(words, "at "+ui.Name(i.Provider))
	}
	if i.Template != "" {
		words = append(words, "template "+ui.Name(i.Template))
	}
	return strings.Join(words, ", ")
}

func causeOf(o *reconcile.Overview, i *reconcile.Incident) string {
	if i.Cause == "" {
		return "No likely cause found: they share nothing that healthy tasks do not."
	}
	return ui.Capital(causeWords(o, i))
}

// stateOfIncident is how bad an incident is, and what became of it: red as long as it hurts, amber while it holds.
func stateOfIncident(o *reconcile.Overview, i *reconcile.Incident) (ui.Level, string) {
	released := !i.ReleasedAt.IsZero()
	switch {
	case !i.ClosedAt.IsZero():
		return ui.Calm, "closed"
	case hurts(o, i) && released:
		return ui.Bad, "open, released"
	case hurts(o, i):
		return ui.Bad, "open"
	case released:
		return ui.Set, "over, released"
	}
	return ui.Warn, "over, on hold"
}

// holdsOf says what the incident keeps from being done.
func holdsOf(i *reconcile.Incident) string {
	switch {
	case !i.ClosedAt.IsZero():
		return "It holds nothing any more."
	case !i.ReleasedAt.IsZero():
		return ui.Sentence("It holds nothing: released" + signed(i.ReleasedBy.Author, i.ReleasedBy.Reason))
	}
	return "It holds every further termination and requeue of this kind. It closes once such failures cease, or an " +
		"operator releases it. Tasks are still marked failed, within the budgets."
}

// stateWords are the states by number, the most urgent first.
func stateWords(states map[state]int) string {
	var words []string
	for _, one := range byUrgency {
		if n := states[one]; n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n, one.Word()))
		}
	}
	return strings.Join(words, ", ")
}
