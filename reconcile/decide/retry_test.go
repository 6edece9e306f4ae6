package decide

import (
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// TestRetryIsRuledOn: a task that an operator wants run again is set back only while its row is as our own write left
// it, nothing of the attempt that failed runs on, and no incident holds it.
func TestRetryIsRuledOn(t *testing.T) {
	now := time.Date(2026, 2, 1, 12, 0, 0, 0, time.UTC)
	ref := reconcile.Ref{Provider: "lab", ID: "s1"}
	failed := func() *reconcile.Task {
		return &reconcile.Task{ID: "t", State: reconcile.TaskFailed, Status: "failed", Error: "silent [sandkeeper f-1]"}
	}
	cases := map[string]struct {
		row       func(*reconcile.Task)
		none      bool // there is no row
		change    func(*reconcile.Action)
		box       *reconcile.SandboxSeen
		incident  string
		untrusted bool
		outcome   reconcile.Outcome
		why       string
	}{
		"the row is as it was left":      {},
		"the error is not mapped":        {row: func(t *reconcile.Task) { t.Error = "" }},
		"its sandbox is gone":            {box: &reconcile.SandboxSeen{State: reconcile.SandboxRunning, GoneAt: now}},
		"its sandbox stands still":       {box: &reconcile.SandboxSeen{State: reconcile.SandboxStopped}},
		"an incident of something else":  {incident: "other"},
		"there is no row":                {none: true, outcome: reconcile.OutcomeWithdrawn, why: "no row"},
		"it runs again":                  {row: func(t *reconcile.Task) { t.State, t.Status = reconcile.TaskRunning, "running" }, outcome: reconcile.OutcomeWithdrawn, why: "alive again"},
		"it waits already":               {row: func(t *reconcile.Task) { t.State, t.Status = reconcile.TaskPending, "pending" }, outcome: reconcile.OutcomeWithdrawn, why: "alive again"},
		"a status that nobody maps":      {row: func(t *reconcile.Task) { t.State, t.Status = reconcile.TaskUnknown, "odd" }, outcome: reconcile.OutcomeWithdrawn, why: "alive again"},
		"somebody else wrote its error":  {row: func(t *reconcile.Task) { t.Error = "cancelled by the user" }, outcome: reconcile.OutcomeWithdrawn, why: "has moved"},
		"another of our writes":          {row: func(t *reconcile.Task) { t.Error = "x [sandkeeper f-2]" }, outcome: reconcile.OutcomeWithdrawn, why: "has moved"},
		"it was written before a crash":  {row: func(t *reconcile.Task) { t.State, t.Error = reconcile.TaskPending, "y [sandkeeper r-1]" }, outcome: reconcile.OutcomeDone, why: "earlier attempt"},
		"nothing is known of the write":  {change: func(a *reconcile.Action) { a.Before = nil }, outcome: reconcile.OutcomeWithdrawn, why: "nothing is known"},
		"its sandbox still runs":         {box: &reconcile.SandboxSeen{State: reconcile.SandboxRunning}, outcome: reconcile.OutcomePending, why: "lab/s1 is not gone"},
		"an incident of it holds":        {incident: "s", outcome: reconcile.OutcomePending, why: "incident i-1 holds it"},
		"the rows are not to be trusted": {untrusted: true, outcome: reconcile.OutcomePending, why: "tasks"},
		"it waits for an hour already":   {change: func(a *reconcile.Action) { a.PlannedAt = now.Add(-time.Hour - time.Second) }, outcome: reconcile.OutcomeWithdrawn, why: "ask again"},
		"it waits for not quite an hour": {change: func(a *reconcile.Action) { a.PlannedAt = now.Add(-time.Hour) }},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			m := reconcile.Memory{Now: now}
			if c.box != nil {
				c.box.Ref, c.box.Task = ref, "t"
				m.Sandboxes = reconcile.RememberedOf(map[reconcile.Ref]reconcile.SandboxSeen{ref: *c.box})
			}
			v := view.New(&reconcile.Snapshot{Kind: reconcile.Full, Memory: m}, &reconcile.Policy{})
			if c.untrusted {
				v.Sources = map[string]reconcile.SourceSeen{reconcile.SourceTasks: {Name: reconcile.SourceTasks}}
			}
			f := &Facts{Now: now, Row: failed()}
			if c.row != nil {
				c.row(f.Row)
			}
			if c.none {
				f.Row = nil
			}
			if c.incident != "" {
				f.Controls.Incidents = []reconcile.Incident{{ID: "i-1", Signature: c.incident}}
			}
			a := reconcile.AskRetry(&reconcile.Action{Task: "t", Signature: "s",
				Before: &reconcile.RowBefore{After: "7", Mark: "[sandkeeper f-1]"}})
			a.ID, a.PlannedAt = "r-1", now
			if c.change != nil {
				c.change(&a)
			}
			got := MayAct(v, &a, f)
			if got.Goes() != (c.outcome == "") || got.Outcome != c.outcome || !strings.Contains(got.Why, c.why) {
				t.Errorf("MayAct = %+v, want %q because %q", got, c.outcome, c.why)
			}
		})
	}
}
