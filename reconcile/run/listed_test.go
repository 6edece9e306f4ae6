package run

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/fleet"
)

// A long listing waits for what the ledger remembers, a short one does not: nothing that waits is there twice. None of it
// is lost, and each has its place.
func TestLongListingWaitsForTheLedger(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		recalled := make(chan struct{})
		s := &reconcile.Snapshot{}
		r := &remembering{s: s, done: recalled, into: fleet.NewListing(&s.Memory), mu: &sync.Mutex{}}
		pages := 0
		var all []reconcile.Sandbox
		go func() {
			for i := range 3 * unremembered / 100 {
				for j := range 100 {
					r.keep(&reconcile.Sandbox{Ref: reconcile.Ref{Provider: "p", ID: fmt.Sprint(i*100 + j)},
						Labels: map[string]string{"app": "agents"}})
				}
				r.page()
				pages++
			}
			r.end()
			all = r.into.All()
		}()
		synctest.Wait()
		if want := unremembered/100 - 1; pages != want || r.known {
			t.Errorf("%d pages were taken before the ledger was read, want %d", pages, want)
		}
		close(recalled)
		synctest.Wait()
		if len(all) != 3*unremembered {
			t.Fatalf("%d sandboxes, want %d", len(all), 3*unremembered)
		}
		for i, sb := range all {
			if sb.ID != fmt.Sprint(i) || sb.Labels != nil || len(sb.Kinds) != 1 {
				t.Fatalf("sandbox %d is %+v", i, sb)
			}
		}
	})
}
