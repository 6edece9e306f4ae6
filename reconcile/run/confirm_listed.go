package run

import (
	"context"
	"math"
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

// settles is how long the last of many has had to be gone before they are listed. A listing that is read at once still
// shows it and those before it: each of them is got then, or listed once more.
const settles = 1500 * time.Millisecond

// letSettle waits for that where a listing is to tell.
func (r confirmer) letSettle(ctx context.Context) {
	var last time.Time
	waiting, pays := map[string]int{}, false
	for _, a := range r.accepted() {
		if a.Step != reconcile.StepTerminate {
			continue
		}
		if waiting[a.Provider]++; a.ActedAt.After(last) {
			last = a.ActedAt
		}
	}
	for name, n := range waiting {
		pays = pays || r.listingPays(name, n)
	}
	if !pays {
		return
	}
	wait := min(settles-r.ledgerNow(ctx).Sub(last), settles)
	if wait > 0 && time.Now().Add(wait).Before(r.until) {
		_ = reconcile.Sleep(ctx, wait) // who is told to stop looks once more, as without this
	}
}

// listed settles terminations by the pages of a listing where many wait: what a complete one does not show is gone, and
// what it shows is there. Of both some are got by id. Where one of them says otherwise, the listing lags, is narrower
// than it says or lies: then it settles nothing but these, and each of the others is got, as without a listing.
func (r confirmer) listed(ctx context.Context, accepted []reconcile.Action) map[reconcile.Ref]reconcile.Lookup {
	waiting := map[string][]string{}
	for i := range accepted {
		if a := &accepted[i]; a.Step == reconcile.StepTerminate {
			waiting[a.Provider] = append(waiting[a.Provider], a.Sandbox)
		}
	}
	out := map[reconcile.Ref]reconcile.Lookup{}
	for _, name := range reconcile.SortedKeys(waiting) {
		if r.listingPays(name, len(waiting[name])) {
			r.settleListed(ctx, name, waiting[name], out)
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

func (r confirmer) settleListed(ctx context.Context, provider string, ids []string,
	out map[reconcile.Ref]reconcile.Lookup,
) {
	there, whole := r.listOf(ctx, provider, ids)
	if !whole {
		return
	}
	var gone, shown []reconcile.Ref
	for _, id := range ids {
		ref := reconcile.Ref{Provider: provider, ID: id}
		if there[id] {
			shown = append(shown, ref)
		} else {
			gone = append(gone, ref)
		}
	}
	r.believe(ctx, gone, true, looksAt(len(gone)), out)
	r.believe(ctx, shown, false, leastLooks, out)
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

// listOf reads which of the ids a listing shows as not at their end, and reports whether it was whole.
func (r confirmer) listOf(ctx context.Context, provider string, ids []string) (map[string]bool, bool) {
	wanted, there := make(map[string]bool, len(ids)), make(map[string]bool, len(ids))
	for _, id := range ids {
		wanted[id] = true
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
