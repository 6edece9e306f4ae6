package decide

import (
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/rules"
	"github.com/sandkeeper/sandkeeper/reconcile/worldtest"
)

// A ruleCase is a world, what one rule says of it, and a text that must be in its words.
type ruleCase struct {
	world string
	want  string // see said
	says  string
}

// testRule judges each world by one rule alone, next to the anchor.
func testRule(t *testing.T, rule string, cases map[string]ruleCase) {
	t.Helper()
	testRuleBeside(t, worldtest.Anchor, rule, cases)
}

// testRuleBeside does so next to what the test says.
func testRuleBeside(t *testing.T, anchor, rule string, cases map[string]ruleCase) {
	t.Helper()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := worldtest.NewWorld(t, anchor, c.world)
			w.Only(rule)
			got, words := said(JudgeWorld(w))
			if got != c.want {
				t.Fatalf("%s = %s, want %s\nworld: %s\nwords: %s", rule, got, c.want, c.world, words)
			}
			if !strings.Contains(words, c.says) {
				t.Errorf("%s says %q, want %q in it", rule, words, c.says)
			}
		})
	}
}

// said is what a judgement came to in one word: healthy, kept, look (kept until it was
// looked at), probe (kept until it was probed), seen (found, not due), held, report or due.
// It is about the subject that was found, else about task t1, else about the first.
func said(j *Judgement) (verdict, words string) {
	d := &j.Decisions[0]
	for i := range j.Decisions {
		if j.Decisions[i].Subject.ID == "task:t1" {
			d = &j.Decisions[i]
		}
	}
	for i := range j.Decisions {
		if len(j.Decisions[i].Findings) > 0 && len(d.Findings) == 0 {
			d = &j.Decisions[i]
		}
	}
	if len(d.Findings) == 0 {
		return unfound(d), d.Kept
	}
	f := &d.Findings[0]
	words = f.Reason + "\nsandbox=" + f.Sandbox + "\n" + f.HeldBy.String()
	switch {
	case !f.Due:
		return "seen", words
	case len(f.HeldBy) > 0:
		return "held", words
	case d.Remedies[0] == reconcile.Report:
		return "report", words
	}
	return "due", words
}

func unfound(d *Decision) string {
	switch {
	case d.Look:
		return "look"
	case d.Probe:
		return "probe"
	case d.Kept != "":
		return "kept"
	}
	return "healthy"
}

// TestRuleTable: what rules.Finds and the rows of the table belong together, and each row is whole.
func TestRuleTable(t *testing.T) {
	if len(rules.Finds)+len(fleetAnswers) != len(reconcile.Rules) {
		t.Errorf("%d rows of subjects and %d of the fleet have a function, of %d rows", len(rules.Finds), len(fleetAnswers), len(reconcile.Rules))
	}
	seen := map[string]bool{}
	for i := range reconcile.Rules {
		r := &reconcile.Rules[i]
		if seen[r.Name] || reconcile.RuleNamed(r.Name) != r {
			t.Errorf("rule %s has two rows", r.Name)
		}
		seen[r.Name] = true
		if rules.Finds[r.Name] == nil && r.Family != reconcile.Fleet || fleetAnswers[r.Name] == nil && r.Family == reconcile.Fleet {
			t.Errorf("rule %s has no function that belongs to its family", r.Name)
		}
		if r.Means == "" || len(r.Remedies) == 0 {
			t.Errorf("rule %s has no meaning or no remedy", r.Name)
		}
		if r.AtOnce != (r.Default.After == 0 && !r.Must) {
			t.Errorf("rule %s is at once: %v, after %s by default", r.Name, r.AtOnce, r.Default.After)
		}
		if _, ok := worldtest.TestPolicy().Rules[r.Name]; !ok && r.Name != "systemic" {
			t.Errorf("rule %s has no settings in the tests: it would not be judged", r.Name)
		}
	}
}

// TestNoRule: a name that is no rule's has a row, which says nothing.
func TestNoRule(t *testing.T) {
	if got := reconcile.RuleNamed(reconcile.RuleOperator); got.Family != reconcile.Failure || got.RefutedBy != reconcile.Irrefutable || got.FullOnly || reconcile.Watched(reconcile.RuleOperator) {
		t.Errorf("RuleNamed(%s) = %+v, want a row of which nothing is said", reconcile.RuleOperator, got)
	}
}

// TestRulesOff: a rule that is off, or has no mode, says nothing.
func TestRulesOff(t *testing.T) {
	const stale = "task t1 assigned updated=1h; find t1 none; rule assigned-stale mode="
	for mode, want := range map[string]int{"off": 0, `""`: 0, "observe": 1, "enforce": 1} {
		w := worldtest.NewWorld(t, stale+mode)
		if got := len(JudgeWorld(w).Decisions[0].Findings); got != want {
			t.Errorf("mode %s: %d findings, want %d", mode, got, want)
		}
	}
}
