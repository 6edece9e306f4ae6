package run_test

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/run"
)

// jobs works at each remedy once, eight at a time, and returns when the first is to be worked at again; 0: none is.
func (s *stage) jobs(w *run.Worker, asked []reconcile.Action) (first time.Duration) {
	s.Helper()
	var mu sync.Mutex
	var wg sync.WaitGroup
	slots := make(chan struct{}, 8)
	for _, a := range asked {
		slots <- struct{}{}
		wg.Go(func() {
			defer func() { <-slots }()
			again, err := w.Remedy(s.Context(), a.Remedy)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				s.Errorf("remedy of %s: %v", a.Sandbox, err)
			}
			if again > 0 && (first == 0 || again < first) {
				first = again
			}
		})
	}
	wg.Wait()
	return first
}

// The jobs of a crowd share a listing: none of them waits in its place for its own sandbox, and few are got.
func TestJobsOfACrowdShareAListing(t *testing.T) {
	const many = 120
	synctest.Test(t, func(t *testing.T) {
		s, asked := stageOfMany(t, many, 20*time.Second)
		w := run.NewWorker(t.Context(), s.whole())
		if again := s.jobs(w, asked); again != 0 {
			t.Errorf("something is to be looked at again after %s", again)
		}
		for _, a := range asked {
			if got := s.became(a); got.Outcome != reconcile.OutcomeConfirmed {
				t.Errorf("%s is %s (%s), want it confirmed", a.Sandbox, got.Outcome, got.Detail)
			}
		}
		if gets, lists := s.calls(simulated.Get), s.calls(simulated.List); len(gets) > many/4 || len(lists) > 4 {
			t.Errorf("%d gets and %d pages for %d", len(gets), len(lists), many)
		}
	})
}

// What the listing still shows is not confirmed, nor what it leaves out while it is there, and none is looked at again
// before there may be another listing.
func TestJobsOfACrowdConfirmNothingThatIsThere(t *testing.T) {
	const many = 60
	for name, omits := range map[string]bool{"it shows them": false, "it leaves them out": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s, asked := stageOfMany(t, many, 24*time.Hour)
				s.cloud.Inject(simulated.Fault{On: simulated.List, Effect: simulated.Omit,
					Omits: func(b simulated.Sandbox) bool { return omits && b.State == reconcile.SandboxDeleting }})
				w := run.NewWorker(t.Context(), s.whole())
				if again := s.jobs(w, asked); again < 3*time.Second {
					t.Errorf("they are to be looked at again after %s", again)
				}
				for _, a := range asked {
					if got := s.became(a); got.Outcome != reconcile.OutcomeAccepted {
						t.Errorf("%s is %s (%s), want it to be waited for: it is there", a.Sandbox, got.Outcome, got.Detail)
					}
				}
			})
		})
	}
}
