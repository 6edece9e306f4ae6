package web

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/web/ui"
)

// rulesBlock is what each rule says of it, with its numbers as far as they are on record.
func (l *life) rulesBlock() ui.Block {
	g := &ui.Grid{Heads: []string{"rule", "answer", "what was seen", "looks", "acts after"},
		Empty: "No rule finds anything."}
	found := map[string]bool{}
	for _, open := range []bool{true, false} {
		for i := range l.Findings {
			f := &l.Findings[i]
			if f.ResolvedAt.IsZero() != open || found[f.Rule] {
				continue
			}
			found[f.Rule] = true
			v := l.findings.view(f)
			p := l.policy.Rules[f.Rule]
			g.Rows = append(g.Rows, ui.Row{Key: "rule " + v.Key, Evidence: v.Evidence, Cells: []ui.Cell{
				ui.RuleCell(f.Rule), stateCell(f, &v), {Words: v.Words, Sub: overWords(f, l.model)}, ui.Number(f.Sightings),
				{Text: afterWords(p.After), Num: true}}})
		}
	}
	var rest []string
	for _, rule := range reconcile.RuleNames {
		if l.policy.Judges(rule) && !found[rule] {
			rest = append(rest, rule)
		}
	}
	b := ui.Block{Title: "Rules", Grid: g}
	if len(rest) > 0 {
		b.Words = []string{ui.Count(len(rest), "other rule") + " found nothing: " + strings.Join(rest, ", ") + "."}
	}
	return b
}

func overWords(f *reconcile.FindingSeen, s *model) string {
	if f.ResolvedAt.IsZero() {
		return "open for " + ui.Since(f.OpenedAt, s.Now).Text
	}
	return "resolved " + ui.Ago(f.ResolvedAt, s.Now).Text
}

func (l *life) verdictGrid() *ui.Grid {
	g := &ui.Grid{Heads: []string{"rule", "verdict", "at", "what became of it"}}
	for i := range l.Verdicts {
		v := &l.Verdicts[i]
		became := ui.Chip(ui.Calm, "observed")
		switch {
		case !v.FalsePositiveAt.IsZero():
			became = ui.Chip(ui.Bad, "false positive").Below(ui.Said(v.FalsePositive).Text)
		case !v.ActedAt.IsZero():
			became = ui.Chip(ui.Well, "acted on").Below(text.Time(v.ActedAt))
		case v.Enforced:
			became = ui.Chip(ui.Busy, "to be repaired")
		}
		g.Rows = append(g.Rows, ui.Row{Key: fmt.Sprint("verdict ", v.Number),
			Cells: []ui.Cell{ui.RuleCell(v.Rule), {Words: reasonOfVerdict(v)},
				ui.When(ui.Exactly(v.At)), became}})
	}
	return g
}

func (l *life) historyGrid() *ui.Grid {
	g := &ui.Grid{Heads: []string{"at", "of", "what"}, Empty: "Nothing is on record."}
	about := l.subjects()
	for _, e := range l.Timeline[:min(len(l.Timeline), mostLines)] {
		what, _ := reconcile.CutLog(e.What) // shown once, by itself
		g.Rows = append(g.Rows, ui.Row{Cells: []ui.Cell{ui.When(ui.Exactly(e.At)), ui.Named(e.Kind),
			{Words: ui.Linking(ui.Line(what), about...)}}})
	}
	return g
}

// subjects are the tasks and sandboxes, and what is on record about them may name.
func (l *life) subjects() (all []string) {
	for i := range l.Tasks {
		all = append(all, reconcile.TaskSubject(l.Tasks[i].ID))
	}
	for i := range l.Sandboxes {
		all = append(all, reconcile.BoxSubject(l.Sandboxes[i].Ref))
	}
	for i := range l.Findings {
		f := &l.Findings[i]
		if f.Incident != "" {
			all = append(all, reconcile.SubjectOf(reconcile.SubjectIncident, f.Incident))
		}
	}
	return all
}

// logBlocks are the ends of logs that were saved before something was ended.
func (l *life) logBlocks() []ui.Block {
	var out []ui.Block
	for i := range l.Actions {
		a := &l.Actions[i]
		texts := []string{a.Detail}
		for _, e := range a.Evidence {
			texts = append(texts, e.Fact)
		}
		for _, said := range texts {
			if _, log := reconcile.CutLog(said); log != "" {
				out = append(out, ui.Block{Title: "Log", Aside: "saved " + text.Time(a.ActedAt) + " by action " + ui.Name(a.ID),
					Log: text.Block(log, ui.MostBlock)})
			}
		}
	}
	return slices.Clip(out)
}
