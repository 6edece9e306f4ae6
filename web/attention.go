package web

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// An item is a line of a list on the overview: what it is, about what, and why.
type item struct {
	Key   string
	Chip  cell
	Text  cell
	Sub   string
	When  moment
	Right string
	Acts  []act
}

// mostAttention is how many lines need attention at once; the rest are a link.
const mostAttention = 9

// attention is what an operator should know of, the worst first.
func (s *model) attention() []item {
	items := slices.Concat(demotedItems(s.Overview), incidentItems(s.Overview), s.findings.reportedItems(),
		s.steps.stuckItems(), frozenItems(s.Overview),
		s.steps.stalledItems(), s.unmappedItems())
	if left := len(items) - mostAttention; left > 0 {
		items = append(items[:mostAttention], item{Key: "more", Chip: chip(calm, "more"),
			Text: said(fmt.Sprintf("And %d more.", left)).to(asking("findings", "state", "due"))})
	}
	return items
}

func demotedItems(o *reconcile.Overview) []item {
	var items []item
	for _, rule := range slices.Sorted(maps.Keys(o.Controls.Modes)) {
		if low := o.Controls.Lowered[rule]; demotedBy(o, rule) {
			items = append(items, item{
				Key: "demoted " + text.Plain(rule, mostName), Chip: chip(bad, "wrong"), When: since(low.At, o.Now),
				Text: said(rule + " lowered itself and only observes").to(ruleAddress(rule)),
				Sub:  sentence(capital(text.Plain(low.Reason, mostLine))), Acts: []act{modeAct(rule)},
			})
		}
	}
	return items
}

func incidentItems(o *reconcile.Overview) []item {
	var items []item
	for i := range o.Incidents {
		in := &o.Incidents[i]
		if !in.ClosedAt.IsZero() {
			continue
		}
		l, state := stateOfIncident(in)
		items = append(items, item{
			Key: "incident " + text.Plain(in.ID, mostName), Chip: chip(l, strings.Replace(state, "open", "incident", 1)),
			Text: said(failureWords(in)).to(address("incidents", in.ID)), When: since(in.FirstSeen, o.Now),
			Sub:  strings.Join(reconcile.NonEmpty(causeWords(o, in), placeOf(in)), " "),
			Acts: actsOfIncident(in),
		})
	}
	return items
}

// actsOfIncident are what an operator may do about an open one.
func actsOfIncident(in *reconcile.Incident) []act {
	var acts []act
	if in.AckedAt.IsZero() {
		acts = append(acts, acknowledgeAct(in.ID))
	}
	if in.Holds() {
		return append(acts, releaseAct("incident:"+in.ID))
	}
	return append(acts, retryAct("incident:"+in.ID))
}

// reportedItems are findings that nothing here repairs, a few of each rule.
func (s *findings) reportedItems() []item {
	var items []item
	shown, left := map[string]int{}, map[string]int{}
	for _, f := range s.sorted() {
		if s.folded[f] || s.states.of(f) != reported {
			continue
		}
		if shown[f.Rule] == mostOfRule {
			left[f.Rule]++
			continue
		}
		shown[f.Rule]++
		items = append(items, reportedItem(s.Overview, f))
	}
	for _, rule := range slices.Sorted(maps.Keys(left)) {
		items = append(items, item{Key: "more " + text.Plain(rule, mostName), Chip: chip(calm, "more"),
			Text: said(fmt.Sprintf("And %d more of %s", left[rule], rule)).to(asking("findings", "rule", rule))})
	}
	return items
}

func reportedItem(o *reconcile.Overview, f *reconcile.FindingSeen) item {
	href := subjectAddress(f.Subject)
	if href == "" {
		href = asking("findings", "rule", f.Rule)
	}
	return item{
		Key: "finding " + text.Plain(f.Rule+" "+f.Subject, mostName), Chip: chip(levelOf(o, f), "attention"),
		Text: said(sentence(capital(text.Plain(f.Reason, mostLine)))).to(href), When: since(f.OpenedAt, o.Now),
		Sub: strings.TrimSpace(text.Plain(f.Rule, mostName) + " · " + subjectWords(f.Subject) + ". " + nextFor(o, f)),
	}
}

// levelOf is how bad a finding is that nothing here repairs: no task can start without its template.
func levelOf(o *reconcile.Overview, f *reconcile.FindingSeen) level {
	name := reconcile.TemplateOf(f.Subject, f.Provider)
	for _, t := range o.Templates {
		if name != "" && t.Provider == f.Provider && t.Name == name && unusable(t.State) {
			return bad
		}
	}
	return warn
}

// stuckItems are sandboxes that remain although the provider took the request long ago.
func (s *steps) stuckItems() []item {
	var items []item
	for i := range s.Open {
		a := &s.Open[i]
		if !s.overdue(a) {
			continue
		}
		items = append(items, item{
			Key: "stuck " + text.Plain(a.ID, mostName), Chip: chip(bad, "stuck"), When: since(a.ActedAt, s.Now),
			Text: sandboxCell(a.Provider, a.Sandbox).with(" termination accepted, still there"),
			Sub: fmt.Sprintf("%s, asked %s; the request is repeated by itself.", text.Plain(a.Rule, mostName), times(max(a.Asks,
				1))),
		})
	}
	return items
}

// overdue reports whether a terminate was accepted long ago and is not confirmed.
func (s *steps) overdue(a *reconcile.Action) bool {
	return a.Step == reconcile.StepTerminate && a.Outcome == reconcile.OutcomeAccepted &&
		s.Now.Sub(a.ActedAt) >= overdueTerminate
}

func frozenItems(o *reconcile.Overview) []item {
	var items []item
	for _, src := range untrusted(o.Sources) {
		sub := "It holds no finding now; trusted again once it is whole."
		if n := heldBySource(o, src.Name); n > 0 {
			sub = count(n, "finding") + " frozen; trusted again once it is whole."
		}
		items = append(items, item{
			Key: "source " + text.Plain(src.Name, mostName), Chip: chip(warn, "frozen"),
			Text: said(distrust(&src)).to("sources"), Sub: sub, When: since(src.Since, o.Now),
		})
	}
	return items
}

func heldBySource(o *reconcile.Overview, name string) int {
	n := 0
	for i := range o.Findings {
		f := &o.Findings[i]
		by, is := f.HeldBy.Of(reconcile.HeldFreeze)
		n += truth(f.Due && is && by.What == name)
	}
	return n
}

// stalledItems are the steps that nothing works at, for one reason each. Those that are on hold are told there.
func (s *steps) stalledItems() []item {
	by := map[string]int{}
	for i := range s.Open {
		waits := s.still[s.Open[i].ID]
		if waits != "" && len(s.policy.Holds(&s.Controls, &s.Open[i])) == 0 {
			by[waits]++
		}
	}
	var items []item
	for _, why := range slices.Sorted(maps.Keys(by)) {
		items = append(items, item{Key: "waits " + text.Plain(why, mostName), Chip: chip(warn, "waits"),
			Text: said(count(by[why], "repair step") + ": " + why).to(asking("actions", "state", reconcile.ChosenOpen))})
	}
	return items
}

func (s *model) unmappedItems() []item {
	v, is := unmapped(s)
	if !is {
		return nil
	}
	return []item{{Key: "unmapped", Chip: chip(warn, "not mapped"), Text: said(v.Sentence), Sub: v.Next}}
}

// with adds words after an id.
func (c cell) with(words string) cell {
	c.More = append(c.More, cell{Text: words})
	return c
}
