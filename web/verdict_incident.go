package web

import (
	"fmt"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// failing are open incidents: many failures of work with one cause.
func failing(s *model) (verdict, bool) {
	n, first := 0, -1
	for i := range s.Incidents {
		if !s.Incidents[i].ClosedAt.IsZero() {
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
		Level: warn, Word: "Incident",
		Sentence: alike(i),
		Next:     s.nextForIncident(i.Provider, i.Template),
		Command:  command("sandkeeper affected %s", i.ID),
	}
	if n > 1 {
		v.Sentence += fmt.Sprintf(" %s more.", capital(count(n-1, "incident")))
	}
	return v, true
}

// unusable reports whether a template is known not to be usable.
func unusable(state reconcile.TemplateState) bool {
	return state == reconcile.TemplateInactive || state == reconcile.TemplateFailed || state == reconcile.TemplateMissing
}

// alike says how many failures are one, and why.
func alike(i *reconcile.Incident) string {
	what := fmt.Sprintf("%s of %s within %s", count(i.Count, "failure"), text.Plain(i.Rule, mostName),
		text.Coarse(i.LastSeen.Sub(i.FirstSeen)))
	if i.Cause == "" {
		return what + ". No likely cause was found."
	}
	return what + ". Likely cause: " + sentence(text.Plain(i.Cause, mostHead))
}

// nextForIncident is what a person does about the cause, then about the tasks.
func (s *model) nextForIncident(provider, template string) string {
	tasks := "Its tasks can be run again once the cause is gone:"
	for _, t := range s.Templates {
		if t.Provider == provider && t.Name == template && unusable(t.State) {
			return s.nextForTemplate(provider, template) + " " + tasks
		}
	}
	return "Fix the cause, then retry the affected tasks:"
}
