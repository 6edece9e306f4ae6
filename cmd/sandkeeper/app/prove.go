package app

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/backtest"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// proveShare is the part of the time in which a proof keeps the task database at work.
const proveShare = 0.5

// Prove makes the proofs that enforced rules lack or that are old, from the platform's own history and from what was
// observed, and keeps them in the ledger. It takes at most so long, and does nothing while another process does it.
// Without a proof a rule is held, so an error harms nothing; it is logged.
func (a *App) Prove(ctx context.Context, within time.Duration) {
	config := a.Config.Policy()
	if a.Config.Proof.Off && len(config.Auto) == 0 {
		return
	}
	p := &proving{App: a, config: &config, policy: &config, within: within, holder: holder()}
	alone, err := a.Ledger.TakeProving(ctx, p.holder, proveTTL)
	if err == nil && alone {
		err = p.all(ctx)
		err = errors.Join(err, p.drop(ctx))
	}
	if err != nil && ctx.Err() == nil {
		a.Log.WarnContext(ctx, "proofs of the rules not made, so rules without one are held", "err", err)
	}
}

// A proving is one making of proofs.
type proving struct {
	*App
	config   *reconcile.Policy
	policy   *reconcile.Policy // the config's, with the thresholds that were learned
	within   time.Duration
	holder   string // of the right to read the history
	taken    time.Time
	controls reconcile.Controls
	now      time.Time           // ledger's
	tasksNow time.Time           // of the task database, when its history was read last
	partly   bool                // the last days alone were read; the whole is read on by the next runs
	learned  []reconcile.Learned // not saved yet
}

// drop gives the right up, also while the process is being stopped.
func (p *proving) drop(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	return p.Ledger.DropProving(ctx, p.holder)
}

// keep takes the right again while a history is read. Where it is lost somebody else reads it too, which harms nothing.
func (p *proving) keep(ctx context.Context) {
	if time.Since(p.taken) < proveTTL/4 {
		return
	}
	p.taken = time.Now()
	if _, err := p.Ledger.TakeProving(ctx, p.holder, proveTTL); err != nil && ctx.Err() == nil {
		p.Log.WarnContext(ctx, "right to read the history not renewed", "err", err)
	}
}

func (p *proving) all(ctx context.Context) (err error) {
	if p.now, err = p.Ledger.Now(ctx); err != nil {
		return err
	}
	if p.controls, err = p.Ledger.Controls(ctx); err != nil {
		return err
	}
	err = p.learn(ctx)
	p.policy = p.config.WithLearned(&p.controls)
	if p.config.Proof.Off() {
		return errors.Join(err, p.saveLearned(ctx))
	}
	return errors.Join(err, p.observed(ctx), p.replayed(ctx), p.saveLearned(ctx))
}

// observed keeps what was observed of each rule, where that has changed.
func (p *proving) observed(ctx context.Context) error {
	sums := map[string]string{}
	for rule, r := range p.policy.Rules {
		if r.Mode != reconcile.Off && p.policy.NeedsProof(rule) {
			sums[rule] = p.policy.ProofSum(rule, reconcile.ProofObserved)
		}
	}
	seen, err := p.Ledger.Observed(ctx, sums)
	if err != nil {
		return err
	}
	var news []reconcile.Proof
	for i := range seen {
		if _, wanted := sums[seen[i].Rule]; !wanted {
			continue
		}
		before := p.before(seen[i].Rule)
		one := backtest.Watched(p.policy, &seen[i], before, p.now)
		same := before != nil && before.Sum == one.Sum && before.Samples == one.Samples &&
			before.FalsePositives == one.FalsePositives && before.Upper == one.Upper
		if !same || one.MadeAt.Sub(before.MadeAt) > 24*time.Hour {
			news = append(news, one)
		}
	}
	p.tell(ctx, news)
	return p.Ledger.SaveProofs(ctx, reconcile.ProofObserved, news)
}

// before is what was known of a rule by observing it.
func (p *proving) before(rule string) *reconcile.Proof {
	for i := range p.controls.Proofs {
		one := &p.controls.Proofs[i]
		if one.Rule == rule && one.Kind == reconcile.ProofObserved && one.Class == reconcile.ProofAll {
			return one
		}
	}
	return nil
}

// replayed holds the rules that lack a proof against the history, else those whose proof is a day old.
func (p *proving) replayed(ctx context.Context) error {
	if p.Tasks == nil {
		return nil
	}
	rules, old := backtest.Due(p.policy, &p.controls, p.now), []reconcile.Curve(nil)
	if len(rules) == 0 {
		curves, err := p.Ledger.Curves(ctx)
		if err != nil {
			return err
		}
		old = backtest.Recheck(p.policy, &p.controls, curves, p.now)
		for i := range old {
			rules = append(rules, old[i].Rule)
		}
	}
	if len(rules) == 0 {
		return nil
	}
	began := time.Now()
	replay, err := p.read(ctx, p.policy, rules)
	switch {
	case errors.Is(err, errShare):
		return nil // the rules stay due, and the next run goes on
	case errors.Is(err, errLong) && len(old) == 0:
		return p.tooLong(ctx, rules, err)
	case err != nil:
		return err
	}
	results := replay.Results(nil, rules...)
	proofs := backtest.Proofs(p.policy, results, p.now, time.Since(began))
	if p.partly { // what the last days alone do not prove, the whole history may
		proofs = p.proven(proofs)
	}
	if len(old) > 0 {
		proofs = backtest.Rechecked(p.policy, proofs)
	}
	p.tell(ctx, proofs)
	// A threshold that moved counts together with its own proof.
	return errors.Join(p.saveLearned(ctx), p.Ledger.SaveProofs(ctx, reconcile.ProofBacktest, proofs),
		p.Ledger.SaveCurves(ctx, backtest.Looked(results, old, p.now)))
}

// proven are the proofs of the rules that they prove.
func (p *proving) proven(proofs []reconcile.Proof) []reconcile.Proof {
	shown := map[string]bool{}
	for i := range proofs {
		if one := &proofs[i]; one.Class == reconcile.ProofAll && p.policy.Proof.Shown(one) {
			shown[one.Rule] = true
		}
	}
	return slices.DeleteFunc(proofs, func(one reconcile.Proof) bool { return !shown[one.Rule] })
}

// tooLong keeps that the history of rules could not be read, so that it is not tried each time.
func (p *proving) tooLong(ctx context.Context, rules []string, why error) error {
	var out []reconcile.Proof
	for _, rule := range rules {
		out = append(out, reconcile.Proof{Rule: rule, Class: reconcile.ProofAll, MadeAt: p.now, Took: p.within,
			Sum: p.policy.ProofSum(rule, reconcile.ProofBacktest), Upper: 1,
			Line: "not proven on your history: it takes longer to read than " + text.Exact(p.within) +
				"; `sandkeeper run` takes its time for it"})
	}
	return errors.Join(why, p.Ledger.SaveProofs(ctx, reconcile.ProofBacktest, out))
}

// tell logs what became of proofs of all that a rule judges.
func (p *proving) tell(ctx context.Context, proofs []reconcile.Proof) {
	for i := range proofs {
		one := &proofs[i]
		if one.Class == reconcile.ProofAll && p.policy.Rules[one.Rule].Mode == reconcile.Enforce {
			p.Log.InfoContext(ctx, "proof", "rule", one.Rule, "proven", p.policy.Proof.Shown(one), "line", one.Line)
		}
	}
}

// The times of proving: a daemon looks again and again whether something is due, and may read a long history for
// long; a single pass only waits so long for it.
const (
	proveEvery = time.Minute
	proveTTL   = 2 * time.Minute // a killed process delays the next one by no more
	proveLong  = 2 * time.Hour
	ProveOnce  = time.Minute
)

// proves makes proofs as they fall due, beside the passes, by the config in force.
func (d *Daemon) proves(ctx context.Context) {
	for {
		c, done := d.acquire()
		c.Prove(ctx, proveLong)
		done()
		select {
		case <-ctx.Done():
			return
		case <-time.After(proveEvery):
		}
	}
}
