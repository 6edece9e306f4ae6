package run_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A row makes a sandbox ours only when the sandbox is younger and a pass saw the row live: whoever may write rows
// could end any sandbox else. What is not ended is shown, with the reason.
func TestForgedRows(t *testing.T) {
	type forged struct {
		state reconcile.TaskState
		row   time.Duration // its age
		box   time.Duration
		by    int // how many live rows name the sandbox
		ends  bool
		held  string
	}
	const live, assigned = reconcile.TaskRunning, reconcile.TaskAssigned
	for name, c := range map[string]forged{
		"a stopped one":         {reconcile.TaskStopped, 3 * time.Hour, 2 * time.Hour, 0, false, reconcile.UnseenLive},
		"a finished one":        {reconcile.TaskCompleted, 3 * time.Hour, 2 * time.Hour, 0, false, reconcile.UnseenLive},
		"one that never starts": {assigned, time.Hour, 2 * time.Hour, 1, false, "it is older than the row"},
		"one that never starts, of a younger sandbox": {assigned, 2 * time.Hour, time.Hour, 1, true, ""},
		"two of one sandbox":                          {assigned, 2 * time.Hour, time.Hour, 2, false, "several tasks name it"},
		"within the skew":                             {assigned, time.Hour, time.Hour + reconcile.Skew, 1, true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := opened(t)
				p := s.policy.Providers[lab]
				p.Referenced = true
				s.policy.Providers[lab] = p
				s.cloud.Put(simulated.Sandbox{ID: "sb-x", CreatedAt: ago(c.box)})
				for i := range max(c.by, 1) {
					s.table.put(row{Task: reconcile.Task{ID: string(rune('x' + i)), Sandbox: "sb-x", State: c.state, CreatedAt: ago(c.row),
						AssignedAt: ago(c.row), UpdatedAt: ago(c.row)}})
				}
				held := ""
				for range 6 {
					r := s.once()
					for _, f := range r.Plan.Findings {
						if by, doubtful := f.HeldBy.Of(reconcile.HeldDoubtful); doubtful {
							held = by.String()
						}
					}
					time.Sleep(time.Minute)
				}
				if ended := s.state("sb-x") == reconcile.SandboxEnded; ended != c.ends {
					t.Errorf("ended: %t, want %t", ended, c.ends)
				}
				if !strings.Contains(held, c.held) || c.held == "" && held != "" {
					t.Errorf("held by %q, want %q", held, c.held)
				}
			})
		})
	}
}

// A sandbox that was proven once stays ours: when its task is handed out again, when its row is over or names it
// no more.
func TestProvenOnceByItsRow(t *testing.T) {
	for name, change := range map[string]func(*row){
		"its row is over": func(r *row) { r.State = reconcile.TaskStopped },
		"it is handed out again": func(r *row) {
			r.State, r.AssignedAt, r.StartedAt, r.UpdatedAt = reconcile.TaskAssigned, time.Now(), time.Time{}, time.Now()
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := opened(t)
				p := s.policy.Providers[lab]
				p.Referenced = true
				s.policy.Providers[lab] = p
				s.cloud.Put(simulated.Sandbox{ID: "sb-x", CreatedAt: ago(time.Hour)})
				s.table.put(row{Task: reconcile.Task{ID: "x", Sandbox: "sb-x", State: reconcile.TaskAssigned, CreatedAt: ago(2 * time.Hour),
					AssignedAt: ago(time.Minute), UpdatedAt: ago(time.Minute)}})
				s.once()
				s.table.change("x", change)
				for range 8 {
					time.Sleep(time.Minute)
					s.once()
				}
				if s.state("sb-x") != reconcile.SandboxEnded {
					t.Error("it was not ended")
				}
			})
		})
	}
}
