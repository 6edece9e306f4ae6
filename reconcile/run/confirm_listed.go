package run

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// How terminations are confirmed by a listing.
const (
	listedFrom  = 20  // more than so many at one provider; fewer are got one by one
	listedShare = 100 // and more than one of so many sandboxes: the pages of a large fleet cost more than some looks
	listedLooks = 20  // the root of those gone, and so many at most, are got to see whether the listing is right
	leastLooks  = 5   // and at least so many, as of those still there
)

// settles is how long one has had to be gone before a listing is believed to know of it: one that is read earlier still
// shows it.
const settles = 1500 * time.Millisecond

// mostSettled is of how many parts of those that wait all but one had that time before they are listed. So the last of
// many, which went one after the other, are not waited for with all the others.
const mostSettled = 4

// letSettle waits for that where a listing is to tell.
func (r confirmer) letSettle(ctx context.Context) {
	ends, pays := map[string][]reconcile.Action{}, false
	for _, a := range r.accepted() {
		if a.Step == reconcile.StepTerminate {
			ends[a.Provider] = append(ends[a.Provider], a)
		}
	}
	var all []reconcile.Action
	for name, waiting := range ends {
		pays = pays || r.listingPays(name, len(waiting))
		all = append(all, waiting...)
	}
	if !pays {
		return
	}
	wait := settling(all, r.ledgerNow(ctx))
	if wait > 0 && time.Now().Add(wait).Before(r.until) {
		_ = reconcile.Sleep(ctx, wait) // who is told to stop looks once more, as without this
	}
}

// settling is how much longer most of these need before they are listed.
func settling(waiting []reconcile.Action, now time.Time) time.Duration {
	if len(waiting) == 0 {
		return 0
	}
	asked := make([]time.Time, len(waiting))
	for i := range waiting {
		asked[i] = waiting[i].ActedAt
	}
	slices.SortFunc(asked, time.Time.Compare)
	most := asked[len(asked)-1-len(asked)/mostSettled]
	return min(max(settles-now.Sub(most), 0), settles)
}

// A told is what listings said of terminations that wait.
type told struct {
	at    time.Time // by the ledger's clock, before they were read
	looks map[reconcile.Ref]reconcile.Lookup
}

// unsettled stands for what no listing can tell yet: it waits for the next look.
var unsettled = reconcile.Lookup{Error: "it was asked for just now: the next look tells"}

// listed settles terminations by the pages of a listing where many wait: what a complete one does not show is gone, and
// what it shows is there. Of both some are got by id. Where one of them says otherwise, the listing lags, is narrower
// than it says or lies: then it settles nothing but these, and each of the others is got, as without a listing.
func (r confirmer) listed(ctx context.Context, accepted []reconcile.Action) told {
	waiting := map[string][]reconcile.Action{}
	for i := range accepted {
		if a := &accepted[i]; a.Step == reconcile.StepTerminate {
			waiting[a.Provider] = append(waiting[a.Provider], *a)
		}
	}
	out := told{looks: map[reconcile.Ref]reconcile.Lookup{}}
	for _, name := range reconcile.SortedKeys(waiting) {
		if r.listingPays(name, len(waiting[name])) {
			r.settleListed(ctx, name, waiting[name], &out)
		}
	}
	return out
}

// listingPays reports whether a listing is asked for. Only one that also shows what is being ended tells what is gone.
func (r confirmer) listingPays(provider string, waiting int) bool {
	p, configured := r.k.Providers[provider]
	seen, listed := r.view.S.Listings[provider]
	return configured && reconcile.CapabilitiesOf(p).ListsEnding && waiting > listedFrom &&
		listed && seen.Complete && waiting > (seen.Owned+seen.Foreign)/listedShare
}

func (r confirmer) settleListed(ctx context.Context, provider string, waiting []reconcile.Action, out *told) {
	out.at = r.ledgerNow(ctx)
	there, whole := r.listOf(ctx, provider, waiting)
	if !whole {
		return
	}
	var gone, shown []reconcile.Ref
	for i := range waiting {
		ref := reconcile.Ref{Provider: provider, ID: waiting[i].Sandbox}
		switch {
		case !there[ref.ID]:
			gone = append(gone, ref)
		case out.at.Sub(waiting[i].ActedAt) < settles:
			out.looks[ref] = unsettled
		default:
			shown = append(shown, ref)
		}
	}
	r.believe(ctx, gone, true, looksAt(len(gone)), out.looks)
	r.believe(ctx, shown, false, leastLooks, out.looks)
}

// believe settles these as gone or there, as the listing has them, unless a look at some of them says otherwise.
func (r confirmer) believe(ctx context.Context, refs []reconcile.Ref, gone bool, most int,
	out map[reconcile.Ref]reconcile.Lookup,
) {
	some, agree := spread(refs, most), true
	looks := r.k.observer().looks(ctx, some, nil)
	for i, ref := range some {
		out[ref] = looks[i]
		over := looks[i].Gone || looks[i].Sandbox.State == reconcile.SandboxEnded
		agree = agree && looks[i].Error == "" && over == gone
	}
	for _, ref := range refs {
		if _, got := out[ref]; agree && !got {
			out[ref] = reconcile.Lookup{Gone: gone}
		}
	}
}

// looksAt is how many of those gone are got: of many a smaller part tells as much.
func looksAt(gone int) int {
	return min(max(int(math.Sqrt(float64(gone))), leastLooks), listedLooks)
}

// spread is at most so many of a list, from all parts of it.
func spread(refs []reconcile.Ref, most int) (out []reconcile.Ref) {
	for i := range min(len(refs), most) {
		out = append(out, refs[i*len(refs)/min(len(refs), most)])
	}
	return out
}

// listOf reads which of these a listing shows as not at their end, and reports whether it was whole.
func (r confirmer) listOf(ctx context.Context, provider string, waiting []reconcile.Action) (map[string]bool, bool) {
	wanted, there := make(map[string]bool, len(waiting)), make(map[string]bool, len(waiting))
	for i := range waiting {
		wanted[waiting[i].Sandbox] = true
	}
	listing, err := r.k.Providers[provider].List(ctx, func(page []reconcile.Sandbox) error {
		for i := range page {
			if id := page[i].ID; wanted[id] && page[i].State != reconcile.SandboxEnded {
				there[id] = true
			}
		}
		return nil
	})
	return there, err == nil && listing.Complete
}
