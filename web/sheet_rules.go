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
)

// RulesPage lists the rules with what they may do and how often they were wrong.
func RulesPage(a *Asked) templ.Component {
	s := a.modelOf()
	p := sheet{frame: frameOf(a, "rules", "Rules")}
	p.Head = headline{Level: calm, Text: "Rules", Below: s.rules.modesWords()}
	if s.rules.onlyObserves() {
		p.Head.Level, p.Head.Word = set, "observe only"
	}
	g := grid{Heads: []string{"rule", "mode", "acts after", "repairs by", "open", "false positives"}}
	for _, rule := range reconcile.RuleNames {
		if s.policy.Tasks.None && reconcile.RuleNamed(rule).NeedsTasks {
			continue
		}
		g.Rows = append(g.Rows, s.rules.ruleRow(rule))
	}
	p.Blocks = []block{{Grid: &g}}
	if words := unwatched(s.Overview); words != "" {
		p.Blocks[0].Words = []string{"Not watched, what they end cannot come back: " + words + "."}
	}
	if g := falseList(s.Overview); len(g.Rows) > 0 {
		p.Blocks = append(p.Blocks, block{Title: "Newest false positives", Grid: g})
	}
	return paper(p)
}

func falseList(o *reconcile.Overview) *grid {
	g := &grid{Heads: []string{"rule", "subject", "was", "marked failed", "came back", "what was seen"}}
	for i, v := range falsePositives(o) {
		of := &o.FalsePositives[i]
		g.Rows = append(g.Rows, row{Key: "false " + v.Key, Cells: []cell{ruleCell(of.Rule), subjectCell(of.Subject),
			chip(v.Level, v.Word),
			said(v.Reason), when(v.When).below(v.After + " after"), said(v.Saw)}})
	}
	return g
}

func (r *ruleBook) modesWords() string {
	var words []string
	for _, l := range r.modeLines() {
		words = append(words, l.Mode+": "+l.Rules)
	}
	return sentence(strings.Join(words, "; "))
}

func (r *ruleBook) ruleRow(rule string) row {
	p := r.policy.Rules[rule]
	open := number(r.FindingsOpen[rule])
	if r.FindingsOpen[rule] > 0 {
		open.Href = asking("findings", "rule", rule)
	}
	return row{Key: "rule " + rule, Cells: []cell{
		ruleCell(rule).below(means(rule)), r.modeCell(rule), r.afterCell(rule, &p), {Text: string(r.remedyOf(rule))}, open,
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
func (r *ruleBook) modeCell(rule string) cell {
	p := r.policy.Rules[rule]
	mode := r.modeOf(rule, p.Mode)
	l := map[reconcile.Mode]level{reconcile.Enforce: well, reconcile.Observe: set}[mode]
	if l == "" {
		l = calm
	}
	c := chip(l, reconcile.FirstOf(string(mode), "off"))
	if mode != p.Mode {
		c.Sub = "lowered from " + string(p.Mode) + signed(r.Controls.Lowered[rule].Author, "")
		if demotedBy(r.Overview, rule) {
			c.Level, c.Sub = bad, "lowered itself because of its false positives"
		}
	} else if mode == reconcile.Enforce && p.Rollout < 100 {
		c.Sub = fmt.Sprintf("%d %% of subjects", p.Rollout)
	}
	if words := r.proofWords(rule); mode == reconcile.Enforce && words != "" {
		c.Level, c.Sub = set, strings.Join(reconcile.NonEmpty(c.Sub, words), "; ")
	}
	return c
}

// afterCell is the threshold in force, with the default beside it where that is another.
func (r *ruleBook) afterCell(rule string, p *reconcile.RulePolicy) cell {
	c := cell{Text: afterWords(p.After)}
	if lines := r.policy.LearnedLines(rule); len(lines) > 0 {
		c.Sub = text.Plain(lines[0], mostLine)
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

func tallyCell(o *reconcile.Overview, rule string) cell {
	t := o.Tallies[rule]
	switch {
	case !reconcile.Watched(rule):
		return cell{Text: "not watched"}
	case t.Verdicts == 0:
		return cell{Text: "nothing acted on yet"}
	}
	l := well
	if t.FalsePositives > 0 {
		l = warn
	}
	if demotedBy(o, rule) {
		l = bad
	}
	return chip(l, fmt.Sprintf("%d of %d", t.FalsePositives, t.Verdicts)).
		below(fmt.Sprintf("%.1f %%", 100*float64(t.FalsePositives)/float64(t.Verdicts)))
}

// ReportOf is how far back the report on a rule's page goes.
const ReportOf = 7 * 24 * time.Hour

// RulePage is one rule: its settings, a week of its verdicts, and how often it was wrong.
func RulePage(a *Asked, rule string, report *reconcile.RuleReport) templ.Component {
	s := a.modelOf()
	r, policy := reconcile.RuleNamed(rule), s.policy.Rules[rule]
	mode := s.rules.modeCell(rule)
	p := sheet{frame: frameOf(a, "rules", rule)}
	p.Head = headline{Level: mode.Level, Word: mode.Text, Text: rule, Below: "Finds " + r.Means + ". " + mode.Sub,
		Acts: []act{modeAct(rule), pauseAct("rule:" + rule)}}
	p.Blocks = []block{
		{Title: "Settings", Half: true, Pairs: s.rules.settings(rule)},
		{Title: "The last 7 days", Half: true, Pairs: reportPairs(rule, report),
			Words: []string{s.rules.advice(rule, report)}},
	}
	if len(policy.Overrides) > 0 {
		p.Blocks = append(p.Blocks, block{Title: "Overrides", Grid: overrideGrid(policy.Overrides),
			Words: s.rules.learnedWords(rule)})
	}
	if report.Curve != nil {
		p.Blocks = append(p.Blocks, curveBlock(s.Now, report.Curve))
	}
	if money := moneyGrid(report); money != nil {
		p.Blocks = append(p.Blocks, block{Title: "Money, the last 7 days", Grid: money, Words: []string{reconcile.CountedSo}})
	}
	p.Blocks = append(p.Blocks, s.findings.openOf(rule))
	if examples := falseGrid(s.Now, rule, report); examples != nil {
		p.Blocks = append(p.Blocks, block{Title: "False positives", Grid: examples})
	}
	if groups := groupsGrid(report); groups != nil {
		p.Blocks = append(p.Blocks, block{Title: "False positives by label", Grid: groups,
			Words: []string{"owns.except leaves a kind of sandboxes alone."}})
	}
	return paper(p)
}

func (r *ruleBook) settings(rule string) []pair {
	p := r.policy.Rules[rule]
	pairs := []pair{
		{"mode", r.modeCell(rule)}, {"acts after", r.afterCell(rule, &p)},
		{"repairs by", cell{Text: string(r.remedyOf(rule))}},
		{"rollout", cell{Text: fmt.Sprintf("%d %% of subjects", p.Rollout)}},
	}
	for _, one := range []struct {
		name string
		n    int
	}{{"sightings", p.Sightings}, {"looks", p.Looks}, {"failed probes in a row", p.Failures}, {"count", p.Count},
		{"critical", p.Critical}} {
		if one.n > 0 {
			pairs = append(pairs, pair{one.name, number(one.n)})
		}
	}
	for _, one := range []struct {
		name string
		d    time.Duration
	}{{"when it is conclusive", p.Conclusive}, {"apart", p.Apart}, {"window", p.Window}, {"warns ahead", p.Ahead}} {
		if one.d > 0 {
			pairs = append(pairs, pair{one.name, cell{Text: text.Coarse(one.d)}})
		}
	}
	return append(pairs, r.proofPair(rule), pair{"config", cell{Text: "rules." + rule}})
}

func reportPairs(rule string, r *reconcile.RuleReport) []pair {
	pairs := []pair{
		{"came due", number(r.Verdicts)}, {"repaired by it", number(r.Acted)}, {"different subjects", number(r.Subjects)},
		{"resolved by themselves", number(r.Resolved)}, {"repaired by another rule", number(r.ByRule)},
		{"repaired by an operator", number(r.ByOperator)}, {"cost", said(dollars(r.Cost))}, {"first finding",
			when(exactly(r.FirstSeen))},
	}
	if reconcile.Watched(rule) {
		pairs = append(pairs, pair{"false positives", number(r.FalsePositives)})
	}
	return pairs
}

// moneyGrid is what the rule's sandboxes cost and what ending them saved, by provider; nil without any price.
func moneyGrid(r *reconcile.RuleReport) *grid {
	if len(r.Money) == 0 {
		return nil
	}
	usd := func(amount float64) cell { return cell{Text: fmt.Sprintf("$%.2f", amount), Num: true} }
	g := &grid{Heads: []string{"provider", "cost until found", "cost since", "saved"}}
	for _, m := range r.Money {
		g.Rows = append(g.Rows, row{Key: "money " + text.Plain(m.Provider, mostName), Cells: []cell{named(m.Provider),
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
			words = append(words, text.Plain(line, mostLine))
		}
	}
	return words
}

func overrideGrid(all []reconcile.Override) *grid {
	g := &grid{Heads: []string{"of", "acts after"}}
	for _, o := range all {
		var words []string
		for _, key := range slices.Sorted(maps.Keys(o.When)) {
			words = append(words, key+" "+o.When[key])
		}
		g.Rows = append(g.Rows, row{Cells: []cell{said(strings.Join(words, ", ")), {Text: afterWords(o.After)}}})
	}
	return g
}

// openOf are the open findings of a rule, as far as they were read.
func (s *findings) openOf(rule string) block {
	g := &grid{Heads: []string{"rule", "subject", "state", "what was seen", "since"}, Empty: "It has no open finding."}
	for i := range s.Findings {
		if f := &s.Findings[i]; f.Rule == rule && len(g.Rows) < mostGroups {
			g.Rows = append(g.Rows, s.row(f))
		}
	}
	if n := s.FindingsOpen[rule]; n > len(g.Rows) {
		g.More = &link{fmt.Sprintf("All %d", n), asking("findings", "rule", rule)}
	}
	return block{Title: "Open findings", Grid: g}
}

func falseGrid(now time.Time, rule string, r *reconcile.RuleReport) *grid {
	g := &grid{Heads: []string{"subject", "marked failed", "came back", "what was seen"}}
	for i := range r.Examples {
		v := falsePositiveOf(now, &r.Examples[i])
		g.Rows = append(g.Rows, row{Key: "false " + v.Key, Cells: []cell{
			subjectCell(r.Examples[i].Subject), said(v.Reason), when(v.When).below(v.After + " after"),
			said(v.Saw).below(v.Word)}})
	}
	if len(g.Rows) == 0 || !reconcile.Watched(rule) {
		return nil
	}
	return g
}
