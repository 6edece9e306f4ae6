package web

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/web/ui"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// mostTimeline is how many lines the timeline has, and together how far apart what is told in one line may be.
const (
	mostTimeline = 14
	together     = 2 * time.Minute
)

// An event is a line of the timeline: one thing, or many alike.
type event struct {
	at    time.Time
	key   string
	chip  ui.Cell
	what  []ui.Cell
	right string
	sub   string // why it came to nothing
}

// timeline is what happened recently, newest first: what was done, what resolved, what operators set, incidents.
func (s *model) timeline() ui.Grid {
	events := slices.Concat(s.actionEvents(), s.resolvedEvents(), operatorEvents(s.Overview), incidentEvents(s.Overview))
	slices.SortStableFunc(events, func(a, b event) int { return b.at.Compare(a.at) })
	g := ui.Grid{Caption: "Newest first, UTC", Heads: []string{"at", "outcome", "what", "took"},
		Empty: "Nothing happened recently."}
	for _, e := range events[:min(len(events), mostTimeline)] {
		at := ui.Exactly(e.at)
		at.Text = e.at.UTC().Format("15:04:05")
		if s.Now.Sub(e.at) > 20*time.Hour {
			at.Text = e.at.UTC().Format("01-02 15:04")
		}
		what := ui.Cell{More: e.what, Sub: e.sub}
		g.Rows = append(g.Rows, ui.Row{Key: e.key, Cells: []ui.Cell{ui.When(at), e.chip, what, {Text: e.right}}})
	}
	if len(events) > 0 {
		g.More = &ui.Link{Text: "All actions", Href: ui.Asking("actions", "state", reconcile.ChosenClosed)}
	}
	return g
}

// A batch is what was done alike, shortly after each other.
type batch struct {
	first *reconcile.Action // the newest
	last  time.Time         // when the oldest was closed
	n     int
	gone  time.Duration // the slowest
}

// actionEvents are what was done, in batches.
func (s *model) actionEvents() []event {
	recent := make([]*reconcile.Action, 0, len(s.Recent))
	for i := range s.Recent {
		recent = append(recent, &s.Recent[i])
	}
	slices.SortStableFunc(recent, func(a, b *reconcile.Action) int { return b.ClosedAt.Compare(a.ClosedAt) })
	var batches []*batch
	open := map[string]*batch{}
	for _, a := range recent {
		key := fmt.Sprint(a.Rule, " ", a.Step, " ", a.Outcome, " ", a.Author, " ", incidentOfAction(s.Overview, a))
		b := open[key]
		if b == nil || b.last.Sub(a.ClosedAt) > together {
			b = &batch{first: a}
			open[key] = b
			batches = append(batches, b)
		}
		b.n++
		b.last = a.ClosedAt
		if !a.ActedAt.IsZero() {
			b.gone = max(b.gone, a.ClosedAt.Sub(a.FirstStarted()))
		}
	}
	var events []event
	for _, b := range batches {
		events = append(events, s.batchEvent(b))
	}
	return events
}

func incidentOfAction(o *reconcile.Overview, a *reconcile.Action) string {
	for i := range o.Incidents {
		if in := &o.Incidents[i]; in.Signature == a.Signature && a.Signature != "" {
			return in.ID
		}
	}
	return ""
}

func (s *model) batchEvent(b *batch) event {
	a := b.first
	l, _ := s.steps.outcome(a)
	e := event{at: a.ClosedAt, key: "event " + ui.Name(a.ID), chip: ui.Chip(l, outcomeWord(a))}
	if b.n == 1 {
		e.what = append(e.what, targetOf(a), ui.Cell{Text: pastOf(a)})
	} else {
		many := ui.Said(ui.Count(b.n, nounOf(a)))
		e.what = append(e.what, many.To(ui.Asking("actions", "state", reconcile.ChosenClosed, "rule", a.Rule, "step",
			string(a.Step))),
			ui.Cell{Text: " " + pastOf(a)})
	}
	e.what = append(e.what, ui.Cell{Text: " · "}, ui.RuleCell(a.Rule))
	if a.Author != "" {
		e.what = append(e.what, ui.Cell{Text: " · asked for by " + text.Plain(a.Author, mostHolding)})
	}
	if id := incidentOfAction(s.Overview, a); id != "" {
		e.what = append(e.what, ui.Cell{Text: " → "}, ui.Named(id).To(ui.Address("incidents", id)))
	}
	if a.Outcome == reconcile.OutcomeConfirmed && a.Step == reconcile.StepTerminate && b.gone > 0 {
		e.right = "gone in " + text.Coarse(b.gone)
	}
	if a.Outcome == reconcile.OutcomeWithdrawn || a.Outcome == reconcile.OutcomeFailed {
		e.sub = text.Plain(a.Detail, mostHead)
	}
	if a.How == reconcile.HowTakenBack {
		e.right, e.sub = text.Plain(a.Detail, mostHolding), ""
	}
	return e
}

// targetOf is what an action was about.
func targetOf(a *reconcile.Action) ui.Cell {
	switch {
	case a.Step == reconcile.StepActivate:
		return ui.SubjectCell(a.Subject).With(" ")
	case a.Sandbox != "":
		c := ui.SandboxCell(a.Provider, a.Sandbox).With(" ")
		c.Text = "sandbox "
		return c
	}
	c := ui.TaskCell(a.Task).With(" ")
	c.Text = "task "
	return c
}

func nounOf(a *reconcile.Action) string {
	switch {
	case a.Step == reconcile.StepActivate:
		return "template"
	case a.Sandbox != "":
		return "sandbox"
	}
	return "task"
}

// outcomeWord is what became of an action, in one word.
func outcomeWord(a *reconcile.Action) string {
	if a.Outcome == reconcile.OutcomeFailed {
		return "given up"
	}
	return ui.Name(string(a.Outcome))
}

// pastOf is what was done, as it ends a sentence.
func pastOf(a *reconcile.Action) string {
	switch a.Outcome {
	case reconcile.OutcomeWithdrawn:
		return ui.Name(string(a.Step)) + " withdrawn: it no longer held"
	case reconcile.OutcomeFailed:
		return ui.Name(string(a.Step)) + " given up"
	}
	words := map[reconcile.Step]string{
		reconcile.StepFail: "marked failed", reconcile.StepRequeue: "requeued", reconcile.StepTerminate: "terminated",
		reconcile.StepQuarantine: "stopped, can come back", reconcile.StepResume: "brought back",
		reconcile.StepRestore: "restored, the row is as it was", reconcile.StepActivate: "usable again",
	}
	if word, known := words[a.Step]; known {
		return word
	}
	return ui.Name(string(a.Step))
}

// resolvedEvents are the findings that were over by themselves, in batches of one rule.
func (s *model) resolvedEvents() []event {
	var events []event
	at := map[string]int{}
	n := map[string]int{}
	sorted := slices.SortedStableFunc(slices.Values(s.Resolved), func(a, b reconcile.FindingSeen) int {
		return b.ResolvedAt.Compare(a.ResolvedAt)
	})
	for i := range sorted {
		f := &sorted[i]
		if s.states.actedOn(f, time.Time{}) || reconcile.TypeOf(f.Subject) == reconcile.SubjectIncident {
			continue // an incident has lines of its own
		}
		if k, seen := at[f.Rule]; seen && events[k].at.Sub(f.ResolvedAt) <= together {
			n[f.Rule]++
			all := ui.Said(fmt.Sprintf("%d findings resolved", n[f.Rule])).
				To(ui.Asking("findings", "state", reconcile.ChosenResolved, "rule", f.Rule))
			events[k].what, events[k].right = []ui.Cell{all, {Text: " by themselves · "}, ui.RuleCell(f.Rule)}, ""
			continue
		}
		at[f.Rule], n[f.Rule] = len(events), 1
		events = append(events, event{
			at: f.ResolvedAt, key: "resolved " + ui.Name(f.Rule+" "+f.Subject), chip: ui.Chip(ui.Calm, "resolved"),
			what:  []ui.Cell{ui.SubjectCell(f.Subject), {Text: " by itself · "}, ui.RuleCell(f.Rule)},
			right: "open for " + text.Coarse(f.ResolvedAt.Sub(f.OpenedAt)),
		})
	}
	return events
}

// operatorEvents are what operators set, as far as it is in force.
func operatorEvents(o *reconcile.Overview) []event {
	var events []event
	add := func(key, author string, at time.Time, what ui.Cell, reason string) {
		if !at.IsZero() {
			events = append(events, event{at: at, key: key, chip: ui.Chip(ui.Set, authorOr(author, "operator")),
				what: []ui.Cell{what, {Text: because(reason)}}})
		}
	}
	for _, p := range o.Controls.Pauses {
		add("paused "+ui.Name(p.Scope), p.Author, p.At, ui.Said("pauses "+p.Scope).To("stops"), p.Reason)
	}
	for _, h := range o.Controls.Holds {
		add(fmt.Sprintf("held %d", h.ID), h.Author, h.At, holdTarget(h.Target).To("stops"), h.Reason)
	}
	for _, r := range o.Controls.Releases {
		add(fmt.Sprintf("released %d", r.ID), r.Author, r.At,
			ui.Said("releases "+ui.Count(len(r.Subjects), "subject")+" from "+r.What).To("stops"), r.Reason)
	}
	for rule, by := range o.Controls.Lowered {
		add("lowered "+ui.Name(rule), by.Author, by.At, ui.Said("lowers "+rule).To(ui.RuleAddress(rule)), by.Reason)
	}
	slices.SortStableFunc(events, func(a, b event) int { return cmp.Or(b.at.Compare(a.at), cmp.Compare(a.key, b.key)) })
	return events
}

// incidentEvents are the beginnings and ends of incidents.
func incidentEvents(o *reconcile.Overview) []event {
	var events []event
	for i := range o.Incidents {
		in := &o.Incidents[i]
		what := []ui.Cell{ui.Named(in.ID).To(ui.Address("incidents", in.ID)), {Text: " · " + failureWords(in)}}
		key := ui.Name(in.ID)
		if !in.OpenedAt.IsZero() {
			events = append(events, event{at: in.OpenedAt, key: "opened " + key, chip: ui.Chip(ui.Bad, "incident"), what: what})
		}
		if !in.ClosedAt.IsZero() {
			events = append(events, event{at: in.ClosedAt, key: "closed " + key, chip: ui.Chip(ui.Calm, "closed"), what: what,
				right: "lasted " + text.Coarse(in.ClosedAt.Sub(in.FirstSeen))})
		}
	}
	return events
}

// because is a reason as it follows what it is the reason of.
func because(reason string) string {
	if reason == "" {
		return ""
	}
	return " · " + ui.Line(reason)
}
