package web

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// IncidentsPage lists the incidents that somebody chose: the open ones first, in their usual order.
func IncidentsPage(a *Asked, c *reconcile.Chosen, found Part[reconcile.Incident]) templ.Component {
	s := a.modelOf()
	p := sheet{frame: frameOf(a, "incidents", "Incidents")}
	p.Head = headline{Level: well, Text: "No incident is open", Below: "Many failures with one cause are one incident."}
	if n := openIncidents(s.Overview); n > 0 {
		p.Head.Level, p.Head.Text = bad, count(n, "incident")+" "+verb(n, "is", "are")+" open"
	}
	g := grid{Heads: []string{"incident", "state", "failures", "likely cause", "began", "lasted"},
		Empty: "No incident is on record.", More: nextPart("incidents", c, found.Next),
		Sort: sortingOf("incidents", c, "id", "", "failures", "", "age", "")}
	if p.Filters = incidentFilters(s, c); p.Filters.Clear {
		g.Empty = "No incident is like that."
	}
	for i := range found.Rows {
		in := &found.Rows[i]
		v := s.findings.incident(in)
		g.Rows = append(g.Rows, row{Key: "incident " + v.Key, Cells: []cell{
			incidentCell(in.ID), chip(v.Level, v.State), said(v.Count).below(v.Where), said(v.Cause),
			when(v.First), {Text: lasted(in, s)},
		}})
	}
	p.Blocks = []block{{Grid: &g}}
	return paper(p)
}

func incidentFilters(s *model, c *reconcile.Chosen) *filterForm {
	f := &filterForm{Action: "incidents"}
	f.add("state", "State", c.State, options("open or over", reconcile.ChosenOpen, reconcile.ChosenClosed)...)
	f.add("rule", "Rule", c.Rule, options("any rule", reconcile.RuleNames...)...)
	f.add("provider", "Provider", c.Provider, options("any provider", s.policy.ProviderNames()...)...)
	f.add("text", "Part of its id, cause or error", c.Text)
	f.order("incidents", c)
	return f
}

// lookedAfter is who acknowledged it, nobody as long as it is open and nobody did.
func lookedAfter(in *reconcile.Incident, s *model) cell {
	if in.AckedAt.IsZero() {
		if in.ClosedAt.IsZero() {
			return cell{Text: "nobody yet"}
		}
		return cell{}
	}
	since := "since " + text.Coarse(s.Now.Sub(in.AckedAt)) + " ago"
	return named(in.AckedBy.Author).below(since + ": " + text.Plain(in.AckedBy.Reason, mostLine))
}

func lasted(in *reconcile.Incident, s *model) string {
	end := s.Now
	if !in.ClosedAt.IsZero() {
		end = in.ClosedAt
	}
	return text.Coarse(end.Sub(in.FirstSeen))
}

// MostAffected is how many of an incident's tasks its page names at once.
const MostAffected = 100

// IncidentPage is one incident: what failed, why, whom it affected, what it holds and what lets go.
func IncidentPage(a *Asked, in *reconcile.Incident, of Part[reconcile.Verdict],
	open []reconcile.FindingSeen) templ.Component {
	s := a.modelOf()
	v := s.findings.incident(in)
	p := sheet{frame: frameOf(a, "incidents", "Incident "+in.ID)}
	p.Head = headline{Level: v.Level, Word: v.State, Text: v.Count, Below: v.Cause}
	if in.ClosedAt.IsZero() {
		p.Head.Below += " " + strings.TrimRight(nextForIncident(s.Overview, in), ":.") + "."
		p.Head.Acts = []act{acknowledgeAct(in.ID), releaseAct("incident:" + in.ID)}
	}
	if !in.Holds() && slices.ContainsFunc(of.Rows, func(d reconcile.Verdict) bool { return !d.FailedAt.IsZero() }) {
		p.Head.Acts = append(p.Head.Acts, retryAct("incident:"+in.ID))
	}
	facts := []pair{
		{"incident", cell{ID: v.ID}}, {"rule", ruleCell(in.Rule).below(v.Means)}, {"where", said(placeOf(in))}, {"error",
			said(in.Error)},
		{"first failure", when(v.First)}, {"newest failure", when(v.Last)}, {"closed", lastingCell(v.Closed)},
		{"looked after by", lookedAfter(in, s)},
		{"after the first", cell{Text: strings.Trim(v.Span, ",. ")}}, {"open findings", said(v.Findings)}, {"what it holds",
			said(v.Holds)}, {"cost so far", said(v.Cost)},
	}
	p.Blocks = []block{
		{Title: "What failed", Pairs: facts, Half: true},
		{Title: "Why", Grid: evidenceGrid(in.Evidence), Words: reasonWords(&v), Half: true},
	}
	if len(open) > 0 {
		g := &grid{Heads: []string{"rule", "subject", "state", "what was seen", "since"}}
		for i := range open {
			g.Rows = append(g.Rows, s.findings.row(&open[i]))
		}
		p.Blocks = append(p.Blocks, block{Title: "Open findings of it", Grid: g})
	}
	p.Blocks = append(p.Blocks, affectedBlock(s.Now, v, of))
	return paper(p)
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

func lastingCell(m moment) cell {
	if m.ISO == "" {
		return cell{}
	}
	return when(m)
}

// affectedBlock are the tasks of an incident, and after them what retries them and what lets go.
func affectedBlock(now time.Time, v incidentView, of Part[reconcile.Verdict]) block {
	g := &grid{Heads: []string{"task", "sandbox", "what was seen", "when"},
		Empty: "Its verdicts are not on record any more."}
	for i := range of.Rows {
		d := &of.Rows[i]
		g.Rows = append(g.Rows, row{Key: fmt.Sprint("verdict ", d.Number), Cells: []cell{
			taskCell(d.Task), sandboxCell(d.Provider, d.Sandbox), said(sentence(capital(text.Plain(d.Reason, mostLine)))),
			when(ago(d.At, now)),
		}})
	}
	b := block{Title: "Affected tasks", Aside: count(len(g.Rows), "task") + ", newest first", Grid: g}
	if of.Next != "" {
		b.Aside = countWords(len(g.Rows), true, "task") + ", newest first"
		g.More = &link{"The next ones", asking(address("incidents", v.ID), "after", of.Next)}
	}
	if v.Affected != "" {
		b.Commands = append(b.Commands, command_{"List them, to retry them:", v.Affected})
	}
	if v.Release != "" {
		b.Commands = append(b.Commands, command_{"Release what it holds:", v.Release})
	}
	return b
}

func evidenceGrid(all []reconcile.Evidence) *grid {
	g := &grid{Caption: "Evidence, each by its source's own clock", Heads: []string{"source", "at", "fact"},
		Empty: "No evidence is recorded."}
	for _, e := range evidenceLines(all) {
		g.Rows = append(g.Rows, row{Cells: []cell{{Text: e.Source}, when(e.At), {Text: e.Fact}}, Block: e.Block})
	}
	return g
}
