package run_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// What a full pass found for the first time, a quick one sights again a minute later, by a look at it and at the rows
// of that moment.
func TestAQuickPassSightsAnOrphanAgain(t *testing.T) {
	for name, c := range map[string]struct {
		after time.Duration
		first bool // a full pass has found it
		then  func(*stage)
		want  bool
	}{
		"a minute later":                  {time.Minute, true, nil, true},
		"a second earlier":                {59 * time.Second, true, nil, false},
		"no full pass has found it":       {time.Minute, false, nil, false},
		"it names a task by now":          {time.Minute, true, func(s *stage) { s.cloud.Change("sb-late", named) }, false},
		"a row names it by now":           {time.Minute, true, func(s *stage) { s.table.put(lateRow()) }, false},
		"it is nobody's of ours by now":   {time.Minute, true, func(s *stage) { s.cloud.Change("sb-late", foreign) }, false},
		"it cannot be looked at":          {time.Minute, true, blind(503), false},
		"the rows cannot be told from it": {time.Minute, true, func(s *stage) { s.lonelyTask() }, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := opened(t)
				if c.first {
					s.lonely("sb-late")
					s.once()
				}
				time.Sleep(c.after)
				if c.then != nil {
					c.then(s)
				}
				if !c.first {
					s.lonely("sb-late")
				}
				r, err := s.keeper("quick", &life{}).Once(t.Context(), reconcile.Quick, 0)
				if err != nil {
					t.Fatal(err)
				}
				planned := false
				for i := range r.Plan.Steps {
					step := &r.Plan.Steps[i]
					planned = planned || step.Rule == "orphan" && step.Sandbox == "sb-late" && len(step.HeldBy) == 0
				}
				if planned != c.want {
					t.Errorf("the quick pass plans its end: %t, want %t; findings: %v", planned, c.want, r.Plan.Findings)
				}
			})
		})
	}
}

func named(b *simulated.Sandbox) { b.Labels = map[string]string{"app": "ours", "task": "h1"} }

func foreign(b *simulated.Sandbox) { b.Labels = map[string]string{} }

func lateRow() row {
	return row{Task: reconcile.Task{ID: "late", State: reconcile.TaskCompleted, Sandbox: "sb-late", CreatedAt: ago(time.Hour)}}
}

func blind(status int) func(*stage) {
	return func(s *stage) {
		s.cloud.Inject(simulated.Fault{On: simulated.Get, Effect: simulated.Answer, Status: status})
	}
}

// lonelyTask is a task that began after the last listing, shows life and has no sandbox that anybody knows: this may
// be it.
func (s *stage) lonelyTask() {
	s.table.put(row{beats: true, Task: reconcile.Task{ID: "new", State: reconcile.TaskRunning, CreatedAt: ago(time.Hour),
		StartedAt: ago(58 * time.Minute), UpdatedAt: ago(58 * time.Minute)}})
}
