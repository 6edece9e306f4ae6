package run

import (
	"slices"
	"sync"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/fleet"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// A remembering puts the sandboxes of one provider into the listing of all, while the ledger is read beside it: what it
// remembers tells what of each is to be kept, and which labels somebody holds. Of all other labels only what kinds of
// sandboxes they tell apart is kept: they are a tenth of a large fleet's memory. What is longer than [unremembered]
// waits until the ledger was read: then none is there twice.
type remembering struct {
	s    *reconcile.Snapshot
	done <-chan struct{} // closed when the memory was read
	into *fleet.Listing
	mu   *sync.Mutex // of what it is put into

	waiting fleet.Pieces[reconcile.Sandbox] // for the memory
	known   bool                            // it was read, and nothing waits
	kinds   []string
	one     reconcile.Sandbox // that is put in, and again the next one
}

// unremembered is how many sandboxes are kept while the ledger is still being read.
const unremembered = 1000

func (r *remembering) keep(sb *reconcile.Sandbox) {
	if r.known {
		r.put(sb)
		return
	}
	r.waiting.Add(sb)
}

// page ends a page of the listing.
func (r *remembering) page() {
	if r.waiting.Len() >= unremembered {
		<-r.done // it ends with the pass, as the listing does
	}
	select {
	case <-r.done:
		r.know()
	default:
	}
}

// end ends the listing, when the memory was read as well.
func (r *remembering) end() {
	<-r.done
	r.know()
}

// know uses what is remembered: it puts in all that waits.
func (r *remembering) know() {
	r.known = true
	for sb := range r.waiting.Each() {
		r.put(sb)
	}
	r.waiting = fleet.Pieces[reconcile.Sandbox]{}
}

func (r *remembering) put(sb *reconcile.Sandbox) {
	r.one = *sb
	r.one.ShareKinds(r.kinds)
	r.kinds = r.one.Kinds
	r.one.Labels = view.HeldLabels(r.one.Labels, r.s.Memory.Controls.Holds)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.into.Add(&r.one)
}

// inOrder are the sandboxes of listings in order. One that stands on two pages, as it may when one is created
// meanwhile, counts once.
func inOrder(s *reconcile.Snapshot, listed []reconcile.Sandbox) {
	s.Sandboxes = listed
	reconcile.SortSandboxes(s)
	//guard:list-twice P12
	s.Sandboxes = slices.CompactFunc(s.Sandboxes, func(a, b reconcile.Sandbox) bool { return a.Ref == b.Ref })
}
