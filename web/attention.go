package web

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/web/ui"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// An item is a line of a list on the overview: what it is, about what, and why.
type item struct {
	Key   string
	Chip  ui.Cell
	Text  ui.Cell
	Sub   string
	When  ui.Moment
	Right string
	Acts  []ui.Act
}

// mostAttention is how many lines need attention at once; the rest are a link.
const mostAttention = 9

// attention is what an operator should know of, the worst first.
func (s *model) attention() []item {
	items := slices.Concat(demotedItems(s.Overview), s.incidentItems(), s.findings.reportedItems(),
		s.steps.stuckItems(), frozenItems(s.Overview),
		s.steps.stalledItems(), s.unmappedItems())
	if left := len(items) - mostAttention; left > 0 {
		items = append(items[:mostAttention], item{Key: "more", Chip: ui.Chip(ui.Calm, "more"),
			Text: ui.Said(fmt.Sprintf("And %d more.", left)).To(ui.Asking("findings", "state", "due"))})
	}
	return items
}

func demotedItems(o *reconcile.Overview) []item {
	var items []item
	for _, rule := range slices.Sorted(maps.Keys(o.Controls.Modes)) {
		if low := o.Controls.Lowered[rule]; demotedBy(o, rule) {
			items = append(items, item{
				Key: "demoted " + ui.Name(rule), Chip: ui.Chip(ui.Bad, "wrong"), When: ui.Since(low.At, o.Now),
				Text: ui.Said(rule + " lowered itself and only observes").To(ui.RuleAddress(rule)),
				Sub:  ui.Sentence(ui.Capital(ui.Line(low.Reason))), Acts: []ui.Act{ui.ModeAct(rule)},
			})
		}
	}
	return items
}

func (s *model) incidentItems() []item {
	var items []item
	for i := range s.Incidents {
		in := &s.Incidents[i]
		if !in.ClosedAt.IsZero() {
			continue
		}
		l, state := stateOfIncident(s.Overview, in)
		state = strings.NewReplacer("open", "incident", "over", "incident over").Replace(state)
		items = append(items, item{
			Key: "incident " + ui.Name(in.ID), Chip: ui.Chip(l, state),
			Text: ui.Said(failureWords(in)).To(ui.Address("incidents", in.ID)), When: ui.Since(in.FirstSeen, s.Now),
			Sub: strings.Join(reconcile.NonEmpty(ui.Sentence(causeWords(s.Overview, in)),
				ui.Capital(ui.Sentence(placeOf(in)))), " "),
			Acts: s.actsOfIncident(in, true),
		})
	}
	return items
}

// actsOfIncident are what an operator may do about one, in their order. Its tasks are run again where the config says
// how and some were marked failed, once nothing holds that back.
func (s *model) actsOfIncident(in *reconcile.Incident, failed bool) (acts []ui.Act) {
	if in.ClosedAt.IsZero() && in.AckedAt.IsZero() {
		acts = append(acts, ui.AcknowledgeAct(in.ID))
	}
	retry := ui.RetryAllAct(in.ID)
	if in.Holds() {
		retry.Off = "once it is released"
		acts = append(acts, ui.ReleaseAct("incident:"+in.ID))
	}
	if s.policy.Tasks.Requeues && failed {
		acts = append(acts, retry)
	}
	return acts
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
		items = append(items, item{Key: "more " + ui.Name(rule), Chip: ui.Chip(ui.Calm, "more"),
			Text: ui.Said(fmt.Sprintf("And %d more of %s", left[rule], rule)).To(ui.Asking("findings", "rule", rule))})
	}
	return items
}

func reportedItem(o *reconcile.Overview, f *reconcile.FindingSeen) item {
	href := ui.SubjectAddress(f.Subject)
	if href == "" || reconcile.TypeOf(f.Subject) == reconcile.SubjectTemplate {
		href = ui.Asking("findings", "rule", f.Rule)
	}
	return item{
		Key: "finding " + ui.Name(f.Rule+" "+f.Subject), Chip: ui.Chip(levelOf(o, f), "attention"),
		Text: ui.Said(ui.Sentence(ui.Capital(ui.Line(f.Reason)))).To(href), When: ui.Since(f.OpenedAt, o.Now),
		Sub: strings.TrimSpace(ui.Name(f.Rule) + " · " + subjectWords(f.Subject) + ". " + nextFor(o, f)),
	}
}

// levelOf is how bad a finding is that nothing here repairs: no task can start without its template.
func levelOf(o *reconcile.Overview, f *reconcile.FindingSeen) ui.Level {
	name := reconcile.TemplateOf(f.Subject, f.Provider)
	for _, t := range o.Templates {
		if name != "" && t.Provider == f.Provider && t.Name == name && t.State.Unusable() {
			return ui.Bad
		}
	}
	return ui.Warn
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
			Key: "stuck " + ui.Name(a.ID), Chip: ui.Chip(ui.Bad, "stuck"), When: ui.Since(a.ActedAt, s.Now),
			Text: ui.SandboxCell(a.Provider, a.Sandbox).With(" termination accepted, still there"),
			Sub: fmt.Sprintf("%s, asked %s; the request is repeated by itself.", ui.Name(a.Rule), times(max(a.Asks,
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
		sub := "It holds no finding now; trusted again by itself once it is complete."
		if n := heldBySource(o, src.Name); n > 0 {
			sub = ui.Count(n, "finding") + " frozen; trusted again by itself once it is complete."
		}
		items = append(items, item{
			Key: "source " + ui.Name(src.Name), Chip: ui.Chip(ui.Warn, "frozen"),
			Text: ui.Said(distrust(&src)).To("sources"), Sub: sub, When: ui.Since(src.Since, o.Now),
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
		items = append(items, item{Key: "waits " + ui.Name(why), Chip: ui.Chip(ui.Warn, "waits"),
			Text: ui.Said(ui.Count(by[why], "repair step") +
				": " + why).To(ui.Asking("actions", "state", reconcile.ChosenOpen))})
	}
	return items
}

func (s *model) unmappedItems() []item {
	v, is := unmapped(s)
	if !is {
		return nil
	}
	return []item{{Key: "unmapped", Chip: ui.Chip(ui.Warn, "not mapped"), Text: ui.Said(v.Sentence), Sub: v.Next}}
}
