package run_test

import (
	"maps"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// TestASearchThatLies: what a search shows as a task's, and a look at it does not, is not the task's: nothing is
// planned for it, and the search proves nothing.
func TestASearchThatLies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := opened(t)
		s.put(row{}, "lost")
		if _, err := s.cloud.Destroy("sb-lost"); err != nil {
			t.Fatal(err)
		}
		s.watch(2)
		lift := s.cloud.Inject(simulated.Fault{On: simulated.Find, Effect: simulated.Forge,
			Forges: func(b simulated.Sandbox) simulated.Sandbox {
				if b.ID == "sb-foreign" {
					b.Labels = map[string]string{"app": "ours", "task": "lost"}
				} else {
					b.Labels = maps.Clone(b.Labels)
					delete(b.Labels, "task")
				}
				return b
			}})
		told := false
		for range 3 {
			for _, kind := range []reconcile.PassKind{reconcile.Full, reconcile.Quick} {
				r, err := s.keeper("once", &life{}).Once(s.Context(), kind, time.Second)
				if err != nil {
					t.Fatal(err)
				}
				for i := range r.Judged.Decisions {
					told = told || strings.Contains(r.Judged.Decisions[i].Kept, "sb-foreign, which is not the task's")
					for _, b := range r.Judged.Decisions[i].Subject.Boxes {
						if b.ID == "sb-foreign" {
							t.Errorf("a %s pass takes it for a sandbox of %s", kind, r.Judged.Decisions[i].Subject.ID)
						}
					}
				}
				time.Sleep(time.Minute)
			}
		}
		if !told {
			t.Error("nobody says that the search lies")
		}
		lift()
		if err := s.work(s.keeper("once", &life{})); err != nil {
			t.Errorf("when it does not lie any more: %v, open %v", err, s.open())
		}
	})
}

// TestAListingThatSwapsLabels: what a listing shows as another task's than the live one whose it was is got by id first:
// where that does not say so, too, it is not the other one's.
func TestAListingThatSwapsLabels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := opened(t)
		s.put(row{}, "one")
		s.put(row{}, "other")
		s.watch(2)
		s.cloud.Inject(simulated.Fault{On: simulated.List, Effect: simulated.Forge,
			Forges: func(b simulated.Sandbox) simulated.Sandbox {
				if b.ID == "sb-one" {
					b.Labels = map[string]string{"app": "ours", "task": "other"}
				}
				return b
			}})
		r, err := s.keeper("once", &life{}).Once(s.Context(), reconcile.Full, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		for i := range r.Judged.Decisions {
			for _, b := range r.Judged.Decisions[i].Subject.Boxes {
				if id := r.Judged.Decisions[i].Subject.ID; b.ID == "sb-one" && id != "task:one" {
					t.Errorf("it is taken for a sandbox of %s", id)
				}
			}
		}
	})
}
