package result

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// TestHeldJSON: what holds and what it holds are told in their parts, and what is absent is left out.
func TestHeldJSON(t *testing.T) {
	at := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	r := Pass{Findings: []Finding{{Rule: "inactive", Provider: "daytona", Reason: "r",
		Subject: SubjectOf("template:daytona/base:1", "daytona"),
		HeldBy:  reconcile.HeldByOf("hold: provider:daytona (drill) by ana", "activity-untrusted", "observe")}}}
	r.date(&reconcile.Controls{Holds: []reconcile.Hold{{Target: "provider:daytona", Author: "ana", At: at}}})
	got, err := json.Marshal(r.Findings[0])
	want := `{"rule":"inactive","subject":{"type":"template","id":"base:1","provider":"daytona"},"provider":"daytona","reason":"r",` +
		`"held_by":[{"kind":"hold","what":"provider:daytona","reason":"drill","by":"ana","since":"2026-11-22T12:00:00Z"},` +
		`{"kind":"freeze","what":"activity"},{"kind":"observe"}]}`
	if err != nil || string(got) != want {
		t.Errorf("the finding is\n%s, %v, want\n%s", got, err, want)
	}
	if got := SubjectOf("task:7", "daytona"); got != (Subject{Type: "task", ID: "7"}) {
		t.Errorf("the subject of a task is %+v", got)
	}
}
