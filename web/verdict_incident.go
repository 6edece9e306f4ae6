package web

import (
	"fmt"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/web/ui"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// failing are open incidents that still hurt: many failures of work with one cause.
func failing(s *model) (verdict, bool) {
	return s.incidentVerdict(ui.Bad, "Incident", func(i *reconcile.Incident) bool { return hurts(s.Overview, i) })
}

// ceased are those of which the cause is over, and that hold something until somebody lets go.
func ceased(s *model) (verdict, bool) {
	return s.incidentVerdict(ui.Warn, "Incident over",
		func(i *reconcile.Incident) bool { return i.Holds() && !hurts(s.Overview, i) })
}

// quieted are those of which the cause is over and that an operator released: nothing is wrong, and they are open yet.
func quieted(s *model) (verdict, bool) {
	return s.incidentVerdict(ui.Set, "Incident over", func(i *reconcile.Incident) bool {
		return i.ClosedAt.IsZero() && !hurts(s.Overview, i)
	})
}

// incidentVerdict is of the incidents that are asked for, of the oldest by name.
func (s *model) incidentVerdict(l ui.Level, word string, asked func(*reconcile.Incident) bool) (verdict, bool) {
	n, first := 0, -1
	for i := range s.Incidents {
		if !asked(&s.Incidents[i]) {
			continue
		}
		if n++; first < 0 || s.Incidents[i].Holds() && !s.Incidents[first].Holds() {
			first = i // the oldest, of those that hold something if there are any
		}
	}
	if n == 0 {
		return verdict{}, false
	}
	i := &s.Incidents[first]
	v := verdict{
		Level: l, Word: word,
		Sentence: alike(s.Overview, i),
		Next:     whenAndNext(s, i),
		Command:  ui.Command("sandkeeper affected %s", i.ID),
		Link:     ui.Link{Text: "Incident " + ui.Name(i.ID), Href: ui.Address("incidents", i.ID)},
	}
	if n > 1 {
		v.Sentence += fmt.Sprintf(" %s more.", ui.Capital(ui.Count(n-1, "incident")))
	}
	return v, true
}

func hurts(o *reconcile.Overview, i *reconcile.Incident) bool { return i.Hurts(o.Now, o.Templates) }

// failureWords are how many failures an incident has, and what they are.
func failureWords(i *reconcile.Incident) string {
	if i.Rule == "assigned-stale" {
		return ui.Count(i.Count, "task") + " failed to start"
	}
	return ui.Count(i.Count, "failure") + " of " + ui.Name(i.Rule)
}

// alike says how many failures are one, and why.
func alike(o *reconcile.Overview, i *reconcile.Incident) string {
	what := failureWords(i)
	cause, times := i.CauseNow(o.Now, o.Templates)
	if span := i.LastSeen.Sub(i.FirstSeen); span >= time.Second && times == "" {
		what += " within " + text.Coarse(span)
	}
	if i.Cause == "" {
		return what + ". No likely cause was found."
	}
	return what + ": " + likely(cause)
}

// likely is a cause as what it is, cut where it is very long.
func likely(cause string) string { return text.Plain(cause, mostHead) + " (likely cause)." }

// causeWords are the likely cause, in the past tense once it is over, with the times of it.
func causeWords(o *reconcile.Overview, i *reconcile.Incident) string {
	cause, times := i.CauseNow(o.Now, o.Templates)
	if cause == "" {
		return ""
	}
	return strings.TrimSpace(likely(cause) + " " + times)
}

// whenAndNext are the times of what is over, and what a person does now.
func whenAndNext(s *model, i *reconcile.Incident) string {
	_, times := i.CauseNow(s.Now, s.Templates)
	return strings.TrimSpace(times + " " + nextForIncident(s, i))
}

// nextForIncident is what a person does about the cause, then about what the incident holds, and then about the tasks:
// a retry waits for both.
func nextForIncident(s *model, i *reconcile.Incident) string {
	retry, release, fix := "Retry the affected tasks:", "", "Fix the cause."
	if i.Holds() {
		release = "Release the incident."
		if s.waitsFor(i) {
			release = "Release the incident, so that what it holds goes on."
		}
	}
	for _, t := range s.Templates {
		if t.Provider == i.Provider && (t.Name == i.Template || i.Blames(t.Name)) && t.State.Unusable() {
			fix = nextForTemplate(s.Overview, i.Provider, t.Name)
		}
	}
	if _, over := i.ActiveAgain(s.Templates); over {
		return "The cause is over. " + ui.InOrder(release, retry)
	}
	if !hurts(s.Overview, i) {
		return ui.InOrder("Make sure that the cause is gone.", release, retry)
	}
	return ui.InOrder(fix, release, retry)
}
