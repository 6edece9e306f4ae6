package web

import (
	"fmt"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/web/ui"

	"github.com/a-h/templ"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// RulesPage lists the rules with what they may do and how often they were wrong.
func RulesPage(a *Asked) templ.Component {
	s := a.modelOf()
	p := ui.Sheet{Frame: frameOf(a, "rules", "Rules")}
	p.Head = ui.Headline{Level: ui.Calm, Text: "Rules", Below: s.rules.modesWords()}
	if s.rules.onlyObserves() {
		p.Head.Level, p.Head.Word = ui.Set, "observe only"
	}
	g := ui.Grid{Heads: []string{"rule", "mode", "acts after", "repairs by", "open", "false positives"}}
	for _, rule := range reconcile.RuleNames {
		if s.policy.Tasks.None && reconcile.RuleNamed(rule).NeedsTasks {
			continue
		}
		g.Rows = append(g.Rows, s.rules.ruleRow(rule))
	}
	p.Blocks = []ui.Block{{Grid: &g}}
	if words := unwatched(s.Overview); words != "" {
		p.Blocks[0].Words = []string{"Not watched, what they end cannot come back: " + words + "."}
	}
	if g := falseList(s.Overview); len(g.Rows) > 0 {
		p.Blocks = append(p.Blocks, ui.Block{Title: "Newest false positives", Grid: g})
	}
	return ui.Paper(p)
}

func falseList(o *reconcile.Overview) *ui.Grid {
	g := &ui.Grid{Heads: []string{"rule", "subject", "was", "marked failed", "came back", "what was seen"}}
	for i, v := range falsePositives(o) {
		of := &o.FalsePositives[i]
		g.Rows = append(g.Rows, ui.Row{Key: "false " + v.Key,
			Cells: []ui.Cell{ui.RuleCell(of.Rule), ui.SubjectCell(of.Subject),
				ui.Chip(v.Level, v.Word),
				ui.Said(v.Reason), ui.When(v.When).Below(v.After + " after"), ui.Said(v.Saw)}})
	}
	return g
}

func (r *ruleBook) modesWords() string {
	var words []string
	for _, l := range r.modeLines() {
		words = append(words, l.Mode+": "+l.Rules)
	}
	return ui.Sentence(strings.Join(words, "; "))
}

func (r *ruleBook) ruleRow(rule string) ui.Row {
	p := r.policy.Rules[rule]
	open := ui.Number(r.FindingsOpen[rule])
	if r.FindingsOpen[rule] > 0 {
		open.Href = ui.Asking("findings", "rule", rule)
	}
	return ui.Row{Key: "rule " + rule, Cells: []ui.Cell{
		ui.RuleCell(rule).Below(means(rule)), r.modeCell(rule), r.afterCell(rule, &p), {Text: string(r.remedyOf(rule))}, open,
		tallyCell(r.Overview, rule),
	}}
}

func (r *ruleBook) remedyOf(rule string) reconcile.Remedy {
	if r := r.policy.Rules[rule].Remedy; r != "" {
		return r
	}
	if all := reconcile.RuleNamed(rule).Remedies; len(all) > 0 {
		return all[0]
	}
	return ""
}

// modeCell is the mode in force, with who lowered it.
func (r *ruleBook) modeCell(rule string) ui.Cell {
	p := r.policy.Rules[rule]
	mode := r.modeOf(rule, p.Mode)
	l := map[reconcile.Mode]ui.Level{reconcile.Enforce: ui.Well, reconcile.Observe: ui.Set}[mode]
	if l == "" {
		l = ui.Calm
	}
	c := ui.Chip(l, reconcile.FirstOf(string(mode), "off"))
	if mode != p.Mode {
		c.Sub = "lowered from " + string(p.Mode) + signed(r.Controls.Lowered[rule].Author, "")
		if demotedBy(r.Overview, rule) {
			c.Level, c.Sub = ui.Bad, "lowered itself because of its false positives"
		}
	} else if mode == reconcile.Enforce && p.Rollout < 100 {
		c.Sub = fmt.Sprintf("%d %% of subjects", p.Rollout)
	}
	if words := r.proofWords(rule); mode == reconcile.Enforce && words != "" {
		c.Level, c.Sub = ui.Set, strings.Join(reconcile.NonEmpty(c.Sub, words), "; ")
	}
	return c
}

// afterCell is the threshold in force, with the default beside it where that is another.
func (r *ruleBook) afterCell(rule string, p *reconcile.RulePolicy) ui.Cell {
	c := ui.Cell{Text: afterWords(p.After)}
	if lines := r.policy.LearnedLines(rule); len(lines) > 0 {
		c.Sub = ui.Line(lines[0])
	} else if usual := reconcile.RuleNamed(rule).Default.After; usual != p.After {
		c.Sub = "default " + afterWords(usual)
	}
	return c
}

func afterWords(d time.Duration) string {
	if d <= 0 {
		return "at once"
	}
	return text.Coarse(d)
}

func tallyCell(o *reconcile.Overview, rule string) ui.Cell {
	t := o.Tallies[rule]
	switch {
	case !reconcile.Watched(rule):
		return ui.Cell{Text: "not watched"}
	case t.Verdicts == 0:
		return ui.Cell{Text: "nothing acted on yet"}
	}
	l := ui.Well
	if t.FalsePositives > 0 {
		l = ui.Warn
	}
	if demotedBy(o, rule) {
		l = ui.Bad
	}
	return ui.Chip(l, fmt.Sprintf("%d of %d", t.FalsePositives, t.Verdicts)).
		Below(fmt.Sprintf("%.1f %%", 100*float64(t.FalsePositives)/float64(t.Verdicts)))
}
