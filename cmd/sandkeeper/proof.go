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
	since := clock.Now.Add(-30 * day)
	replay := backtest.New(inForce(ctx, a), since, clock.Now, rules...)
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
	out = checkAuto(ctx, a)
	if len(rules) == 0 {
		return out
	}
	now, autos := standingsOf(ctx, a, &policy), len(out)
	if policy.Proof.Off() {
		out = append(out, reconcile.CheckResult{What: "proof", OK: true, Said: "proof: off, so the rules act unproven"})
	}
	found, err := proofs(ctx, a, rules, nil)
	if err != nil {
		return append(out, reconcile.CheckResult{What: "history", OK: true,
			Said: "rules are not held against it: " + err.Error()})
	}
	for _, name := range rules {
		r := found[name]
		if r.Samples == 0 {
			out = append(out, now.line(name)...)
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
		line.Said = reconcile.Joined(line.Said, now.aside(name))
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
	p := inForce(ctx, a)
	for _, name := range reconcile.RuleNames {
		for _, line := range p.LearnedLines(name) {
			out = append(out, reconcile.CheckResult{What: "threshold of " + name, OK: true, Said: line})
		}
	}
	return out
}

// inForce is the policy with the thresholds that were learned, as far as the ledger can be read.
func inForce(ctx context.Context, a *app.App) *reconcile.Policy {
	p := a.Config.Policy()
	if len(p.Auto) == 0 || a.Ledger == nil || a.CheckSchema(ctx) != nil {
		return &p
	}
	c, err := a.Ledger.Controls(ctx)
	if err != nil {
		return &p
	}
	return p.WithLearned(&c)
}

// standings are what the ledger says of rules; none while it cannot be read, or nobody asks.
type standings map[string]reconcile.Standing

func standingsOf(ctx context.Context, a *app.App, p *reconcile.Policy) standings {
	out := standings{}
	if p.Proof.Off() || a.Ledger == nil || a.CheckSchema(ctx) != nil {
		return out
	}
	c, err := a.Ledger.Controls(ctx)
	now, errNow := a.Ledger.Now(ctx)
	if err != nil || errNow != nil {
		return out
	}
	for _, name := range armed(p) {
		if p.NeedsProof(name) {
			out[name] = p.WithLearned(&c).Standing(&c, now, name)
		}
	}
	return out
}

// line is what check says of a rule of which the finished tasks tell nothing.
func (s standings) line(rule string) []reconcile.CheckResult {
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

// aside is what else lets a rule act, or that it is held.
func (s standings) aside(rule string) string {
	switch now := s[rule]; now.Kind {
	case reconcile.ProofArmed, reconcile.ProofGrace:
		return now.Line
	case reconcile.ProofObserved:
		return "it acts: " + now.Line
	}
	return ""
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
	now := standingsOf(ctx, a, &policy)
	for i := range r.Rules {
		line := &r.Rules[i]
		if s, is := now[line.Rule]; is {
			line.ProvenBy = reconcile.FirstOf(string(s.Kind), "nothing")
		}
		switch proof, asked := found[line.Rule]; {
		case asked:
			line.Proof = reconcile.Joined(proof.Reason, now.aside(line.Rule))
			if s, is := now[line.Rule]; is && proof.Line == "" { // the history tells nothing of it
				line.Proof = s.Line
			}
		case err != nil && line.Mode == reconcile.Enforce && line.Remedy != reconcile.Report:
			line.Proof = "not held against the history: " + err.Error()
		}
	}
}
