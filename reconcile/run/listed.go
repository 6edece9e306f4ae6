package run

import (
	"slices"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// A remembering keeps the sandboxes of one listing, while the ledger is read beside it: what it remembers tells how
// many there are likely to be, and which labels somebody holds. Of all other labels only what kinds of sandboxes they
// tell apart is kept: they are a tenth of a large fleet's memory.
type remembering struct {
	s    *reconcile.Snapshot
	done <-chan struct{} // closed when the memory was read

	kept    []reconcile.Sandbox
	settled int // how many of them have their labels settled
	kinds   []string
}

func (r *remembering) keep(provider string, sb *reconcile.Sandbox) {
	if len(r.kept) == cap(r.kept) && r.known() {
		r.grow(provider)
	}
	r.kept = append(r.kept, *sb)
}

// known reports whether the memory was read by now.
func (r *remembering) known() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

// grow makes room for as many as are remembered at the provider.
func (r *remembering) grow(provider string) {
	known := 0
	for ref := range r.s.Memory.Sandboxes.Keys() {
		if ref.Provider == provider {
			known++
		}
	}
	if known += known / 16; known > len(r.kept) {
		r.kept = slices.Grow(r.kept, known-len(r.kept))
	}
}

// page ends a page of the listing.
func (r *remembering) page() {
	if r.known() {
		r.settle()
	}
}

// all are the sandboxes, when the memory was read as well.
func (r *remembering) all() []reconcile.Sandbox {
	<-r.done
	r.settle()
	return r.kept
}

// settle settles the labels of those that were kept since.
func (r *remembering) settle() {
	for i := r.settled; i < len(r.kept); i++ {
		sb := &r.kept[i]
		if kinds := sb.KindsOf(); !slices.Equal(kinds, r.kinds) {
			r.kinds = kinds
		}
		sb.Kinds = r.kinds
		sb.Labels = view.HeldLabels(sb.Labels, r.s.Memory.Controls.Holds)
	}
	r.settled = len(r.kept)
}
