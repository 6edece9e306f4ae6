package reconcile

import (
	"strings"
	"testing"
)

// A ruleCase is a world, what one rule says of it, and a text that must be in its words.
type ruleCase struct {
	world string
	want  string // see said
	says  string
}

// anchor is a sandbox of a task that has just finished: with it the listing is not empty
// and the link is seen to work.
const anchor = "box daytona/z9 running task=z9; row z9 completed updated=1s"

// testRule judges each world by one rule alone, next to the anchor.
func testRule(t *testing.T, rule string, cases map[string]ruleCase) {
	t.Helper()
	testRuleBeside(t, anchor, rule, cases)
}

// testRuleBeside does so next to what the test says.
func testRuleBeside(t *testing.T, anchor, rule string, cases map[string]ruleCase) {
	t.Helper()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, anchor, c.world)
			w.only(rule)
			got, words := said(w.judge())
			if got != c.want {
				t.Fatalf("%s = %s, want %s\nworld: %s\nwords: %s", rule, got, c.want, c.world, words)
			}
			if !strings.Contains(words, c.says) {
				t.Errorf("%s says %q, want %q in it", rule, words, c.says)
			}
		})
	}
}

// only turns all other rules off.
func (w *world) only(names ...string) {
	for name, r := range w.p.Rules {
		if !contains(names, name) {
			r.Mode = Off
			w.p.Rules[name] = r
		}
	}
}

func contains(list []string, one string) bool {
	return strings.Contains(" "+strings.Join(list, " ")+" ", " "+one+" ")
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
	words = f.Reason + "\nsandbox=" + f.Sandbox + "\n" + strings.Join(f.HeldBy, "; ")
	switch {
	case !f.Due:
		return "seen", words
	case len(f.HeldBy) > 0:
		return "held", words
	case d.Remedies[0] == Report:
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

// TestRuleTable: what finds and the rows of the table belong together, and each row is whole.
func TestRuleTable(t *testing.T) {
	if len(finds)+len(fleetAnswers) != len(Rules) {
		t.Errorf("%d rows of subjects and %d of the fleet have a function, of %d rows", len(finds), len(fleetAnswers), len(Rules))
	}
	seen := map[string]bool{}
	for i := range Rules {
		r := &Rules[i]
		if seen[r.Name] || RuleNamed(r.Name) != r {
			t.Errorf("rule %s has two rows", r.Name)
		}
		seen[r.Name] = true
		if finds[r.Name] == nil && r.Family != Fleet || fleetAnswers[r.Name] == nil && r.Family == Fleet {
			t.Errorf("rule %s has no function that belongs to its family", r.Name)
		}
		if r.Means == "" || len(r.Remedies) == 0 {
			t.Errorf("rule %s has no meaning or no remedy", r.Name)
		}
		if r.AtOnce != (r.Default.After == 0 && !r.Must) {
			t.Errorf("rule %s is at once: %v, after %s by default", r.Name, r.AtOnce, r.Default.After)
		}
		if _, ok := testPolicy().Rules[r.Name]; !ok && r.Name != "systemic" {
			t.Errorf("rule %s has no settings in the tests: it would not be judged", r.Name)
		}
	}
}

// TestNoRule: a name that is no rule's has a row, which says nothing.
func TestNoRule(t *testing.T) {
	if got := RuleNamed(RuleOperator); got.Family != Failure || got.RefutedBy != Irrefutable || got.FullOnly || Watched(RuleOperator) {
		t.Errorf("RuleNamed(%s) = %+v, want a row of which nothing is said", RuleOperator, got)
	}
}

// TestRulesOff: a rule that is off, or has no mode, says nothing.
func TestRulesOff(t *testing.T) {
	const stale = "task t1 assigned updated=1h; find t1 none; rule assigned-stale mode="
	for mode, want := range map[string]int{"off": 0, `""`: 0, "observe": 1, "enforce": 1} {
		w := newWorld(t, stale+mode)
		if got := len(w.judge().Decisions[0].Findings); got != want {
			t.Errorf("mode %s: %d findings, want %d", mode, got, want)
		}
	}
}
