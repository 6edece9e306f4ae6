package web

import (
	"fmt"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/web/ui"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

const (
	calmFor  = time.Minute      // without a new failure: a cause that is over hurts nobody any more
	quietFor = 10 * time.Minute // the same where no cause is known that could be seen to be over
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
		Next:     nextForIncident(s.Overview, i),
		Command:  ui.Command("sandkeeper affected %s", i.ID),
		Link:     ui.Link{Text: "Incident " + ui.Name(i.ID), Href: ui.Address("incidents", i.ID)},
	}
	if n > 1 {
		v.Sentence += fmt.Sprintf(" %s more.", ui.Capital(ui.Count(n-1, "incident")))
	}
	return v, true
}

// hurts reports whether an incident is open and users may still be hurt: failures come, or the template that it blames
// cannot be used.
func hurts(o *reconcile.Overview, i *reconcile.Incident) bool {
	quiet := o.Now.Sub(i.LastSeen)
	switch _, again := activeAgain(o, i); {
	case !i.ClosedAt.IsZero():
		return false
	case again:
		return quiet < calmFor
	}
	return quiet < quietFor || slices.ContainsFunc(o.Templates, func(t reconcile.TemplateSeen) bool {
		return t.Provider == i.Provider && unusable(t.State) && (t.Name == i.Template || i.Blames(t.Name))
	})
}

// unusable reports whether a template is known not to be usable.
func unusable(state reconcile.TemplateState) bool {
	return state == reconcile.TemplateInactive || state == reconcile.TemplateFailed || state == reconcile.TemplateMissing
}

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
	_, again := activeAgain(o, i) // both times are told with that
	if span := i.LastSeen.Sub(i.FirstSeen); span >= time.Second && !again {
		what += " within " + text.Coarse(span)
	}
	if i.Cause == "" {
		return what + ". No likely cause was found." + quietWords(o, i)
	}
	return what + ": " + causeWords(o, i)
}

// causeWords are the likely cause, in the past tense once it is over, with the time when it was seen to be.
func causeWords(o *reconcile.Overview, i *reconcile.Incident) string {
	if i.Cause == "" {
		return ""
	}
	t, over := activeAgain(o, i)
	now, other := anotherCause(o, i)
	said := i.Cause
	if !hurts(o, i) || over || other {
		said = i.CauseThen()
	}
	words := text.Plain(said, mostHead) + " (likely cause)."
	if over {
		words += fmt.Sprintf(" The failures were from %s to %s; it is active again, seen %s.",
			text.Time(i.FirstSeen), text.Time(i.LastSeen), text.Time(t.LookedAt))
	}
	if !over && !other {
		words += quietWords(o, i)
	}
	if other && i.ClosedAt.IsZero() {
		words += fmt.Sprintf(" It is %s by now, seen %s.", now.State, text.Time(now.LookedAt))
	}
	return words
}

// quietWords are the times of an incident whose failures ceased; "" while it hurts, and once it is closed.
func quietWords(o *reconcile.Overview, i *reconcile.Incident) string {
	if hurts(o, i) || !i.ClosedAt.IsZero() {
		return ""
	}
	return fmt.Sprintf(" The failures were from %s to %s; none came for %s.", text.Time(i.FirstSeen),
		text.Time(i.LastSeen), text.Coarse(o.Now.Sub(i.LastSeen)))
}

// anotherCause is the template that an incident blames, where it is unusable in another way by now.
func anotherCause(o *reconcile.Overview, i *reconcile.Incident) (reconcile.TemplateSeen, bool) {
	for _, t := range o.Templates {
		same := i.BlamesAs(t.Name, t.State)
		if t.Provider == i.Provider && i.Blames(t.Name) && unusable(t.State) && !same {
			return t, true
		}
	}
	return reconcile.TemplateSeen{}, false
}

// over reports whether the template that an incident blames is active again.
func activeAgain(o *reconcile.Overview, i *reconcile.Incident) (reconcile.TemplateSeen, bool) {
	for _, t := range o.Templates {
		if t.Provider == i.Provider && t.State == reconcile.TemplateActive && i.Blames(t.Name) {
			return t, true
		}
	}
	return reconcile.TemplateSeen{}, false
}

// nextForIncident is what a person does about the cause, then about what the incident holds, and then about the tasks:
// a retry waits for both.
func nextForIncident(o *reconcile.Overview, i *reconcile.Incident) string {
	retry, release, fix := "Retry the affected tasks:", "", "Fix the cause."
	if i.Holds() {
		release = "Release the incident, so that its sandboxes end."
	}
	for _, t := range o.Templates {
		if t.Provider == i.Provider && (t.Name == i.Template || i.Blames(t.Name)) && unusable(t.State) {
			fix = nextForTemplate(o, i.Provider, t.Name)
		}
	}
	if _, over := activeAgain(o, i); over {
		return "The cause is over. " + ui.InOrder(release, retry)
	}
	if !hurts(o, i) {
		return ui.InOrder("Make sure that the cause is gone.", release, retry)
	}
	return ui.InOrder(fix, release, retry)
}
