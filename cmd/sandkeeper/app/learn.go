package app

import (
	"context"
	"errors"
	"slices"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/backtest"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// learn computes the thresholds that are due, of the rules whose config says `after: auto`. They are kept with the
// proofs that were made for them, see [proving.saveLearned].
func (p *proving) learn(ctx context.Context) error {
	rules := backtest.LearnDue(p.config, &p.controls, p.now)
	if len(rules) == 0 || p.Tasks == nil {
		return nil
	}
	p.within /= 2 // the other half is for the proofs
	policy := backtest.ToLearn(p.config.WithLearned(&p.controls))
	replay, err := p.read(ctx, policy, rules)
	if errors.Is(err, errShare) {
		return nil // the thresholds stay as they are, and due
	}
	long := errors.Is(err, errLong)
	if err != nil && !long {
		return errors.Join(errors.New("the thresholds of rules with `after: auto` stay as they are"), err)
	}
	for _, rule := range rules {
		all := p.unread(rule)
		if !long {
			all = replay.Learn(rule, p.config.Rules[rule].After, p.config.LearnedOf(&p.controls, rule), p.tasksNow)
		}
		for _, l := range all {
			l.Sum, l.At = p.config.LearnedSum(rule), p.now
			p.learned = append(p.learned, l)
		}
		p.controls.Learned = slices.DeleteFunc(p.controls.Learned, func(l reconcile.Learned) bool { return l.Rule == rule })
	}
	p.controls.Learned = append(p.controls.Learned, p.learned...)
	return nil
}

// unread are the thresholds of a rule whose history takes too long to read: as they were, so that it is not tried
// each time.
func (p *proving) unread(rule string) []reconcile.Learned {
	all := p.config.LearnedOf(&p.controls, rule)
	if len(all) == 0 {
		all = []reconcile.Learned{{Rule: rule, Class: reconcile.ProofAll, After: p.config.Rules[rule].After}}
	}
	for i := range all {
		l := &all[i]
		l.From, l.Frozen = 0, false
		l.Line = "auto: " + text.Exact(l.After) + " stays: the history takes longer to read than " + text.Exact(p.within) +
			"; `sandkeeper run` takes its time for it"
	}
	return all
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
