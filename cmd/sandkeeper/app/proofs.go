package app

import (
	"context"
	"errors"
	"time"

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

// Armed are the rules that act.
func Armed(p *reconcile.Policy) (names []string) {
	for _, name := range reconcile.RuleNames {
		if r := p.Rules[name]; r.Mode == reconcile.Enforce && r.Remedy != reconcile.Report {
			names = append(names, name)
		}
	}
	return names
}

// Proofs say of the rules whether the platform's own last 30 days prove them, by rule.
func (a *App) Proofs(ctx context.Context, rules []string, seen []reconcile.RuleReport) (
	map[string]backtest.Result, error,
) {
	ctx, cancel := context.WithTimeoutCause(ctx, proofWithin, errLongHistory)
	defer cancel()
	clock, err := a.Tasks.Clock(ctx)
	if err != nil {
		return nil, err
	}
	since := clock.Now.Add(-30 * 24 * time.Hour)
	replay := backtest.New(a.InForce(ctx), since, clock.Now, rules...)
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

// InForce is the policy with the thresholds that were learned, as far as the ledger can be read.
func (a *App) InForce(ctx context.Context) *reconcile.Policy {
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

// Standings are what the ledger says of rules; none while it cannot be read, or nobody asks.
type Standings map[string]reconcile.Standing

// Standings are what the ledger says of the rules that act.
func (a *App) Standings(ctx context.Context, p *reconcile.Policy) Standings {
	out := Standings{}
	if p.Proof.Off() || a.Ledger == nil || a.CheckSchema(ctx) != nil {
		return out
	}
	c, err := a.Ledger.Controls(ctx)
	now, errNow := a.Ledger.Now(ctx)
	if err != nil || errNow != nil {
		return out
	}
	for _, name := range Armed(p) {
		if p.NeedsProof(name) {
			out[name] = p.WithLearned(&c).Standing(&c, now, name)
		}
	}
	return out
}

// Aside is what else lets a rule act, or that it is held although the history would prove it.
func (s Standings) Aside(rule string, proven bool) string {
	now, asked := s[rule]
	switch now.Kind {
	case reconcile.ProofNone:
		if asked && proven {
			return "held until `run` or `once` has made its proof: " + now.Line
		}
	case reconcile.ProofArmed, reconcile.ProofGrace:
		return now.Line
	case reconcile.ProofObserved:
		return "it acts: " + now.Line
	}
	return ""
}
