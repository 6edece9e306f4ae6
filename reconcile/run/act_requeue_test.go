package run_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// The last attempt may be used up between the plan and the write: then the row is not set
// back to pending, and the next pass fails it.
func TestRequeueLooksLast(t *testing.T) {
	for name, used := range map[string]bool{"attempts are left": false, "the last one is used up meanwhile": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, l := opened(t), &life{}
				s.remedy("idle-broken", reconcile.Requeue)
				s.put(row{Task: reconcile.Task{Retries: true, MaxAttempts: 1}, beats: true}, "broken")
				s.cloud.Change("sb-broken", func(b *simulated.Sandbox) { b.Exec = simulated.Dead })
				changed := false
				l.before = func(_ int, call string) {
					if call == "Claim" && used && !changed {
						changed = true
						s.table.change("broken", func(r *row) { r.Attempts = 1 })
					}
				}
				k := s.keeper("once", l)
				for range 8 {
					if _, err := k.Once(t.Context(), reconcile.Full, time.Second); err != nil {
						t.Fatal(err)
					}
					time.Sleep(time.Minute)
				}
				want := map[bool]reconcile.TaskState{false: reconcile.TaskPending, true: reconcile.TaskFailed}[used]
				if r := s.table.row("broken"); r.State != want || changed != used {
					t.Errorf("the row is %s (%s), want %s", r.State, r.Error, want)
				}
				if n := len(s.table.writes()); n != 1 {
					t.Errorf("it was written %d times, want once", n)
				}
			})
		})
	}
}
