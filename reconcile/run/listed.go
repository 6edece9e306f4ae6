package run

import (
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// A remembering keeps the sandboxes of one listing, while the ledger is read beside it: what it remembers tells how
// many there are likely to be, and which labels somebody holds. Of all other labels only what kinds of sandboxes they
// tell apart is kept: they are a tenth of a large fleet's memory. A listing longer than [unremembered] waits until the
// ledger was read: then each sandbox takes the place and the texts that it goes on with, and none is there twice.
type remembering struct {
	s    *reconcile.Snapshot
	done <-chan struct{} // closed when the memory was read

	kept  reconcile.Pieces[reconcile.Sandbox]
	known bool // the memory was read, and the labels of all that is kept are settled
	kinds []string
}

// unremembered is how many sandboxes are kept while the ledger is still being read.
const unremembered = 1000

func (r *remembering) keep(sb *reconcile.Sandbox) {
	if at := r.kept.Add(sb); r.known {
		r.settle(at)
	}
}

// page ends a page of the listing.
func (r *remembering) page(provider string) {
	if r.kept.Len() >= unremembered {
		<-r.done // it ends with the pass, as the listing does
	}
	select {
	case <-r.done:
		r.know(provider)
	default:
	}
}

// all are the sandboxes, when the memory was read as well.
func (r *remembering) all(provider string) []reconcile.Sandbox {
	<-r.done
	r.know(provider)
	return r.kept.All()
}

// know uses what is remembered: it settles the labels of all that is kept, and makes room for as many as are
// remembered at the provider.
func (r *remembering) know(provider string) {
	if r.known {
		return
	}
	r.known = true
	for sb := range r.kept.Each() {
		r.settle(sb)
	}
	remembered := 0
	for ref := range r.s.Memory.Sandboxes.Keys() {
		if ref.Provider == provider {
			remembered++
		}
	}
	r.kept.Room(remembered + remembered/16)
}

func (r *remembering) settle(sb *reconcile.Sandbox) {
	sb.ShareKinds(r.kinds)
	r.kinds = sb.Kinds
	sb.ShareTexts(&r.s.Memory)
	sb.Labels = view.HeldLabels(sb.Labels, r.s.Memory.Controls.Holds)
}
