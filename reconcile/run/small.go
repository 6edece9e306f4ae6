package run

import (
	"sync/atomic"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// fewSandboxes is how many sandboxes the listings may show, ours and others', for a fleet to count as small: where a
// provider lists thousands in one call, calls alone say too little.
const fewSandboxes = 500

// rateShare is the part of an entry's rate that the listings of quick passes may take: there are other replicas, looks,
// probes and terminations besides.
const rateShare = 0.1

// listShare is the part of the time from one quick pass to the next that the listings of one may take: what is due at
// other providers waits for the slowest.
const listShare = 0.2

// A Small is what a process knows of whether its fleet is so small that quick passes list everything as well. The zero
// Small knows of no full pass yet.
type Small struct {
	is atomic.Bool // as the last whole listings showed

	// A provider may bear the listings of full passes and not so many more: then each that fails makes what rests on
	// listings begin anew.
	strikes atomic.Int32 // how often listings of quick passes failed
	whole   atomic.Int32 // and how many were whole since
	rests   atomic.Int32 // how many full passes have to be whole before the next one
}

// mostStrikes bounds how long quick passes list nothing after one could not: 64 full passes.
const mostStrikes = 6

// forgiven is after how many whole listings of quick passes those that failed before are forgotten.
const forgiven = 100

// listsToo reports whether a pass that is due by its schedule lists everything although it is a quick one: where that
// costs next to nothing, what vanished or appeared waits for no later listing. It judges what a full one does. What
// somebody asked for, or looks at what was pushed, is made as it was asked for.
func (k *Reconciler) listsToo(kind reconcile.PassKind, apart time.Duration) bool {
	return kind == reconcile.Quick && apart > 0 && len(k.pushed) == 0 && k.Small != nil && k.Small.is.Load()
}

// asQuick are the counts of a pass that listed everything and is on record as a quick one: what is told of the
// sandboxes is what full passes counted.
func asQuick(counts map[string]int) map[string]int {
	out := map[string]int{reconcile.CountListed: 1}
	for key, n := range counts {
		if reconcile.ParseCount(key).What == reconcile.CountTasks {
			out[key] = n
		}
	}
	return out
}

// measureSmall remembers what a full pass came to. Where a listing that a quick pass made failed, was refused or was
// one too many, it takes 2 whole full passes until the next, and twice as many each time.
func (k *Reconciler) measureSmall(r *Result) {
	if k.Small == nil || r.Kind != reconcile.Full {
		return
	}
	whole := r.Complete && !r.heldUp()
	small := whole && r.small()
	switch {
	case k.lists && whole:
		if k.Small.whole.Add(1) >= forgiven {
			k.Small.strikes.Store(0)
		}
	case k.lists:
		k.Small.rests.Store(1 << min(k.Small.strikes.Add(1), mostStrikes))
		k.Small.whole.Store(0)
	case whole && k.Small.rests.Load() > 0:
		small = k.Small.rests.Add(-1) == 0 && small
	}
	k.Small.is.Store(small)
}

// heldUp reports whether a provider refused the pass something, or said that it is asked too often.
func (r *Result) heldUp() bool {
	for name, seen := range r.Judged.View.S.Listings {
		if seen.Refused || seen.CircuitOpen || r.reconciler.clocks.Calls(name).Throttled > 0 {
			return true
		}
	}
	return false
}

// small reports whether whole listings, and what only full passes ask besides, cost next to nothing.
func (r *Result) small() bool {
	v := r.Judged.View
	if v.P.Small == 0 || r.reconciler.large(v.S.Memory.Tasks.Len()) {
		return false
	}
	calls, things := map[string]int{}, 0
	for _, t := range v.S.Templates {
		calls[t.Provider]++
	}
	for name, quotas := range v.S.Quotas {
		calls[name] += min(1, len(quotas))
	}
	for name, seen := range v.S.Listings {
		n, rate := calls[name]+seen.Calls, v.P.Providers[name].Rate
		many := n > v.P.Small || rate > 0 && float64(n) > rateShare*rate*v.P.Quick.Seconds()
		if many || seen.Took.Seconds() > listShare*v.P.Quick.Seconds() {
			return false
		}
		things += seen.Owned + seen.Foreign
	}
	return things <= fewSandboxes
}
