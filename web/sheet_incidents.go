package web

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/web/ui"

	"github.com/a-h/templ"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// IncidentsPage lists the incidents that somebody chose: the open ones first, in their usual order.
func IncidentsPage(a *Asked, c *reconcile.Chosen, found Part[reconcile.Incident]) templ.Component {
	s := a.modelOf()
	p := ui.Sheet{Frame: frameOf(a, "incidents", "Incidents")}
	p.Head = ui.Headline{Level: ui.Well, Text: "No incident is open",
		Below: "Many failures with one cause are one incident."}
	if n := openIncidents(s.Overview); n > 0 {
		p.Head.Level, p.Head.Text = s.incidentsLevel(), ui.Count(n, "incident")+" "+ui.Verb(n, "is", "are")+" open"
	}
	g := ui.Grid{Heads: []string{"incident", "state", "failures", "likely cause", "began", "lasted"},
		Empty: "No incident is on record.", More: ui.NextPart("incidents", c, found.Next),
		Sort: ui.SortingOf("incidents", c, "id", "", "failures", "", "age", "")}
	if p.Filters = incidentFilters(s, c); p.Filters.Clear {
		g.Empty = "No incident is like that."
	}
	for i := range found.Rows {
		in := &found.Rows[i]
		v := s.findings.incident(in)
		g.Rows = append(g.Rows, ui.Row{Key: "incident " + v.Key, Cells: []ui.Cell{
			ui.IncidentCell(in.ID), ui.Chip(v.Level, v.State), ui.Said(v.Count).Below(v.Where), ui.Said(v.Cause),
			ui.When(v.First), {Text: lasted(in, s)},
		}})
	}
	p.Blocks = []ui.Block{{Grid: &g}}
	return a.listPage(p)
}

func incidentFilters(s *model, c *reconcile.Chosen) *ui.FilterForm {
	f := &ui.FilterForm{Action: "incidents"}
	f.Add("state", "State", c.State, ui.Options("open or over", reconcile.ChosenOpen, reconcile.ChosenClosed)...)
	f.Add("rule", "Rule", c.Rule, ui.Options("any rule", reconcile.RuleNames...)...)
	f.Add("provider", "Provider", c.Provider, ui.Options("any provider", s.policy.ProviderNames()...)...)
	s.templates(f, c.Template)
	f.Add("text", "Part of its id, cause or error", c.Text)
	f.Order("incidents", c)
	return f
}

// lookedAfter is who acknowledged it, nobody as long as it is open and nobody did.
func lookedAfter(in *reconcile.Incident, s *model) ui.Cell {
	if in.AckedAt.IsZero() {
		if in.ClosedAt.IsZero() {
			return ui.Cell{Text: "nobody yet"}
		}
		return ui.Cell{}
	}
	since := "since " + text.Coarse(s.Now.Sub(in.AckedAt)) + " ago"
	return ui.Named(in.AckedBy.Author).Below(since + ": " + ui.Line(in.AckedBy.Reason))
}

func lasted(in *reconcile.Incident, s *model) string {
	end, so := s.Now, " so far"
	if !in.ClosedAt.IsZero() {
		end, so = in.ClosedAt, ""
	}
	return text.Coarse(end.Sub(in.FirstSeen)) + so
}

// MostAffected is how many of an incident's tasks its page names at once.
const MostAffected = 100

// IncidentPage is one incident: what failed, why, whom it affected, what it holds and what lets go.
func IncidentPage(a *Asked, in *reconcile.Incident, of Part[reconcile.Verdict],
	open Part[reconcile.FindingSeen]) templ.Component {
	s := a.modelOf()
	v := s.findings.incident(in)
	p := ui.Sheet{Frame: frameOf(a, "incidents", "Incident "+in.ID)}
	p.Head = ui.Headline{Level: v.Level, Word: v.State, Text: v.Count, Below: v.Cause}
	if in.ClosedAt.IsZero() {
		p.Head.Below += " " + strings.TrimRight(nextForIncident(s, in), ":.") + "."
	}
	p.Head.Acts = s.actsOfIncident(in, slices.ContainsFunc(of.Rows, func(d reconcile.Verdict) bool {
		return !d.FailedAt.IsZero()
	}))
	facts := []ui.Pair{
		ui.PairOf("incident", ui.Cell{ID: v.ID}), ui.PairOf("rule", ui.RuleCell(in.Rule).Below(v.Means)),
		ui.PairOf("where", ui.Said(placeOf(in))), ui.PairOf("error",
			ui.Said(in.Error)),
		ui.PairOf("first failure", ui.When(v.First)),
		ui.PairOf("newest failure", ui.When(v.Last).Below(strings.Trim(v.Span, ",. "))),
		ui.PairOf("closed", lastingCell(v.Closed)),
		ui.PairOf("looked after by", lookedAfter(in, s)),
		ui.PairOf("open findings", ui.Said(v.Findings)), ui.PairOf("what it holds",
			ui.Said(v.Holds)), ui.PairOf("cost so far", ui.Said(v.Cost)),
	}
	p.Blocks = []ui.Block{
		{Title: "What failed", Pairs: facts, Half: true},
		{Title: "Why", Grid: evidenceGrid(in.Evidence), Words: reasonWords(&v), Half: true},
	}
	if len(open.Rows) > 0 {
		p.Blocks = append(p.Blocks, s.findings.openOfIncident(in.ID, open))
	}
	p.Blocks = append(p.Blocks, affectedBlock(s.Now, v, of))
	return ui.Paper(p)
}

// openOfIncident are the newest open findings of an incident, and where all of them are.
func (s *findings) openOfIncident(id string, open Part[reconcile.FindingSeen]) ui.Block {
	g := &ui.Grid{Heads: []string{"rule", "subject", "state", "what was seen", "since"}}
	for i := range open.Rows {
		g.Rows = append(g.Rows, s.row(&open.Rows[i]))
	}
	b := ui.Block{Title: "Open findings of it", Grid: g}
	if open.Next != "" {
		b.Aside = fmt.Sprintf("the newest %d", len(open.Rows))
		if n := len(s.members[id]); n > len(open.Rows) {
			b.Aside += fmt.Sprintf(", %d more at least", n-len(open.Rows)) // of those that the overview read
		}
		g.More = &ui.Link{Text: "All of them", Href: ui.Asking("findings", "incident", id)}
	}
	return b
}

// reasonWords are what its open findings say, those that are said most first.
func reasonWords(v *incidentView) []string {
	var words []string
	for _, r := range v.Reasons {
		line := r.Text
		if r.Example {
			line = "for example: " + line
		}
		if r.Times > 1 {
			line = fmt.Sprintf("%d × %s", r.Times, line)
		}
		words = append(words, line)
	}
	return append(words, v.More)
}

func lastingCell(m ui.Moment) ui.Cell {
	if m.ISO == "" {
		return ui.Cell{}
	}
	return ui.When(m)
}

// reasonOfVerdict is what was seen, with the task and the sandbox as links.
func reasonOfVerdict(d *reconcile.Verdict) ui.Linked {
	return ui.Linking(ui.Sentence(ui.Capital(ui.Line(d.Reason))), reconcile.TaskSubject(d.Task),
		reconcile.BoxSubject(reconcile.Ref{Provider: d.Provider, ID: d.Sandbox}))
}

// affectedBlock are the tasks of an incident, and after them what retries them and what lets go.
func affectedBlock(now time.Time, v incidentView, of Part[reconcile.Verdict]) ui.Block {
	g := &ui.Grid{Heads: []string{"task", "sandbox", "what was seen", "when"},
		Empty: "Its verdicts are not on record any more."}
	for i := range of.Rows {
		d := &of.Rows[i]
		g.Rows = append(g.Rows, ui.Row{Key: fmt.Sprint("verdict ", d.Number), Cells: []ui.Cell{
			ui.TaskCell(d.Task), ui.SandboxCell(d.Provider, d.Sandbox), {Words: reasonOfVerdict(d)},
			ui.When(ui.Ago(d.At, now)),
		}})
	}
	b := ui.Block{Title: "Affected tasks", Aside: ui.Count(len(g.Rows), "task") + ", newest first", Grid: g}
	if of.Next != "" {
		b.Aside = ui.CountWords(len(g.Rows), true, "task") + ", newest first"
		g.More = &ui.Link{Text: "The next ones", Href: ui.Asking(ui.Address("incidents", v.ID), "after", of.Next)}
	}
	if v.Affected != "" {
		b.Commands = append(b.Commands, ui.ShellLine{Says: "List them, to retry them:", Line: v.Affected})
	}
	if v.Release != "" {
		b.Commands = append(b.Commands, ui.ShellLine{Says: "Release what it holds:", Line: v.Release})
	}
	return b
}

func evidenceGrid(all []reconcile.Evidence) *ui.Grid {
	g := &ui.Grid{Caption: "Evidence, each by its source's own clock", Heads: []string{"source", "at", "fact"},
		Empty: "No evidence is recorded."}
	for _, e := range ui.EvidenceLines(all) {
		g.Rows = append(g.Rows, ui.Row{Cells: []ui.Cell{{Text: e.Source}, ui.When(e.At), {Words: e.Fact}}, Block: e.Block})
	}
	return g
}
