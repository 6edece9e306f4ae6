package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/backtest"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/store/tasks"
)

// proofWithin is how long check and report read the platform's history for; backtest takes its time.
const proofWithin = 15 * time.Second

// errLongHistory is what a history is that takes longer.
var errLongHistory = errors.New("the history takes longer to read than " + text.Exact(proofWithin) +
	": run `sandkeeper backtest`")

// armed are the rules that act.
func armed(p *reconcile.Policy) (names []string) {
	for _, name := range reconcile.RuleNames {
		if r := p.Rules[name]; r.Mode == reconcile.Enforce && r.Remedy != reconcile.Report {
			names = append(names, name)
		}
	}
	return names
}

// proofs say of the rules whether the platform's own last 30 days prove them, by rule.
func proofs(ctx context.Context, a *app.App, rules []string, seen []reconcile.RuleReport) (
	map[string]backtest.Result, error,
) {
	ctx, cancel := context.WithTimeoutCause(ctx, proofWithin, errLongHistory)
	defer cancel()
	clock, err := a.Tasks.Clock(ctx)
	if err != nil {
		return nil, err
	}
	policy := a.Config.Policy()
	since := clock.Now.Add(-30 * day)
	replay := backtest.New(&policy, since, clock.Now, rules...)
	if err := a.Tasks.History(ctx, tasks.HistoryRead{Since: since, Share: 0.5}, replay.Add); err != nil {
		if errors.Is(context.Cause(ctx), errLongHistory) {
			return nil, errLongHistory
		}
		return nil, err
	}
	byRule := map[string]reconcile.RuleReport{}
	for _, r := range seen {
		byRule[r.Rule] = r
	}
	out := map[string]backtest.Result{}
	for _, r := range replay.Results(byRule, rules...) {
		if r.Class == backtest.All {
			out[r.Rule] = r
		}
	}
	return out, nil
}

// checkProofs says of each rule that acts, and that the history can tell of, whether it proves the rule.
func checkProofs(ctx context.Context, a *app.App) (out []reconcile.CheckResult) {
	policy := a.Config.Policy()
	rules := armed(&policy)
	if len(rules) == 0 {
		return nil
	}
	found, err := proofs(ctx, a, rules, nil)
	if err != nil {
		return []reconcile.CheckResult{{What: "history", OK: true, Said: "rules are not held against it: " + err.Error()}}
	}
	for _, name := range rules {
		r := found[name]
		if r.Samples == 0 {
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
		out = append(out, line)
	}
	if len(out) == 0 {
		out = append(out, reconcile.CheckResult{What: "history", OK: true,
			Said: "no finished task tells of the rules that act: nothing proves them yet"})
	}
	return out
}

// addProofs says in the report of each rule that acts whether the platform's history proves it.
func (r *rulesReport) addProofs(ctx context.Context, a *app.App, seen []reconcile.RuleReport) {
	policy := a.Config.Policy()
	rules := armed(&policy)
	if len(rules) == 0 || a.Config.Tasks.None {
		return
	}
	found, err := map[string]backtest.Result(nil), a.OpenTasks(ctx)
	if err == nil {
		found, err = proofs(ctx, a, rules, seen)
	}
	for i := range r.Rules {
		line := &r.Rules[i]
		switch proof, asked := found[line.Rule]; {
		case asked:
			line.Proof = proof.Reason
		case err != nil && line.Mode == reconcile.Enforce && line.Remedy != reconcile.Report:
			line.Proof = "not held against the history: " + err.Error()
		}
	}
}
