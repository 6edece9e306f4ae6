package result

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// TestAffectedOf: only tasks whose row was written count, each once, in the order of time.
func TestAffectedOf(t *testing.T) {
	at := func(m int) time.Time { return time.Date(2026, 3, 1, 12, m, 0, 0, time.UTC) }
	verdicts := []reconcile.Verdict{
		{Task: "late", FailedAt: at(9), Reason: "r"}, {Task: "held", Reason: "not failed"}, {Sandbox: "no task", FailedAt: at(1)},
		{Task: "twice", FailedAt: at(2)}, {Task: "twice", FailedAt: at(5), Reason: "again"}, {Task: "early", FailedAt: at(1)},
	}
	want := []FailedTask{{Task: "early", FailedAt: at(1)}, {Task: "twice", FailedAt: at(5), Reason: "again"},
		{Task: "late", FailedAt: at(9), Reason: "r"}}
	if diff := cmp.Diff(want, AffectedOf(verdicts)); diff != "" {
		t.Errorf("affected (-want +got):\n%s", diff)
	}
}

// TestIncidentIsOneThing: a hundred findings of one incident are told as one, with what was
// done and what waits; everything else is told as before.
func TestIncidentIsOneThing(t *testing.T) {
	r := Pass{Findings: []Finding{
		{Rule: "systemic", Reason: "100 failures with one cause: snapshot is inactive", Incident: "i-1"},
		{Rule: "orphan", Provider: "daytona", Sandbox: "sb-other", Reason: "no task explains it"},
	}}
	for i := range 100 {
		task := string(rune('a'+i%26)) + strings.Repeat("x", i/26)
		r.Findings = append(r.Findings, Finding{Rule: "assigned-stale", Task: task, Reason: "never started", Incident: "i-1"})
		fail := Step{Rule: "assigned-stale", Task: task, Step: reconcile.StepFail, Verdict: "do", Incident: "i-1"}
		if i >= 20 {
			fail.Verdict, fail.HeldBy = "held", reconcile.HeldByOf("budget: per_pass 20")
		}
		end := Step{Rule: "assigned-stale", Task: task, Sandbox: "sb" + task, Step: reconcile.StepTerminate,
			Verdict: "held", HeldBy: reconcile.HeldByOf("incident: i-1"), Incident: "i-1"}
		r.Steps = append(r.Steps, fail, end)
	}
	var b bytes.Buffer
	if err := printText(&b, r); err != nil {
		t.Fatal(err)
	}
	got := b.String()
	if n := strings.Count(got, "\n"); n > 14 {
		t.Errorf("the text has %d lines:\n%s", n, got)
	}
	for _, want := range []string{
		"incident i-1  100 findings now", "snapshot is inactive", "20× do fail, assigned-stale",
		"80× held fail, assigned-stale, by budget", "100× held terminate, assigned-stale, by incident", "sb-other",
		"102 findings, 20 steps to do, 180 held", "sandkeeper affected i-1",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in:\n%s", want, got)
		}
	}
}
