package web

import (
	"strings"

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
	p := sheet{frame: frameOf(a, "findings", "Findings")}
	p.Head = headline{Level: calm, Text: "Findings", Below: findingsWords(s, c)}
	p.Filters = findingFilters(s, c)
	g := grid{Heads: []string{"rule", "subject", "state", "what was seen", "since"}, Empty: "No finding is like that.",
		More: nextPart("findings", c, found.Next),
		Sort: sortingOf("findings", c, "rule", "subject", "state", "", "age")}
	for i := range found.Rows {
		g.Rows = append(g.Rows, s.findings.row(&found.Rows[i]))
	}
	p.Blocks = []block{{Title: countWords(len(found.Rows), found.Next != "", "finding"), Grid: &g}}
	p.Blocks = append(p.Blocks, releaseBlock(s, c, len(found.Rows))...)
	return paper(p)
}

func findingsWords(s *model, c *reconcile.Chosen) string {
	if c.State == reconcile.ChosenResolved {
		return "Those that are over" + newestFirst(c) + "."
	}
	return reconcile.FirstOf(strings.TrimSuffix(count(total(s.FindingsOpen), "open finding")+": "+s.findings.dueWords(),
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
func releaseBlock(s *model, c *reconcile.Chosen, shown int) []block {
	b, open := s.Controls.Breakers[c.Rule]
	if !open || c.State != reconcile.ChosenHeld || shown == 0 {
		return nil
	}
	line := releaseCommand(b)
	return []block{{Title: "Release", Commands: []command_{{"When each of the " + count(len(b.Subjects), "subject") +
		" may be acted on, release them:", line}}, Acts: []act{releaseAct(b.Rule)}}}
}

// findingRow is one finding, open or not, with what it rests on.
func (s *findings) row(f *reconcile.FindingSeen) row {
	v := s.view(f)
	r := row{Key: "finding " + v.Key, Evidence: v.Evidence, Cells: []cell{
		ruleCell(f.Rule).below(v.Means), findingSubject(f), stateCell(f, &v), said(v.Reason), when(v.Opened),
	}}
	if !f.ResolvedAt.IsZero() {
		r.Cells[4].Sub = "over " + ago(f.ResolvedAt, s.Now).Text
	}
	return r
}

// findingSubject is what a finding is about, and what belongs to that.
func findingSubject(f *reconcile.FindingSeen) cell {
	c := subjectCell(f.Subject)
	switch of := reconcile.ParseSubject(f.Subject); {
	case of.Type == reconcile.SubjectTask && f.Sandbox != "":
		c.More = append(c.More, cell{Text: " in "}, sandboxCell(f.Provider, f.Sandbox))
	case of.Type == reconcile.SubjectSandbox && f.Task != "":
		t := taskCell(f.Task)
		t.Text = " of task "
		c.More = append(c.More, t)
	}
	return c
}

func stateCell(f *reconcile.FindingSeen, v *findingView) cell {
	if !f.ResolvedAt.IsZero() {
		return chip(calm, "resolved")
	}
	l := v.State.Level()
	if v.State == heldBack && requested([]*reconcile.FindingSeen{f}) {
		l = set
	}
	c := chip(l, v.State.Word())
	if v.State == heldBack {
		c.Sub = v.Held
	}
	if f.Incident != "" {
		c.More = append(c.More, cell{Text: " "}, incidentCell(f.Incident))
	}
	return c
}

func findingFilters(s *model, c *reconcile.Chosen) *filterForm {
	f := &filterForm{Action: "findings"}
	f.add("state", "State", c.State, options("open", reconcile.ChosenDue, reconcile.ChosenHeld, reconcile.ChosenWatched,
		reconcile.ChosenResolved)...)
	f.add("rule", "Rule", c.Rule, options("any rule", reconcile.RuleNames...)...)
	f.add("provider", "Provider", c.Provider, options("any provider", s.policy.ProviderNames()...)...)
	f.add("held_by", "Held by", c.HeldBy, holders(s.Overview, c.HeldBy)...)
	f.add("text", "Part of an id", c.Text)
	f.order("findings", c)
	return f
}

// holders are what holds something now, to choose from; what was chosen stays among them.
func holders(o *reconcile.Overview, chosen string) []option {
	out := []option{{"", "anything or nothing"}}
	has := chosen == ""
	for _, g := range heldGroups(o) {
		if g.held.Kind == reconcile.HeldBreaker {
			continue // its words have the command in them that lets go; the rule says as much
		}
		out = append(out, option{text.Plain(g.held.String(), mostLine), text.Clip(g.By, 60)})
		has = has || g.held.String() == chosen
	}
	if !has {
		out = append(out, option{text.Plain(chosen, mostLine), text.Clip(text.Plain(chosen, mostName), 60)})
	}
	return out
}

// nextPart leads to the part after this one of a list, with the same choice.
func nextPart(page string, c *reconcile.Chosen, next string) *link {
	if next == "" {
		return nil
	}
	return &link{"The next ones", listAddress(page, c, next)}
}

// listAddress is a list with its choice and its order, from a part on.
func listAddress(page string, c *reconcile.Chosen, after string) string {
	return asking(page, "state", c.State, "rule", c.Rule, "provider", c.Provider, "held_by", c.HeldBy,
		"step", string(c.Step), "outcome", string(c.Outcome), "author", c.Author, "incident", c.Incident, "text", c.Text,
		"sort", c.Sort, "after", after)
}
