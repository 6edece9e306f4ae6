package check

import (
	"context"
	"fmt"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// checkProofs says of each rule that acts, and that the history can tell of, whether it proves the rule.
func checkProofs(ctx context.Context, a *app.App) (out []reconcile.CheckResult) {
	policy := a.Config.Policy()
	rules := app.Armed(&policy)
	out = checkAuto(ctx, a)
	if len(rules) == 0 {
		return out
	}
	now, autos := a.Standings(ctx, &policy), len(out)
	if policy.Proof.Off() {
		out = append(out, reconcile.CheckResult{What: "proof", OK: true, Said: "proof: off, so the rules act unproven"})
	}
	found, err := a.Proofs(ctx, rules, nil)
	if err != nil {
		return append(out, reconcile.CheckResult{What: "history", OK: true,
			Said: "rules are not held against it: " + err.Error()})
	}
	for _, name := range rules {
		r := found[name]
		if r.Samples == 0 {
			out = append(out, standingLine(now, name)...)
			continue
		}
		line := reconcile.CheckResult{What: "proof of " + name, OK: true, Said: r.Reason}
		switch {
		case r.Proven:
		case r.Suggested > r.After:
			line.Fix = fmt.Sprintf("rules: {%s: {after: %s}}", name, text.Exact(r.Suggested))
		default:
			line.Fix = fmt.Sprintf("rules: {%s: {mode: observe}} until more tasks have finished", name)
		}
		line.Said = reconcile.Joined(line.Said, now.Aside(name, r.Proven))
		out = append(out, line)
	}
	if len(out) == autos || policy.Proof.Off() && len(out) == autos+1 {
		out = append(out, reconcile.CheckResult{What: "history", OK: true,
			Said: "no finished task tells of the rules that act: nothing proves them yet"})
	}
	return out
}

// checkAuto says of each rule whose config says `after: auto` where its threshold is, and why.
func checkAuto(ctx context.Context, a *app.App) (out []reconcile.CheckResult) {
	p := a.InForce(ctx)
	for _, name := range reconcile.RuleNames {
		for _, line := range p.LearnedLines(name) {
			out = append(out, reconcile.CheckResult{What: "threshold of " + name, OK: true, Said: line})
		}
	}
	return out
}

// standingLine is what check says of a rule of which the finished tasks tell nothing.
func standingLine(s app.Standings, rule string) []reconcile.CheckResult {
	now, asked := s[rule]
	if !asked {
		return nil
	}
	line := reconcile.CheckResult{What: "proof of " + rule, OK: true, Said: now.Line}
	if !now.Proven() {
		line.Said = "held: " + now.Line
		line.Fix = "wait until what it would have done was followed, or: sandkeeper arm " + rule + " --unproven --reason …"
	}
	return []reconcile.CheckResult{line}
}
