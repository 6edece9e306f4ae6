package run_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A row makes a sandbox ours only when the sandbox is younger and named while a pass saw the row live: whoever may write
// rows could end any sandbox else. What is not ended is shown, with the reason.
func TestForgedRows(t *testing.T) {
	type forged struct {
		state    reconcile.TaskState
		row, box time.Duration // their ages, as they say
		by       int           // how many live rows name the sandbox
		held     string        // "" when it is ended
		then     func(*row)    // what its writer does with the row after a pass
	}
	const assigned, older = reconcile.TaskAssigned, "it is older than the row"
	over := func(r *row) { r.State, r.UpdatedAt = reconcile.TaskStopped, time.Now() }
	for name, c := range map[string]forged{
		"a stopped one":         {reconcile.TaskStopped, 3 * time.Hour, 2 * time.Hour, 1, reconcile.UnseenLive, nil},
		"a finished one":        {reconcile.TaskCompleted, 3 * time.Hour, 2 * time.Hour, 1, reconcile.UnseenLive, nil},
		"one that never starts": {assigned, time.Hour, 2 * time.Hour, 1, older, nil},
		"one that never starts, of a younger sandbox": {assigned, time.Hour, 0, 1, "", nil},
		"within the skew":                                  {assigned, 0, reconcile.Skew, 1, "", nil},
		"two of one sandbox":                               {assigned, time.Hour, 0, 2, "several tasks name it", nil},
		"one that says that it is older":                   {assigned, 3 * time.Hour, 2 * time.Hour, 1, older, nil},
		"one that says that it is older, and is over then": {assigned, 3 * time.Hour, 2 * time.Hour, 1, older, over},
		"one that names it when it is over": {assigned, time.Hour, 0, 0, reconcile.UnseenLive, func(r *row) {
			over(r)
			r.Sandbox = "sb-x"
		}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := openedByRows(t)
				s.cloud.Put(simulated.Sandbox{ID: "sb-x", CreatedAt: ago(c.box)})
				for i := range max(c.by, 1) {
					r := row{Task: reconcile.Task{ID: string(rune('x' + i)), State: c.state, CreatedAt: ago(c.row),
						AssignedAt: ago(c.row), UpdatedAt: ago(c.row)}}
					if c.by > 0 {
						r.Sandbox = "sb-x"
					}
					s.table.put(r)
				}
				var held reconcile.HeldBy
				for i := range 12 {
					for _, f := range s.once().Plan.Findings {
						if f.Sandbox == "sb-x" || len(f.HeldBy) > 0 {
							held = f.HeldBy
						}
					}
					if time.Sleep(time.Minute); i == 0 && c.then != nil {
						s.table.change("x", c.then)
					}
				}
				if ended := s.state("sb-x") == reconcile.SandboxEnded; ended != (c.held == "") {
					t.Errorf("ended: %t, want it held by %q", ended, c.held)
				}
				if by, doubtful := held.Of(reconcile.HeldDoubtful); c.held != "" && !(doubtful && strings.Contains(by.String(), c.held)) {
					t.Errorf("held by %v, want %q", held, c.held)
				}
			})
		})
	}
}

// openedByRows is a stage where nothing but its row makes a sandbox ours.
func openedByRows(t *testing.T) *stage {
	t.Helper()
	s := opened(t)
	p := s.policy.Providers[lab]
	p.Referenced = true
	s.policy.Providers[lab] = p
	return s
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
				s := openedByRows(t)
				s.cloud.Put(simulated.Sandbox{ID: "sb-x", CreatedAt: time.Now()})
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
