package backtest

import (
	"slices"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// TestRecheck: a rule whose proof holds is held against the history again each day.
func TestRecheck(t *testing.T) {
	const rule = "heartbeat-lost"
	now := day0.Add(10 * 24 * time.Hour)
	for name, c := range map[string]struct {
		change func(*reconcile.Policy, *reconcile.Proof, *reconcile.Curve)
		want   bool
	}{
		"looked at a day ago":        {func(*reconcile.Policy, *reconcile.Proof, *reconcile.Curve) {}, true},
		"looked at less than that":   {func(_ *reconcile.Policy, _ *reconcile.Proof, k *reconcile.Curve) { k.At = k.At.Add(time.Second) }, false},
		"it takes long":              {func(_ *reconcile.Policy, p *reconcile.Proof, _ *reconcile.Curve) { p.Took = 61 * time.Minute }, false},
		"not proven, so due by that": {func(_ *reconcile.Policy, p *reconcile.Proof, _ *reconcile.Curve) { p.Upper = .03 }, false},
		"a month old, so due by that": {func(_ *reconcile.Policy, p *reconcile.Proof, _ *reconcile.Curve) {
			p.MadeAt = now.Add(-reconcile.ProofFresh)
		}, false},
		"it only looks": {func(p *reconcile.Policy, _ *reconcile.Proof, _ *reconcile.Curve) {
			p.Rules[rule] = reconcile.RulePolicy{Mode: reconcile.Observe}
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := policy()
			p.Proof = reconcile.ProofPolicy{FalsePositives: .02, Samples: 200}
			own := p.Rules[rule]
			own.Mode, own.Remedy = reconcile.Enforce, reconcile.Fail
			p.Rules[rule] = own
			proof := reconcile.Proof{Rule: rule, Class: reconcile.ProofAll, Kind: reconcile.ProofBacktest, Samples: 300, Upper: .01,
				Sum: p.ProofSum(rule, reconcile.ProofBacktest), MadeAt: now.Add(-5 * 24 * time.Hour)}
			curve := reconcile.Curve{Rule: rule, At: now.Add(-24 * time.Hour)}
			c.change(p, &proof, &curve)
			controls := reconcile.Controls{Proofs: []reconcile.Proof{proof}}
			if got := Recheck(p, &controls, []reconcile.Curve{curve}, now); len(got) > 0 != c.want {
				t.Errorf("%+v, want some: %t", got, c.want)
			}
		})
	}
}

// TestRechecked: which new proofs take the place of one that holds.
func TestRechecked(t *testing.T) {
	p := &reconcile.Policy{Proof: reconcile.ProofPolicy{FalsePositives: .02, Samples: 200}}
	for name, c := range map[string]struct {
		samples, wrong int
		class          string
		want           bool
	}{
		"proven again":                           {300, 0, All, true},
		"few tasks since a change, none wrong":   {45, 0, All, false},
		"few tasks since a change, many wrong":   {45, 13, All, true},
		"enough tasks, and it is not proven now": {300, 6, All, true},
		"a kind of tasks that it is wrong about": {45, 13, "template=gpu", true},
		"a kind of tasks":                        {300, 0, "template=gpu", false},
	} {
		t.Run(name, func(t *testing.T) {
			one := reconcile.Proof{Rule: "inactive", Class: c.class, Samples: c.samples, FalsePositives: c.wrong,
				Upper: Upper(c.wrong, c.samples), Lower: Lower(c.wrong, c.samples)}
			other := reconcile.Proof{Rule: "heartbeat-lost", Class: All, Upper: 1}
			got := Rechecked(p, []reconcile.Proof{one, other})
			if is := slices.ContainsFunc(got, func(o reconcile.Proof) bool { return o.Rule == "inactive" }); is != c.want || len(got) > 1 {
				t.Errorf("%+v, want it: %t", got, c.want)
			}
		})
	}
}

// TestLooked: a rule of which no task tells any more was looked at all the same, and is not asked for each minute.
func TestLooked(t *testing.T) {
	old := []reconcile.Curve{{Rule: "inactive", At: day0, Samples: 7}, {Rule: "heartbeat-lost", At: day0}}
	got := Looked([]Result{{Rule: "heartbeat-lost", Class: All, Samples: 9, Frontier: make([]Point, 2)}}, old, day0.Add(time.Hour))
	for i, want := range []reconcile.Curve{{Rule: "heartbeat-lost", Samples: 9}, {Rule: "inactive", Samples: 7}} {
		if len(got) != 2 || got[i].Rule != want.Rule || got[i].Samples != want.Samples || !got[i].At.Equal(day0.Add(time.Hour)) {
			t.Fatalf("%+v", got)
		}
	}
}
