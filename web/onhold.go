package web

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// holdRows are what keeps something from being repaired: what releases it, how many it holds, since when and until when.
func (s *model) holdRows() []item {
	var items []item
	for _, rule := range slices.Sorted(maps.Keys(s.Controls.Breakers)) {
		items = append(items, s.breakerItem(s.Controls.Breakers[rule]))
	}
	for _, rule := range slices.Sorted(maps.Keys(s.Controls.Modes)) {
		if !s.demotedBy(rule) {
			items = append(items, s.loweredItem(rule))
		}
	}
	for _, p := range s.Controls.Pauses {
		items = append(items, s.pauseItem(p))
	}
	for _, h := range s.Controls.Holds {
		items = append(items, s.holdItem(h))
	}
	for _, g := range s.heldGroups() {
		if !s.told(g.held) {
			items = append(items, groupItem(g))
		}
	}
	return items
}

// told reports whether a request that is in force says what holds already.
func (s *model) told(by reconcile.Held) bool {
	switch by.Kind {
	case reconcile.HeldBreaker:
		return len(s.Controls.Breakers) > 0
	case reconcile.HeldPause:
		return slices.ContainsFunc(s.Controls.Pauses, func(p reconcile.Pause) bool { return p.Scope == by.What })
	case reconcile.HeldHold:
		return slices.ContainsFunc(s.Controls.Holds, func(h reconcile.Hold) bool { return h.Target == by.What })
	}
	return false
}

// holds is how many due findings one thing holds.
func (s *model) holds(kind reconcile.HeldKind, what string) string {
	n := 0
	for i := range s.Findings {
		f := &s.Findings[i]
		n += truth(f.Due && slices.ContainsFunc(f.HeldBy, func(h reconcile.Held) bool { return h.Kind == kind && h.What == what }))
	}
	if n == 0 {
		return "holds nothing now"
	}
	return "holds " + count(n, "finding")
}

func (s *model) breakerItem(b reconcile.Breaker) item {
	rule := text.Plain(b.Rule, mostName)
	return item{
		Key: "breaker " + rule, Chip: chip(warn, "breaker"), When: since(b.OpenedAt, s.Now),
		Text: said(rule + ": " + count(len(b.Subjects), "subject") + " due at once").to("stops"),
		Sub:  "Review them, then release them. It also closes once they are healthy.",
		Acts: offered(releaseAct(b.Rule)),
	}
}

func (s *model) loweredItem(rule string) item {
	by := s.Controls.Lowered[rule]
	return item{
		Key: "mode " + text.Plain(rule, mostName), Chip: chip(set, authorOr(by.Author, "lowered")), When: lasting(by.At, s.Now),
		Text: said(rule + " lowered to " + string(s.Controls.Modes[rule])).to(ruleAddress(rule)),
		Sub:  sentence(reasonAnd(by.Reason, "until it is cleared")), Acts: offered(modeAct(rule)),
	}
}

func (s *model) pauseItem(p reconcile.Pause) item {
	return item{
		Key: "pause " + text.Plain(p.Scope, mostName), Chip: chip(set, authorOr(p.Author, "pause")), When: lasting(p.At, s.Now),
		Text: said("pause of " + p.Scope).to("stops"),
		Sub: sentence(reasonAnd(p.Reason, s.holds(reconcile.HeldPause, p.Scope)+", "+
			until(p.Until, s.Now, "until it is resumed").Text)),
		Acts: offered(resumeAct(p.Scope)),
	}
}

func (s *model) holdItem(h reconcile.Hold) item {
	href := subjectAddress(h.Target)
	if href == "" {
		href = "stops"
	}
	return item{
		Key: fmt.Sprintf("hold %d", h.ID), Chip: chip(set, authorOr(h.Author, "hold")), When: lasting(h.At, s.Now),
		Text: holdTarget(h.Target).to(href),
		Sub: sentence(reasonAnd(h.Reason, s.holds(reconcile.HeldHold, h.Target)+", "+
			until(h.Until, s.Now, "until it is lifted").Text)),
		Acts: offered(unholdAct(h.Target)),
	}
}

func groupItem(g heldGroup) item {
	l, word := warn, kindWord(g.held.Kind)
	if isRequest(g.held.Kind) {
		l = set
	}
	means := g.Means
	if means == "" {
		means = sentence(capital(text.Plain(g.By, mostLine)))
	}
	return item{
		Key: "held " + g.Key, Chip: chip(l, word), Sub: means,
		Text: said(g.Count + " held " + holdWords(g.held)).to(asking("findings", "state", reconcile.ChosenHeld, "held_by", g.held.String())),
	}
}

// holdTarget is what a hold is of, with its id short.
func holdTarget(target string) cell {
	c := subjectCell(target)
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
	return text.Plain(string(kind), mostName)
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
	return text.Plain(reason, mostLine) + " · " + rest
}

// lasting is how long something has lasted; nothing when nobody knows since when.
func lasting(t, now time.Time) moment {
	if t.IsZero() {
		return moment{}
	}
	return since(t, now)
}
