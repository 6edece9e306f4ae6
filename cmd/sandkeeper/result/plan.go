package result

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Only leaves out the steps and findings of other rules and providers. What was counted stays as it was.
func (r Pass) Only(ofRule, at string) Pass {
	other := func(rule, provider string) bool {
		return ofRule != "" && rule != ofRule || at != "" && provider != at
	}
	r.Steps = slices.DeleteFunc(r.Steps, func(s Step) bool { return other(s.Rule, s.Provider) })
	r.Findings = slices.DeleteFunc(r.Findings, func(x Finding) bool { return other(x.Rule, x.Provider) })
	r.Proofs = slices.DeleteFunc(r.Proofs, func(x Proof) bool { return other(x.Rule, at) })
	return r
}

// A ruleGroup is what a plan has of one rule.
type ruleGroup struct {
	rule  string
	steps []Step
	found []Finding // that are no step
}

// PrintPlan writes a plan for people: what is not trusted, incidents, then rule by rule.
func PrintPlan(w io.Writer, r Pass, most int) error {
	var b bytes.Buffer
	p := console.NewPaint(w)
	passText(&b, p, r)
	incidentsText(&b, p, r)
	for _, g := range groupsOf(r) {
		g.text(&b, p, most)
	}
	learnedText(&b, p, r)
	proofsText(&b, p, r)
	fmt.Fprintln(&b, summary(r))
	return console.Print(w, &b)
}

// groupsOf are the rules that have something to say, in the order of the design.
func groupsOf(r Pass) []*ruleGroup {
	by, order := map[string]*ruleGroup{}, []*ruleGroup{}
	of := func(rule string) *ruleGroup {
		if by[rule] == nil {
			by[rule] = &ruleGroup{rule: rule}
			order = append(order, by[rule])
		}
		return by[rule]
	}
	for _, s := range r.Steps {
		if s.Incident == "" {
			g := of(s.Rule)
			g.steps = append(g.steps, s)
		}
	}
	for _, f := range besides(r) {
		g := of(f.Rule)
		g.found = append(g.found, f)
	}
	slices.SortStableFunc(order, func(a, b *ruleGroup) int {
		return slices.Index(reconcile.RuleNames, a.rule) - slices.Index(reconcile.RuleNames, b.rule)
	})
	return order
}

func (g *ruleGroup) text(b *bytes.Buffer, p console.Paint, most int) {
	fmt.Fprintf(b, "\n%s: %s\n", p.Bold(g.rule), g.counts())
	shown := 0
	room := func() bool {
		shown++
		return most <= 0 || shown <= most
	}
	for _, s := range g.steps {
		if room() {
			stepText(b, p, s)
		}
	}
	for _, f := range g.found {
		if room() {
			findingText(b, p, f)
		}
	}
	if left := shown - most; most > 0 && left > 0 {
		fmt.Fprintf(b, "and %d more of %s: sandkeeper plan --rule %s --limit 0\n", left, g.rule, g.rule)
	}
}

// counts are the steps to do, those that are held, and what was found besides.
func (g *ruleGroup) counts() string {
	held := 0
	for _, s := range g.steps {
		if s.Verdict == "held" {
			held++
		}
	}
	var parts []string
	for _, c := range []struct {
		n    int
		what string
	}{{len(g.steps) - held, "to do"}, {held, "held"}, {len(g.found), "found"}} {
		if c.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", c.n, c.what))
		}
	}
	return strings.Join(parts, ", ")
}
