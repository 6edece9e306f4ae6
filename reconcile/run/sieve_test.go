package run_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/run"
)

// A quick pass of a large fleet keeps only rows that are not plain, and comes to the same counts as one that keeps all.
// Where somebody is to act on what is open, where something new is found, and for a look it keeps everybody.
func TestAQuickPassKeepsRowsThatAreNotPlain(t *testing.T) {
	for name, c := range map[string]struct {
		then  func(*stage)
		look  bool
		from  int
		plain int
	}{
		"nothing is new":        {nil, false, 1, 7},
		"a small fleet":         {nil, false, 0, 0},
		"a look":                {nil, true, 1, 0},
		"a row has changed":     {func(s *stage) { s.steady("p2", ago(time.Second)) }, false, 1, 6},
		"a worker is heard":     {func(s *stage) { s.hear("p2") }, false, 1, 7},
		"a task is new":         {func(s *stage) { s.steady("p4", ago(time.Second)) }, false, 1, 7},
		"a worker falls silent": {func(*stage) { time.Sleep(2 * time.Minute) }, false, 1, 0},
		"something is found": {func(s *stage) {
			s.put(row{Task: reconcile.Task{State: reconcile.TaskStopped}}, "h1")
		}, false, 1, 0},
		"an action is open": {func(s *stage) {
			s.put(row{Task: reconcile.Task{State: reconcile.TaskStopped}}, "h1")
			s.once() // ends its sandbox, which takes a while
			if len(s.open()) == 0 {
				s.Error("no action is open")
			}
		}, false, 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, all := sieved(t, reconcile.Quick, c.from, c.look, c.then)
				running := reconcile.Count{What: reconcile.CountTasks, State: string(reconcile.TaskRunning)}.String()
				if got := r.Judged.Plain(); got != c.plain || r.Plan.Kept != all.Plan.Kept ||
					r.Counts[running] != all.Counts[running] {
					t.Errorf("%d rows are plain, want %d; %d are healthy, want %d; %d tasks run, want %d", got, c.plain, r.Plan.Kept,
						all.Plan.Kept, r.Counts[running], all.Counts[running])
				}
			})
		})
	}
}

// A full pass of a large fleet keeps only rows and listed sandboxes that are not plain, and comes to the same counts as
// one that keeps all. Where a listing is not whole, where one may end what was found, and for a look it keeps everybody.
func TestAFullPassKeepsRowsThatAreNotPlain(t *testing.T) {
	for name, c := range map[string]struct {
		then  func(*stage)
		look  bool
		plain int
	}{
		"nothing is new":    {nil, false, 7},
		"a look":            {nil, true, 0},
		"a row has changed": {func(s *stage) { s.steady("p2", ago(time.Second)) }, false, 6},
		"a worker is heard": {func(s *stage) { s.hear("p2") }, false, 7},
		"a task is new":     {func(s *stage) { s.steady("p4", ago(time.Second)) }, false, 8},
		"a label is lost": {func(s *stage) {
			s.cloud.Put(simulated.Sandbox{ID: "sb-p2", CreatedAt: ago(time.Hour + 15*time.Second),
				Labels: map[string]string{"app": "ours"}})
		}, false, 6},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r, all := sieved(t, reconcile.Full, 1, c.look, c.then)
				if got := r.Judged.Plain(); got != c.plain || r.Plan.Kept != all.Plan.Kept || !maps.Equal(r.Counts, all.Counts) {
					t.Errorf("%d rows are plain, want %d; %d are healthy, want %d; counts are %v, want %v", got, c.plain, r.Plan.Kept,
						all.Plan.Kept, r.Counts, all.Counts)
				}
			})
		})
	}
}

// sieved makes a pass, or looks, over a fleet in which something has happened since the last one: by one that leaves out
// rows from so many on, and by one that keeps all and only looks.
func sieved(t *testing.T, kind reconcile.PassKind, from int, look bool, then func(*stage)) (some, all *run.Result) {
	t.Helper()
	s := opened(t)
	for i := range 3 {
		s.steady(fmt.Sprint("p", i+1), ago(10*time.Second))
	}
	s.once()
	time.Sleep(15 * time.Second)
	if then != nil {
		then(s)
	}
	all, err := s.keeper("all", &life{}).Plan(t.Context(), kind)
	if err != nil {
		t.Fatal(err)
	}
	k := s.keeper("some", &life{})
	k.Sieved = from
	if look {
		some, err = k.Plan(t.Context(), kind)
	} else {
		some, err = k.Once(t.Context(), kind, 0)
	}
	if err != nil {
		t.Fatal(err)
	}
	return some, all
}

// Where leaving out rows was in vain the full passes after it read everybody at once for a while, and then try again.
func TestWhatWasInVainIsNotTriedAgainAtOnce(t *testing.T) {
	for name, vain := range map[string]*atomic.Int32{"each tries": nil, "after a while": new(atomic.Int32)} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := opened(t)
				work := func() {
					for i := range 6 {
						s.steady(fmt.Sprint("p", i+1), ago(time.Second))
					}
				}
				work()
				s.once()
				k := s.keeper("some", &life{})
				k.Sieved, k.Vain = 1, vain
				var plain []bool
				for i := range 20 {
					if time.Sleep(time.Second); i == 2 {
						work()
					}
					r, err := k.Once(t.Context(), reconcile.Full, 0)
					if err != nil {
						t.Fatal(err)
					}
					plain = append(plain, r.Judged.Plain() > 0)
				}
				again := slices.Index(plain[2:], true)
				if !plain[0] || !plain[1] || again < 1 || (again > 10) != (vain != nil) {
					t.Errorf("rows were left out in these passes: %v; most had changed in the third", plain)
				}
			})
		})
	}
}

// steady is a task whose worker gave its last sign of life then.
func (s *stage) steady(id string, at time.Time) {
	s.put(row{Task: reconcile.Task{State: reconcile.TaskRunning, StartedAt: ago(time.Hour),
		Events: reconcile.Events{Started: ago(time.Hour), Activity: at, Heartbeat: at}}}, id)
}

// hear gives a further sign of life of a steady task's worker.
func (s *stage) hear(id string) {
	r := s.table.row(id)
	r.Events.Heartbeat, r.UpdatedAt = ago(0), ago(0)
	s.table.put(r)
}

// The first pass over a large fleet keeps none that is plain, and the ledger remembers of them what it remembers after
// one that keeps all; so it does of those that are heard and of those that are new in a later one.
func TestWhatIsNotKeptIsRemembered(t *testing.T) {
	type remembered struct {
		reconcile.Memory
		tasks map[string]reconcile.TaskSeen
		boxes map[reconcile.Ref]reconcile.SandboxSeen
	}
	remembers := func(t *testing.T, from int) (m []remembered) {
		synctest.Test(t, func(t *testing.T) {
			s := openedAfter(t, 0, simulated.Options{})
			for i := range 6 {
				s.steady(fmt.Sprint("p", i+1), ago(time.Second))
			}
			s.put(row{Task: reconcile.Task{State: reconcile.TaskAssigned, AssignedAt: ago(time.Minute)}}, "set-up")
			k := s.keeper("all", &life{})
			k.Sieved = from
			for range 3 {
				r, err := k.Once(t.Context(), reconcile.Full, 0)
				if err != nil || from == 1 && r.Judged.Plain() < 6 {
					t.Fatalf("%d rows are plain: %v", r.Judged.Plain(), err)
				}
				now, err := s.ledger.Recall(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				of := remembered{now, maps.Collect(now.Tasks.All()), maps.Collect(now.Sandboxes.All())}
				of.Tasks, of.Sandboxes = reconcile.RememberedTasks{}, reconcile.RememberedSandboxes{}
				m = append(m, of)
				time.Sleep(20 * time.Second)
				s.hear("p2")
				s.steady("p9", ago(time.Second))
			}
		})
		return m
	}
	all, some := remembers(t, 1000), remembers(t, 1)
	for i := range all {
		if !reflect.DeepEqual(all[i], some[i]) {
			t.Errorf("after pass %d the ledger remembers\n%+v, want\n%+v", i+1, some[i], all[i])
		}
	}
}
