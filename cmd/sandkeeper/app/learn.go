package app

import (
	"context"
	"errors"
	"slices"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/backtest"
)

// learn computes the thresholds that are due, of the rules whose config says `after: auto`. They are kept with the
// proofs that were made for them, see [proving.saveLearned].
func (p *proving) learn(ctx context.Context) error {
	rules := backtest.LearnDue(p.config, &p.controls, p.now)
	if len(rules) == 0 || p.Tasks == nil {
		return nil
	}
	policy := backtest.ToLearn(p.config.WithLearned(&p.controls))
	replay, err := p.read(ctx, policy, rules)
	if err != nil {
		return errors.Join(errors.New("the thresholds of rules with `after: auto` stay as they are"), err)
	}
	for _, rule := range rules {
		for _, l := range replay.Learn(rule, p.config.Rules[rule].After, p.config.LearnedOf(&p.controls, rule), p.tasksNow) {
			l.Sum, l.At = p.config.LearnedSum(rule), p.now
			p.learned = append(p.learned, l)
		}
		p.controls.Learned = slices.DeleteFunc(p.controls.Learned, func(l reconcile.Learned) bool { return l.Rule == rule })
	}
	p.controls.Learned = append(p.controls.Learned, p.learned...)
	return nil
}

// saveLearned keeps what was learned, once, and says what moved.
func (p *proving) saveLearned(ctx context.Context) error {
	all := p.learned
	p.learned = nil
	for i := range all {
		if l := &all[i]; l.From != 0 || l.Frozen {
			p.Log.InfoContext(ctx, "threshold", "rule", l.Rule, "class", l.Class, "after", l.After, "line", l.Line)
		}
	}
	return p.Ledger.SaveLearned(ctx, all)
}
