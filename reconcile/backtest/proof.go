package backtest

import (
	"fmt"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// The pauses before a proof that was not enough is made again: at least an hour, and so long that the reading of
// the history is a small part of it.
const (
	againLeast = time.Hour
	againShare = 24
)

// Tells reports whether a history of this platform can tell of the rule.
func Tells(p *reconcile.Policy, rule string) bool { return p.Tasks.Tells(rule) }

// Due are the rules that are to be held against the history now: they are enforced, need a proof, and have none, or
// one of another config or of a month ago; or theirs was not enough, and is some time old.
func Due(p *reconcile.Policy, c *reconcile.Controls, now time.Time) (rules []string) {
	for _, rule := range reconcile.RuleNames {
		if p.Rules[rule].Mode == reconcile.Enforce && p.NeedsProof(rule) && Tells(p, rule) && due(p, c, rule, now) {
			rules = append(rules, rule)
		}
	}
	return rules
}

// Recheck are the curves of the last backtests of the rules whose proof holds, and that were held against the history a
// day ago or earlier: what was proven may have become untrue since.
func Recheck(
	p *reconcile.Policy, c *reconcile.Controls, curves []reconcile.Curve, now time.Time,
) (old []reconcile.Curve) {
	dues := Due(p, c, now)
	for i := range curves {
		rule := curves[i].Rule
		if p.Rules[rule].Mode != reconcile.Enforce || !p.NeedsProof(rule) || !Tells(p, rule) || slices.Contains(dues, rule) {
			continue
		}
		for k := range c.Proofs {
			one := &c.Proofs[k]
			if one.Rule == rule && one.Kind == reconcile.ProofBacktest && one.Class == reconcile.ProofAll &&
				p.Proof.Shown(one) && now.Sub(curves[i].At) >= max(reconcile.LearnEvery, againShare*one.Took) {
				old = append(old, curves[i])
			}
		}
	}
	return old
}

// Rechecked are those of the proofs that take the place of one that holds. Where few tasks tell since the history
// changed, and nothing clearly against the rule, its proof stays.
func Rechecked(p *reconcile.Policy, proofs []reconcile.Proof) []reconcile.Proof {
	tells := map[string]bool{}
	for i := range proofs {
		one := &proofs[i]
		//guard:proof-again harm
		if one.Lower > p.Proof.FalsePositives || one.Class == reconcile.ProofAll && one.Samples >= p.Proof.Samples {
			tells[one.Rule] = true
		}
	}
	return slices.DeleteFunc(proofs, func(one reconcile.Proof) bool { return !tells[one.Rule] })
}

// Looked are the curves of a recheck: the new ones, and of the rules that no task tells of now the old ones, as of now.
func Looked(results []Result, old []reconcile.Curve, now time.Time) []reconcile.Curve {
	out := Curves(results, now)
	for _, c := range old {
		if !slices.ContainsFunc(out, func(o reconcile.Curve) bool { return o.Rule == c.Rule }) {
			c.At = now
			out = append(out, c)
		}
	}
	return out
}

func due(p *reconcile.Policy, c *reconcile.Controls, rule string, now time.Time) bool {
	for i := range c.Proofs {
		one := &c.Proofs[i]
		if one.Rule != rule || one.Kind != reconcile.ProofBacktest || one.Class != reconcile.ProofAll ||
			one.Sum != p.ProofSum(rule, reconcile.ProofBacktest) {
			continue
		}
		lasts := max(againLeast, againShare*one.Took)
		if p.Proof.Shown(one) {
			lasts = reconcile.ProofFresh
		}
		if frozen := frozenAt(p, rule); frozen.After(one.MadeAt) {
			return true // the history is not what it was when the proof was made
		}
		return now.Sub(one.MadeAt) >= lasts
	}
	return true
}

// frozenAt is when a learned threshold was found to rest on a history that changed its nature; zero when it does not.
func frozenAt(p *reconcile.Policy, rule string) (at time.Time) {
	for i := range p.Learned {
		if l := &p.Learned[i]; l.Rule == rule && l.Frozen {
			at = reconcile.Latest(at, l.At)
		}
	}
	return at
}

// Proofs are what a replay shows of rules, in the form in which the ledger keeps it.
func Proofs(p *reconcile.Policy, results []Result, now time.Time, took time.Duration) []reconcile.Proof {
	out := make([]reconcile.Proof, 0, len(results))
	for i := range results {
		r := &results[i]
		one := reconcile.Proof{Rule: r.Rule, Class: r.Class, Kind: reconcile.ProofBacktest, MadeAt: now, Took: took,
			Sum: p.ProofSum(r.Rule, reconcile.ProofBacktest), Upper: 1, Line: r.Line}
		if r.Line != "" { // the history tells of it; what the ledger's verdicts say is no backtest
			one.Samples, one.FalsePositives, one.Upper = r.Samples, r.FalsePositives, r.Upper
			one.Lower = r.lower()
		} else {
			one.Line = "not proven on your history: no finished task tells"
		}
		out = append(out, one)
	}
	return out
}

// Curves are the pictures of what a replay showed of rules.
func Curves(results []Result, now time.Time) (out []reconcile.Curve) {
	for i := range results {
		if r := &results[i]; len(r.Frontier) > 1 {
			out = append(out, reconcile.Curve{Rule: r.Rule, At: now, After: r.After, Suggested: r.Suggested,
				Samples: r.Samples, FalsePositives: r.FalsePositives, Upper: r.Upper, Points: r.Frontier})
		}
	}
	return out
}

// Watched is what was observed of a rule, as a proof. One that showed enough stays for a month, unless what was
// seen since clearly speaks against it, and is renewed then if nothing does: what a rule that acts has ended shows
// no more, and its false positives lower it in any case.
func Watched(p *reconcile.Policy, o *reconcile.Observed, before *reconcile.Proof, now time.Time) reconcile.Proof {
	one := reconcile.Proof{Rule: o.Rule, Class: reconcile.ProofAll, Kind: reconcile.ProofObserved, MadeAt: now,
		Sum: p.ProofSum(o.Rule, reconcile.ProofObserved), Samples: o.Samples, FalsePositives: o.FalsePositives}
	one.Upper, one.Lower = Upper(one.FalsePositives, one.Samples), Lower(one.FalsePositives, one.Samples)
	if before != nil && before.Sum == one.Sum && p.Proof.Shown(before) && one.Lower <= p.Proof.FalsePositives {
		switch {
		case now.Sub(before.MadeAt) < reconcile.ProofFresh:
			return *before
		case o.FalsePositives == 0 && o.Samples < before.Samples:
			renewed := *before
			renewed.MadeAt = now
			return renewed
		}
	}
	one.Line = watchedLine(p, &one)
	if g := o.Groups; len(g) > 0 && 2*g[0].FalsePositives >= o.FalsePositives {
		one.Line = reconcile.Joined(one.Line, g[0].String())
	}
	return one
}

func watchedLine(p *reconcile.Policy, one *reconcile.Proof) string {
	seen := fmt.Sprintf("%d of the %d that it would have acted on lived or were used afterwards", one.FalsePositives,
		one.Samples)
	switch {
	case p.Proof.Shown(one):
		return "proven by what was observed: " + seen
	case one.Samples == 0:
		return fmt.Sprintf("not proven yet: %d cases are needed, and none was observed and followed", p.Proof.Samples)
	case one.Samples < p.Proof.Samples && one.FalsePositives == 0:
		return fmt.Sprintf("not proven yet: of the %d cases that are needed, %d were observed and followed, and none "+
			"lived or was used afterwards", p.Proof.Samples, one.Samples)
	case one.Samples < p.Proof.Samples:
		return fmt.Sprintf("not proven: of the %d cases that are needed, %d were observed, and %d of them lived or were "+
			"used afterwards", p.Proof.Samples, one.Samples, one.FalsePositives)
	}
	return "not proven: " + seen
}
