package web

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/web/ui"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// holdRows are what keeps something from being repaired: what releases it, how many it holds, since when and until
// when.
func holdRows(o *reconcile.Overview) []item {
	var items []item
	for _, rule := range slices.Sorted(maps.Keys(o.Controls.Breakers)) {
		items = append(items, breakerItem(o, o.Controls.Breakers[rule]))
	}
	for _, rule := range slices.Sorted(maps.Keys(o.Controls.Modes)) {
		if !demotedBy(o, rule) {
			items = append(items, loweredItem(o, rule))
		}
	}
	for _, p := range o.Controls.Pauses {
		items = append(items, pauseItem(o, p))
	}
	for _, h := range o.Controls.Holds {
		items = append(items, holdItem(o, h))
	}
	for _, g := range heldGroups(o) {
		if !saidAlready(o, g.held) {
			items = append(items, groupItem(g))
		}
	}
	return items
}

// incidentRows are the open incidents that hold repairs: what is under way waits for them, though no finding is held.
func (s *steps) incidentRows() (items []item) {
	waits := s.heldByIncident()
	for i := range s.Incidents {
		in := &s.Incidents[i]
		if n := waits[in.ID]; n > 0 && in.Holds() {
			items = append(items, item{Key: "incident " + ui.Name(in.ID), Chip: ui.Chip(ui.Warn, "incident"),
				Text: ui.Said("incident " + ui.Name(in.ID)).To(ui.Address("incidents", in.ID)), When: ui.Since(in.OpenedAt, s.Now),
				Sub:  "Holds " + ui.Count(n, "repair step") + ", until such failures cease or an operator releases it.",
				Acts: []ui.Act{ui.ReleaseAct("incident:" + in.ID)}})
		}
	}
	return items
}

// heldByIncident is how many repairs under way wait for each incident.
func (s *steps) heldByIncident() map[string]int {
	waits := map[string]int{}
	for i := range s.Open {
		for _, h := range s.policy.Holds(&s.Controls, &s.Open[i]) {
			if h.Kind == reconcile.HeldIncident {
				waits[h.What]++
			}
		}
	}
	return waits
}

// waitsFor reports whether a finding or a repair under way waits for the incident.
func (s *model) waitsFor(in *reconcile.Incident) bool {
	return heldNow(s.Overview, reconcile.HeldIncident, in.ID) > 0 || s.steps.heldByIncident()[in.ID] > 0
}

// saidAlready reports whether a request that is in force says what holds already.
func saidAlready(o *reconcile.Overview, by reconcile.Held) bool {
	switch by.Kind {
	case reconcile.HeldBreaker:
		return len(o.Controls.Breakers) > 0
	case reconcile.HeldPause:
		return slices.ContainsFunc(o.Controls.Pauses, func(p reconcile.Pause) bool { return p.Scope == by.What })
	case reconcile.HeldHold:
		return slices.ContainsFunc(o.Controls.Holds, func(h reconcile.Hold) bool { return h.Target == by.What })
	}
	return false
}

// heldNow is how many due findings one thing holds.
func heldNow(o *reconcile.Overview, kind reconcile.HeldKind, what string) (n int) {
	for i := range o.Findings {
		f := &o.Findings[i]
		n += truth(f.Due && slices.ContainsFunc(f.HeldBy, func(h reconcile.Held) bool {
			return h.Kind == kind && h.What == what
		}))
	}
	return n
}

// holdsWords say the same.
func holdsWords(o *reconcile.Overview, kind reconcile.HeldKind, what string) string {
	n := heldNow(o, kind, what)
	if n == 0 {
		return "holds nothing now"
	}
	return "holds " + ui.Count(n, "finding")
}

// breakerWhy is by which limit too many are due at once; "" where no finding that was read says it.
func breakerWhy(o *reconcile.Overview, b reconcile.Breaker) string {
	for i := range o.Findings {
		if by, held := o.Findings[i].HeldBy.Of(reconcile.HeldBreaker); held && o.Findings[i].Rule == b.Rule {
			if limit := reconcile.BreakerLimit(by); limit != "" {
				return ui.Line(limit)
			}
		}
	}
	return ""
}

// colon puts a colon before what is not empty.
func colon(words string) string {
	if words == "" {
		return ""
	}
	return ": " + words
}

func breakerItem(o *reconcile.Overview, b reconcile.Breaker) item {
	rule := ui.Name(b.Rule)
	return item{
		Key: "breaker " + rule, Chip: ui.Chip(ui.Warn, "breaker"), When: ui.Since(b.OpenedAt, o.Now),
		Text: ui.Said(rule + ": " + ui.Count(len(b.Subjects), "subject") + " due at once" +
			colon(breakerWhy(o, b))).To("stops"),
		Sub:  "Review them, then release them. It also closes once they are healthy.",
		Acts: []ui.Act{ui.ReleaseAct(b.Rule)},
	}
}

func loweredItem(o *reconcile.Overview, rule string) item {
	by := o.Controls.Lowered[rule]
	return item{
		Key: "mode " + ui.Name(rule), Chip: ui.Chip(ui.Set, authorOr(by.Author, "lowered")),
		When: lasting(by.At, o.Now),
		Text: ui.Said(rule + " lowered to " + string(o.Controls.Modes[rule])).To(ui.RuleAddress(rule)),
		Sub:  ui.Sentence(reasonAnd(by.Reason, "until it is cleared")), Acts: []ui.Act{ui.ModeAct(rule)},
	}
}

func pauseItem(o *reconcile.Overview, p reconcile.Pause) item {
	return item{
		Key: "pause " + ui.Name(p.Scope), Chip: ui.Chip(ui.Set, authorOr(p.Author, "pause")),
		When: lasting(p.At, o.Now),
		Text: ui.Said("pause of " + p.Scope).To("stops"),
		Sub: ui.Sentence(reasonAnd(p.Reason, holdsWords(o, reconcile.HeldPause, p.Scope)+", "+
			ui.Until(p.Until, o.Now, "until it is resumed").Text)),
		Acts: []ui.Act{ui.ResumeAct(p.Scope)},
	}
}

func holdItem(o *reconcile.Overview, h reconcile.Hold) item {
	href := ui.SubjectAddress(h.Target)
	if href == "" {
		href = "stops"
	}
	return item{
		Key: fmt.Sprintf("hold %d", h.ID), Chip: ui.Chip(ui.Set, authorOr(h.Author, "hold")), When: lasting(h.At, o.Now),
		Text: holdTarget(h.Target).To(href),
		Sub: ui.Sentence(reasonAnd(h.Reason, holdsWords(o, reconcile.HeldHold, h.Target)+", "+
			ui.Until(h.Until, o.Now, "until it is lifted").Text)),
		Acts: []ui.Act{ui.UnholdAct(h.Target)},
	}
}

func groupItem(g heldGroup) item {
	l, word := ui.Warn, kindWord(g.held.Kind)
	if isRequest(g.held.Kind) {
		l = ui.Set
	}
	means := g.Means
	if means == "" {
		means = ui.Sentence(ui.Capital(ui.Line(g.By)))
	}
	return item{
		Key: "held " + g.Key, Chip: ui.Chip(l, word), Sub: means,
		Text: ui.Said(g.Count + " held " + holdWords(g.held)).To(ui.Asking("findings", "state", reconcile.ChosenHeld,
			"held_by", g.held.String())),
	}
}

// holdTarget is what a hold is of, with its id short.
func holdTarget(target string) ui.Cell {
	c := ui.SubjectCell(target)
	c.Text = "hold of " + c.Text
	return c
}

// isRequest reports whether it is an operator who set what holds.
func isRequest(kind reconcile.HeldKind) bool {
	switch kind {
	case reconcile.HeldObserve, reconcile.HeldOff, reconcile.HeldPause, reconcile.HeldHold, reconcile.HeldRollout:
		return true
	}
	return false
}

// kindWord is what holds in one word.
func kindWord(kind reconcile.HeldKind) string {
	switch kind {
	case reconcile.HeldFreeze:
		return "frozen"
	case reconcile.HeldOther:
		return "held"
	}
	return ui.Name(string(kind))
}

func authorOr(author, word string) string {
	if author == "" {
		return word
	}
	return text.Plain(author, mostHolding)
}

func reasonAnd(reason, rest string) string {
	if reason == "" {
		return rest
	}
	return ui.Line(reason) + " · " + rest
}

// lasting is how long something has lasted; nothing when nobody knows since when.
func lasting(t, now time.Time) ui.Moment {
	if t.IsZero() {
		return ui.Moment{}
	}
	return ui.Since(t, now)
}
