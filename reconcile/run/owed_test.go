package run_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// late adds a task that is past its time limit, and its sandbox, which the ledger sees.
func (s *stage) late(id string) {
	s.enforce("deadline-exceeded", reconcile.RulePolicy{Remedy: reconcile.Fail})
	s.put(row{Task: reconcile.Task{Timeout: 10 * time.Minute}, beats: true}, id)
	s.watch(1)
}

// ends are the open steps that end sandboxes.
func (s *stage) ends() []string {
	var ids []string
	for _, a := range s.open() {
		if a.Step == reconcile.StepTerminate {
			ids = append(ids, a.Sandbox)
		}
	}
	return ids
}

// crowd adds tasks that wait for a look, more than one pass may look at, and are only observed.
func (s *stage) crowd(n int) {
	s.observes("assigned-stale")
	for i := range n {
		s.table.put(row{Task: reconcile.Task{ID: "t" + string(rune('a'+i/26)) + string(rune('a'+i%26)), State: reconcile.TaskAssigned,
			AssignedAt: ago(time.Hour), UpdatedAt: ago(time.Hour)}})
	}
}

// observes lets a rule observe.
func (s *stage) observes(name string) {
	r := s.policy.Rules[name]
	r.Mode = reconcile.Observe
	s.policy.Rules[name] = r
}

// A task is failed by a pass that had no turn for a look at its sandbox, and the end of that is owed: a
// later pass pays it when it could not be looked at meanwhile.
func TestOwedEnd(t *testing.T) {
	for name, dark := range map[string]bool{"it is there": false, "nobody can look for a while": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, l := opened(t), &life{}
				s.late("z")
				s.crowd(320)
				lift := func() {}
				l.before = before("Write", func() {
					if dark {
						lift = s.cloud.Inject(simulated.Fault{On: simulated.Get, ID: "sb-z", Effect: simulated.Answer, Status: 503})
					}
				})
				k := s.keeper("one", l)
				r, err := k.Once(t.Context(), reconcile.Quick, time.Second)
				if err != nil || r.Plan.Unlooked == 0 {
					t.Fatalf("%d were not looked at, %v", r.Plan.Unlooked, err)
				}
				if dark {
					s.each([]string{"z"}, nil)
					if got := s.ends(); !slices.Equal(got, []string{"sb-z"}) {
						t.Errorf("ends of %q are owed, want sb-z", got)
					}
					lift()
					time.Sleep(time.Minute)
					if _, err := k.Once(t.Context(), reconcile.Quick, time.Second); err != nil {
						t.Fatal(err)
					}
				}
				s.each([]string{"z"}, []string{"sb-z"})
			})
		})
	}
}

// What came to rest after its task was failed is left with its files, where that is what the config says.
func TestOwedEndOfWhatRests(t *testing.T) {
	for name, test := range map[string]struct {
		ends    bool // the config's at_rest
		becomes reconcile.SandboxState
		ended   []string
	}{
		"it runs on":    {false, reconcile.SandboxRunning, []string{"sb-late"}},
		"it is stopped": {false, reconcile.SandboxStopped, nil},
		"it is paused":  {false, reconcile.SandboxSuspended, nil},
		"it has failed": {false, reconcile.SandboxFailed, []string{"sb-late"}},
		"it is stopped, and ended like what runs": {true, reconcile.SandboxStopped, []string{"sb-late"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, l := opened(t), &life{}
				p := s.policy.Providers[lab]
				p.EndsAtRest = test.ends
				s.policy.Providers[lab] = p
				s.late("late")
				l.before = before("Write", func() {
					s.cloud.Change("sb-late", func(b *simulated.Sandbox) { b.State = test.becomes })
				})
				if _, err := s.keeper("one", l).Once(t.Context(), reconcile.Full, time.Second); err != nil {
					t.Fatal(err)
				}
				s.each([]string{"late"}, test.ended)
				if err := s.work(s.keeper("two", &life{})); err != nil {
					t.Error(err)
				}
				s.each([]string{"late"}, test.ended)
			})
		})
	}
}

// Who waits for a look because of so many others is told of, and neither healthy nor found.
func TestManyWaitForALook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := opened(t)
		r := s.once()
		if r.Plan.Unlooked != 0 {
			t.Errorf("%d were not looked at while nobody waits", r.Plan.Unlooked)
		}
		if n, told := r.Counts["not_looked_at"]; told {
			t.Errorf("the counts tell of %d not looked at", n)
		}
		s.crowd(310)
		if r = s.once(); r.Plan.Unlooked == 0 || r.Counts["not_looked_at"] != r.Plan.Unlooked {
			t.Errorf("%d were not looked at, the counts tell of %d", r.Plan.Unlooked, r.Counts["not_looked_at"])
		}
		if len(r.Plan.Findings)+r.Plan.Kept+r.Plan.Unlooked != len(r.Judged.Decisions) {
			t.Errorf("%d found, %d kept, %d not looked at: want %d", len(r.Plan.Findings), r.Plan.Kept, r.Plan.Unlooked, len(r.Judged.Decisions))
		}
	})
}
