package backtest

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// evenly are seconds from 5 to 60, in an order that tells nothing of time.
func evenly(i int) float64 { return 5 + 55*math.Mod(float64(i)*math.Sqrt2, 1) }

// monthOf is a history of 30 days with so many tasks a day, silent as drawn, held against a threshold.
func monthOf(perDay int, after time.Duration, seconds func(day, i int) float64) *Replay {
	p := policy()
	own := p.Rules["heartbeat-lost"]
	own.After = after
	p.Rules["heartbeat-lost"] = own
	end := day0.Add(30 * 24 * time.Hour)
	r := New(p, day0, end, "heartbeat-lost")
	for i := range 30 * perDay {
		made := day0.Add(time.Duration(i) * 24 * time.Hour / time.Duration(perDay))
		silent := time.Duration(seconds(i/perDay, i) * float64(time.Second))
		r.Add((*reconcile.PastTask)(silentOnce(fmt.Sprint(i), made, silent)))
	}
	return r
}

// TestDrift: a steady growth is told from a change and from a rhythm of the week; what grows proves a rule only where it
// will keep the bound tomorrow, and asks for a longer threshold.
func TestDrift(t *testing.T) {
	const grows, changed = "what it measures grows by about", "behaviour changed about"
	for name, c := range map[string]struct {
		perDay  int
		after   time.Duration
		seconds func(day, i int) float64
		proven  bool
		says    string // "" for neither
		would   [2]time.Duration
	}{
		"steady": {40, 70 * time.Second, func(_, i int) float64 { return evenly(i) }, true, "",
			[2]time.Duration{58 * time.Second, 61 * time.Second}},
		"1 % a day, and it is at the threshold": {40, 80 * time.Second, func(day, i int) float64 {
			return evenly(i) * math.Pow(1.01, float64(day))
		}, false, grows, [2]time.Duration{79 * time.Second, 84 * time.Second}},
		"1 % a day of many tasks": {200, 80 * time.Second, func(day, i int) float64 {
			return evenly(i) * math.Pow(1.01, float64(day))
		}, false, grows, [2]time.Duration{79 * time.Second, 84 * time.Second}},
		"1 % a day, far below the threshold": {40, 2 * time.Minute, func(day, i int) float64 {
			return evenly(i) * math.Pow(1.01, float64(day))
		}, true, grows, [2]time.Duration{79 * time.Second, 84 * time.Second}},
		"quicker each day": {40, 70 * time.Second, func(day, i int) float64 {
			return evenly(i) * math.Pow(.99, float64(day))
		}, true, changed, [2]time.Duration{54 * time.Second, 60 * time.Second}},
		"twice as slow since a Tuesday": {40, 80 * time.Second, func(day, i int) float64 {
			return evenly(i) * map[bool]float64{true: 2, false: 1}[day >= 15]
		}, false, changed, [2]time.Duration{115 * time.Second, 125 * time.Second}},
		"a quick weekend": {200, 70 * time.Second, func(day, i int) float64 {
			return evenly(i) * map[bool]float64{true: .3, false: 1}[day%7 >= 5]
		}, true, "", [2]time.Duration{58 * time.Second, 61 * time.Second}},
		"a quick weekend, and twice as slow since a Tuesday": {200, 80 * time.Second, func(day, i int) float64 {
			return evenly(i) * map[bool]float64{true: .3, false: 1}[day%7 >= 5] * map[bool]float64{true: 2, false: 1}[day >= 22]
		}, false, changed, [2]time.Duration{115 * time.Second, 125 * time.Second}},
	} {
		t.Run(name, func(t *testing.T) {
			got := resultOf(t, monthOf(c.perDay, c.after, c.seconds), "heartbeat-lost")
			for _, words := range []string{grows, changed} {
				if strings.Contains(got.Reason, words) != (words == c.says) {
					t.Errorf("want %q: %s", c.says, got.Reason)
				}
			}
			if got.Proven != c.proven {
				t.Errorf("proven %t, at most %.3f: %s", got.Proven, got.Upper, got.Line)
			}
			if got.Suggested < c.would[0] || got.Suggested > c.would[1] {
				t.Errorf("%s would do, want %s to %s", got.Suggested, c.would[0], c.would[1])
			}
		})
	}
}

// TestLearnsDrift: a threshold that is learned goes where a growth will be tomorrow, and says by how much it allows for.
func TestLearnsDrift(t *testing.T) {
	now := day0.Add(30 * 24 * time.Hour)
	samples := drawn(now, time.Hour, 720, func(i int) float64 { return evenly(i) * math.Pow(1.01, float64(i)/24) })
	got := learner(now).learn(All, samples, reconcile.Learned{})
	if got.After < 80*time.Second || got.After > 95*time.Second || !strings.Contains(got.Line, "what it measures grows by up to 1.") {
		t.Errorf("%s: %s", got.After, got.Line)
	}
}

// TestHiddenSpeaksAgainst: whom a rule began to end counts as if they had lived, also where so few tasks are left since
// then that they would prove nothing: the rule is held the next time its proof is looked at.
func TestHiddenSpeaksAgainst(t *testing.T) {
	p := policy()
	p.Proof = reconcile.ProofPolicy{FalsePositives: .02, Samples: 200}
	replay := New(p, day0, day0.Add(30*24*time.Hour), "heartbeat-lost")
	for i := range 600 {
		made := day0.Add(time.Duration(i) * 72 * time.Minute)
		l := silentOnce(fmt.Sprint(i), made, 20*time.Second)
		if i > 580 && i%2 == 0 {
			l.Task.State, l.Task.Error = reconcile.TaskFailed, "silent [sandkeeper a-1]"
			l.Signs, l.Ended = l.Signs[:1], made.Add(5*time.Minute)
		}
		replay.Add((*reconcile.PastTask)(l))
	}
	results := replay.Results(nil, "heartbeat-lost")
	proofs := Rechecked(p, Proofs(p, results[:1], day0, time.Second))
	if len(proofs) != 1 || proofs[0].Lower <= .02 || p.Proof.Shown(&proofs[0]) {
		t.Errorf("%+v of %s; want one that takes the place of the proof", proofs, results[0].Line)
	}
}
