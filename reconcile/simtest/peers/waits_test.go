package peers

import (
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/decide"
	"github.com/sandkeeper/sandkeeper/reconcile/run"
	"github.com/sandkeeper/sandkeeper/reconcile/simtest/platform"
)

func TestSays(t *testing.T) {
	dead := &platform.Wrong{Kind: platform.WrongTask, Subject: "task t1"}
	leak := &platform.Wrong{Kind: platform.WrongSandbox, Subject: "sandbox lab/s1"}
	finding := func(due bool, held ...reconcile.Held) *decide.Plan {
		return &decide.Plan{Findings: []reconcile.Finding{{Rule: "orphan", Subject: "task:t1", Provider: "lab",
			Sandbox: "s1", Due: due, HeldBy: held}}}
	}
	step := func(held ...reconcile.Held) *decide.Plan {
		return &decide.Plan{Steps: []decide.PlannedStep{{HeldBy: held, Action: reconcile.Action{Rule: "orphan",
			Subject: "task:t1", Provider: "lab", Sandbox: "s1"}}}}
	}
	suspect := &decide.Judgement{Decisions: []decide.Decision{{Subject: &reconcile.Subject{ID: "task:t1"},
		Kept: "silent for 3m12s of 5m", KeptBy: "inactive"}}}
	for name, c := range map[string]struct {
		r    *run.Result
		want string
	}{
		"a step": {&run.Result{Plan: step()}, "orphan: being done"},
		"a step that is held": {&run.Result{Plan: step(reconcile.HeldFrozen("listing:lab"))},
			"orphan: held, listing:lab frozen"},
		"a finding, not due": {&run.Result{Plan: finding(false)}, "orphan: waits for another look"},
		"a finding, held": {&run.Result{Plan: finding(true, reconcile.HeldByRollout(50))},
			"orphan: held, rollout N% "},
		"a finding that is only reported": {&run.Result{Plan: finding(true)}, "orphan: found, and reported"},
	} {
		for _, of := range []*platform.Wrong{dead, leak} {
			if got := says(c.r, of); got != c.want {
				t.Errorf("%s of a %s: says %q, want %q", name, of.Kind, got, c.want)
			}
		}
	}
	if got := says(&run.Result{Plan: &decide.Plan{}, Judged: suspect}, dead); got != "inactive: silent for N of N" {
		t.Errorf("a suspect: says %q", got)
	}
	if got := says(&run.Result{Plan: &decide.Plan{}, Judged: suspect}, leak); got != unseen {
		t.Errorf("a sandbox that no decision is about: says %q", got)
	}
}

func TestWhys(t *testing.T) {
	missed := &platform.Wrong{Kind: platform.WrongTask, Cause: "it died", Deed: -1, Until: time.Hour, Lasts: true}
	late := &platform.Wrong{Kind: platform.WrongTask, Cause: "it died", Since: time.Minute, Deed: 4 * time.Minute}
	soon := &platform.Wrong{Kind: platform.WrongTask, Cause: "it died", Since: time.Minute, Deed: 2 * time.Minute}
	wait := func(last string) *Wait {
		return &Wait{Last: last, Spent: map[string]time.Duration{"most": 2 * time.Minute, "b": time.Minute}}
	}
	o := Outcome{Janitor: Attended, Wrongs: []*platform.Wrong{missed, late, late, late, late, late, soon},
		Waits: Waits{missed: wait("held"), late: wait("b"), soon: wait("b")}}
	got := Whys(Attended, []Outcome{o})
	for _, line := range []string{"| dead task: it died | held | 1 | 0 | 1.0 |",
		"| dead task: it died | most | 0 | 5 | 0.2 |"} {
		if !strings.Contains(got, line) {
			t.Errorf("Whys:\n%s\nhas no line %q", got, line)
		}
	}
	if strings.Count(got, "\n") != 4 {
		t.Errorf("Whys has more than these two:\n%s", got)
	}
}
