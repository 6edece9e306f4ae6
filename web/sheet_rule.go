package web

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/web/ui"
)

// ReportOf is how far back the report on a rule's page goes.
const ReportOf = 7 * 24 * time.Hour

// RulePage is one rule: its settings, a week of its verdicts, and how often it was wrong.
func RulePage(a *Asked, rule string, report *reconcile.RuleReport) templ.Component {
	s := a.modelOf()
	r, policy := reconcile.RuleNamed(rule), s.policy.Rules[rule]
	mode := s.rules.modeCell(rule)
	p := ui.Sheet{Frame: frameOf(a, "rules", rule)}
	p.Head = ui.Headline{Level: mode.Level, Word: mode.Text, Text: rule, Below: "Finds " + r.Means + ". " + mode.Sub,
		Acts: []ui.Act{ui.ModeAct(rule), ui.PauseAct("rule:" + rule)}}
	p.Blocks = []ui.Block{
		{Title: "Settings", Half: true, Pairs: s.rules.settings(rule)},
		{Title: "The last 7 days", Half: true, Pairs: reportPairs(rule, report),
			Words: []string{s.rules.advice(rule, report)}},
	}
	if len(policy.Overrides) > 0 {
		p.Blocks = append(p.Blocks, ui.Block{Title: "Overrides", Grid: overrideGrid(policy.Overrides),
			Words: s.rules.learnedWords(rule)})
	}
	if report.Curve != nil {
		p.Blocks = append(p.Blocks, curveBlock(s.Now, report.Curve))
	}
	if money := moneyGrid(report); money != nil {
		p.Blocks = append(p.Blocks, ui.Block{Title: "Money, the last 7 days", Grid: money,
			Words: []string{reconcile.CountedSo}})
	}
	p.Blocks = append(p.Blocks, s.findings.openOf(rule))
	if examples := falseGrid(s.Now, rule, report); examples != nil {
		p.Blocks = append(p.Blocks, ui.Block{Title: "False positives", Grid: examples})
	}
	if groups := groupsGrid(report); groups != nil {
		p.Blocks = append(p.Blocks, ui.Block{Title: "False positives by label", Grid: groups,
			Words: []string{"owns.except leaves a kind of sandboxes alone."}})
	}
	return ui.Paper(p)
}

func (r *ruleBook) settings(rule string) []ui.Pair {
	p := r.policy.Rules[rule]
	pairs := []ui.Pair{
		ui.PairOf("mode", r.modeCell(rule)), ui.PairOf("acts after", r.afterCell(rule, &p)),
		ui.PairOf("repairs by", ui.Cell{Text: string(r.remedyOf(rule))}),
		ui.PairOf("rollout", ui.Cell{Text: fmt.Sprintf("%d %% of subjects", p.Rollout)}),
		ui.PairOf("what to do", ui.Cell{Text: "runbook", Href: ui.Address("runbooks", "rules", rule)}),
	}
	for _, one := range []struct {
		name string
		n    int
	}{{"sightings", p.Sightings}, {"looks", p.Looks}, {"failed probes in a row", p.Failures}, {"count", p.Count},
		{"critical", p.Critical}} {
		if one.n > 0 {
			pairs = append(pairs, ui.PairOf(one.name, ui.Number(one.n)))
		}
	}
	for _, one := range []struct {
		name string
		d    time.Duration
	}{{"when it is conclusive", p.Conclusive}, {"apart", p.Apart}, {"window", p.Window}, {"warns ahead", p.Ahead}} {
		if one.d > 0 {
			pairs = append(pairs, ui.PairOf(one.name, ui.Cell{Text: text.Coarse(one.d)}))
		}
	}
	return append(pairs, r.proofPair(rule), ui.PairOf("config", ui.Cell{Text: "rules." + rule}))
}

func reportPairs(rule string, r *reconcile.RuleReport) []ui.Pair {
	pairs := []ui.Pair{
		ui.PairOf("came due", ui.Number(r.Verdicts)), ui.PairOf("repaired by it", ui.Number(r.Acted)),
		ui.PairOf("different subjects", ui.Number(r.Subjects)),
		ui.PairOf("resolved by themselves", ui.Number(r.Resolved)),
		ui.PairOf("repaired by another rule", ui.Number(r.ByRule)),
		ui.PairOf("repaired by an operator", ui.Number(r.ByOperator)), ui.PairOf("cost", ui.Said(ui.Dollars(r.Cost))),
		ui.PairOf("first finding",
			ui.When(ui.Exactly(r.FirstSeen))),
	}
	if reconcile.Watched(rule) {
		pairs = append(pairs, ui.PairOf("false positives", ui.Number(r.FalsePositives)))
	}
	return pairs
}

// moneyGrid is what the rule's sandboxes cost and what ending them saved, by provider; nil without any price.
func moneyGrid(r *reconcile.RuleReport) *ui.Grid {
	if len(r.Money) == 0 {
		return nil
	}
	usd := func(amount float64) ui.Cell { return ui.Cell{Text: fmt.Sprintf("$%.2f", amount), Num: true} }
	g := &ui.Grid{Heads: []string{"provider", "cost until found", "cost since", "saved"}}
	for _, m := range r.Money {
		g.Rows = append(g.Rows, ui.Row{Key: "money " + ui.Name(m.Provider), Cells: []ui.Cell{ui.Named(m.Provider),
			usd(m.UntilFound), usd(m.Cost), usd(m.Saved)}})
	}
	return g
}

// advice is what a week of verdicts says of the rule's mode.
func (r *ruleBook) advice(rule string, week *reconcile.RuleReport) string {
	mode := r.modeOf(rule, r.policy.Rules[rule].Mode)
	switch {
	case r.remedyOf(rule) == reconcile.Report:
		return "It only reports: there is nothing to arm."
	case week.FalsePositives > 0:
		return "It was wrong: look at its false positives below. A longer threshold spares such tasks."
	case week.Verdicts == 0:
		return "Nothing came due: there is nothing to judge it by yet."
	case mode == reconcile.Enforce:
		return "It acts, and was not wrong."
	case !reconcile.Watched(rule):
		return "What it ends cannot come back: look at some of its findings before you arm it."
	}
	return "It was not wrong so far. The command line says more: sandkeeper report"
}

// learnedWords say of the classes of an `after: auto` rule why their thresholds are where they are.
func (r *ruleBook) learnedWords(rule string) (words []string) {
	for i, line := range r.policy.LearnedLines(rule) {
		if i > 0 { // the first is of all
			words = append(words, ui.Line(line))
		}
	}
	return words
}

func overrideGrid(all []reconcile.Override) *ui.Grid {
	g := &ui.Grid{Heads: []string{"of", "acts after"}}
	for _, o := range all {
		var words []string
		for _, key := range slices.Sorted(maps.Keys(o.When)) {
			words = append(words, key+" "+o.When[key])
		}
		g.Rows = append(g.Rows, ui.Row{Cells: []ui.Cell{ui.Said(strings.Join(words, ", ")), {Text: afterWords(o.After)}}})
	}
	return g
}

// openOf are the open findings of a rule, as far as they were read.
func (s *findings) openOf(rule string) ui.Block {
	g := &ui.Grid{Heads: []string{"rule", "subject", "state", "what was seen", "since"}, Empty: "It has no open finding."}
	for i := range s.Findings {
		if f := &s.Findings[i]; f.Rule == rule && len(g.Rows) < mostGroups {
			g.Rows = append(g.Rows, s.row(f))
		}
	}
	if n := s.FindingsOpen[rule]; n > len(g.Rows) {
		g.More = &ui.Link{Text: fmt.Sprintf("All %d", n), Href: ui.Asking("findings", "rule", rule)}
	}
	return ui.Block{Title: "Open findings", Grid: g}
}

func falseGrid(now time.Time, rule string, r *reconcile.RuleReport) *ui.Grid {
	g := &ui.Grid{Heads: []string{"subject", "marked failed", "came back", "what was seen"}}
	for i := range r.Examples {
		v := falsePositiveOf(now, &r.Examples[i])
		g.Rows = append(g.Rows, ui.Row{Key: "false " + v.Key, Cells: []ui.Cell{
			ui.SubjectCell(r.Examples[i].Subject), ui.Said(v.Reason), ui.When(v.When).Below(v.After + " after"),
			ui.Said(v.Saw).Below(v.Word)}})
	}
	if len(g.Rows) == 0 || !reconcile.Watched(rule) {
		return nil
	}
	return g
}
