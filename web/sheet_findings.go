package web

import (
	"strings"

	"github.com/sandkeeper/sandkeeper/web/ui"

	"github.com/a-h/templ"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// A Part is what was chosen of a list, and where the part after it begins: "" when this is the last.
type Part[T any] struct {
	Rows []T
	Next string
}

// FindingsPage lists the findings that somebody chose.
func FindingsPage(a *Asked, c *reconcile.Chosen, found Part[reconcile.FindingSeen]) templ.Component {
	s := a.modelOf()
	p := ui.Sheet{Frame: frameOf(a, "findings", "Findings")}
	p.Head = ui.Headline{Level: ui.Calm, Text: "Findings", Below: findingsWords(s, c)}
	p.Filters = findingFilters(s, c)
	g := ui.Grid{Heads: []string{"rule", "subject", "state", "what was seen", "since"}, Empty: "No finding is like that.",
		More: ui.NextPart("findings", c, found.Next),
		Sort: ui.SortingOf("findings", c, "rule", "subject", "state", "", "age")}
	for i := range found.Rows {
		g.Rows = append(g.Rows, s.findings.row(&found.Rows[i]))
	}
	p.Blocks = []ui.Block{{Title: ui.CountWords(len(found.Rows), found.Next != "", "finding"), Grid: &g}}
	p.Blocks = append(p.Blocks, releaseBlock(s, c, len(found.Rows))...)
	return a.listPage(p)
}

func findingsWords(s *model, c *reconcile.Chosen) string {
	if c.State == reconcile.ChosenResolved {
		return "Those that are over" + newestFirst(c) + "."
	}
	return reconcile.FirstOf(strings.TrimSuffix(ui.Count(total(s.FindingsOpen), "open finding")+": "+s.findings.dueWords(),
		": ")) +
		". What a finding rests on is folded under it" + newestFirst(c) + "."
}

// newestFirst says the usual order of a list, unless it has another one.
func newestFirst(c *reconcile.Chosen) string {
	if c.Sort == "" {
		return ", newest first"
	}
	return ""
}

// releaseBlock is the command that lets a breaker's list go. It stands under the list, so that it was seen.
func releaseBlock(s *model, c *reconcile.Chosen, shown int) []ui.Block {
	b, open := s.Controls.Breakers[c.Rule]
	if !open || c.State != reconcile.ChosenHeld || shown == 0 {
		return nil
	}
	line := releaseCommand(b)
	return []ui.Block{{Title: "Release",
		Commands: []ui.ShellLine{{Says: "When each of the " + ui.Count(len(b.Subjects), "subject") +
			" may be acted on, release them:", Line: line}}, Acts: []ui.Act{ui.ReleaseAct(b.Rule)}}}
}

// findingRow is one finding, open or not, with what it rests on.
func (s *findings) row(f *reconcile.FindingSeen) ui.Row {
	v := s.view(f)
	r := ui.Row{Key: "finding " + v.Key, Evidence: v.Evidence, Cells: []ui.Cell{
		ui.RuleCell(f.Rule).Below(v.Means), findingSubject(f), stateCell(f, &v), {Words: v.Words}, ui.When(v.Opened),
	}}
	if !f.ResolvedAt.IsZero() {
		r.Cells[4].Sub = "over " + ui.Ago(f.ResolvedAt, s.Now).Text
	}
	return r
}

// findingSubject is what a finding is about, and what belongs to that.
func findingSubject(f *reconcile.FindingSeen) ui.Cell {
	c := ui.SubjectCell(f.Subject)
	switch of := reconcile.ParseSubject(f.Subject); {
	case of.Type == reconcile.SubjectTask && f.Sandbox != "":
		c.More = append(c.More, ui.Cell{Text: " in "}, ui.SandboxCell(f.Provider, f.Sandbox))
	case of.Type == reconcile.SubjectSandbox && f.Task != "":
		t := ui.TaskCell(f.Task)
		t.Text = " of task "
		c.More = append(c.More, t)
	}
	return c
}

func stateCell(f *reconcile.FindingSeen, v *findingView) ui.Cell {
	if !f.ResolvedAt.IsZero() {
		return ui.Chip(ui.Calm, "resolved")
	}
	l := v.State.Level()
	if v.State == heldBack && requested([]*reconcile.FindingSeen{f}) {
		l = ui.Set
	}
	c := ui.Chip(l, v.State.Word())
	if v.State == heldBack {
		c.Sub = v.Held
	}
	if f.Incident != "" {
		c.More = append(c.More, ui.Cell{Text: " "}, ui.IncidentCell(f.Incident))
	}
	return c
}

func findingFilters(s *model, c *reconcile.Chosen) *ui.FilterForm {
	f := &ui.FilterForm{Action: "findings"}
	f.Add("state", "State", c.State, ui.Options("open", reconcile.ChosenDue, reconcile.ChosenHeld, reconcile.ChosenWatched,
		reconcile.ChosenResolved)...)
	f.Add("rule", "Rule", c.Rule, ui.Options("any rule", reconcile.RuleNames...)...)
	f.Add("provider", "Provider", c.Provider, ui.Options("any provider", s.policy.ProviderNames()...)...)
	f.Add("held_by", "Held by", c.HeldBy, holders(s.Overview, c.HeldBy)...)
	s.templates(f, c.Template)
	f.Add("text", "Part of an id", c.Text)
	f.Order("findings", c)
	return f
}

// holders are what holds something now, to choose from; what was chosen stays among them.
func holders(o *reconcile.Overview, chosen string) []ui.Option {
	out := []ui.Option{{Value: "", Text: "anything or nothing"}}
	has := chosen == ""
	for _, g := range heldGroups(o) {
		if g.held.Kind == reconcile.HeldBreaker {
			continue // its words have the command in them that lets go; the rule says as much
		}
		out = append(out, ui.Option{Value: ui.Line(g.held.String()), Text: text.Clip(g.By, 60)})
		has = has || g.held.String() == chosen
	}
	if !has {
		out = append(out, ui.Option{Value: ui.Line(chosen), Text: text.Clip(ui.Name(chosen), 60)})
	}
	return out
}
