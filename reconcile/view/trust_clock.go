package view

import (
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// assessProviderClock compares a provider's clock with our own, as the edge measured it when an answer was
// received. It is the only comparison of the two: nothing is aged by their difference.
func (v *View) assessProviderClock(provider string) {
	name := reconcile.ProviderClockOf(provider)
	off, measured := v.clockOff(provider)
	_, known := v.S.Memory.Sources[name]
	switch {
	case !measured:
	case max(off, -off) > reconcile.ProviderSkew:
		v.trust(name, reconcile.ClockOff(off))
	case known:
		v.trust(name, "")
	}
}

// clockOff is by how much a provider's clock was off at the answer of this pass that was the furthest off.
func (v *View) clockOff(provider string) (off time.Duration, measured bool) {
	further := func(by time.Duration) {
		measured = true
		if max(by, -by) > max(off, -off) {
			off = by
		}
	}
	if seen, listed := v.S.Listings[provider]; listed && seen.Error == "" {
		further(seen.ClockOff)
	}
	for ref, look := range v.S.Lookups {
		if ref.Provider == provider && !look.Gone && look.Error == "" {
			further(look.ClockOff)
		}
	}
	return off, measured
}

// providerClockTrusted reports whether what a provider says of times is believed.
func (v *signs) providerClockTrusted(provider string) bool {
	seen, known := v.Sources[reconcile.ProviderClockOf(provider)]
	return !known || seen.Trusted
}
