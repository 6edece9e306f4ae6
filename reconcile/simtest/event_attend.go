package simtest

import (
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// attend is an operator who comes once a minute, see [Options.Operator]. since is when each of what holds something
// was first seen to.
func (e operators) attend(since map[string]time.Duration) {
	holding := e.holding()
	for what := range since {
		if !slices.Contains(holding, what) {
			delete(since, what)
		}
	}
	for _, what := range holding {
		if _, known := since[what]; !known {
			since[what] = e.since()
		}
		if e.since()-since[what] < e.o.Operator {
			continue
		}
		if incident, is := reconcile.OfType(reconcile.SubjectIncident, what); is {
			e.attendIncident(incident)
			continue
		}
		e.attendHeld(what)
	}
	e.after(time.Minute, func() { e.attend(since) })
}

// attendHeld releases what is held and truly wrong: the list as a whole where all of it is, else those alone.
func (e operators) attendHeld(what string) {
	subjects, _ := e.heldBy(what) // fails only when the context has ended
	var wrong []string
	things := 0
	for _, s := range subjects {
		if _, whole := reconcile.OfType(reconcile.SubjectSource, s); whole {
			continue
		}
		if things++; e.o.Wrong([]string{s}) {
			wrong = append(wrong, s)
		}
	}
	switch {
	case len(wrong) == 0:
	case len(wrong) == things:
		e.wish(operatorRequest{what: "release", on: what, last: time.Hour})
	default:
		e.wish(operatorRequest{what: "release", on: what, last: time.Hour, only: wrong})
	}
}

// attendIncident releases an incident all of whose subjects are truly wrong.
func (e operators) attendIncident(id string) {
	findings, _ := e.ledger.OpenFindings(e.ctx) // fails only when the context has ended
	var subjects []string
	for i := range findings {
		if by, held := findings[i].HeldBy.Of(reconcile.HeldIncident); held && by.What == id {
			subjects = append(subjects, findings[i].Subject)
		}
	}
	if len(subjects) > 0 && e.o.Wrong(subjects) {
		e.wish(operatorRequest{what: "release-incident", on: id})
	}
}

// holding are the breakers, incidents and sources that hold something now.
func (e operators) holding() (out []string) {
	c, _ := e.ledger.Controls(e.ctx) // these fail only when the context has ended
	for _, rule := range reconcile.SortedKeys(c.Breakers) {
		out = append(out, reconcile.SubjectOf(reconcile.SubjectBreaker, rule))
	}
	for _, in := range c.Incidents {
		if in.Holds() {
			out = append(out, reconcile.SubjectOf(reconcile.SubjectIncident, in.ID))
		}
	}
	sources, _ := e.ledger.Sources(e.ctx)
	for _, name := range reconcile.SortedKeys(sources) {
		if !sources[name].Trusted {
			out = append(out, name)
		}
	}
	return out
}
