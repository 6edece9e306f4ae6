package view

import (
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// assessProviderClock compares a provider's clock with our own, as the edge measured it when an answer was
// received. It is the only comparison of the two: nothing is aged by their difference.
func (v assessor) assessProviderClock(provider string) {
	name, seen := reconcile.ProviderClockOf(provider), v.S.Clocks.Of(provider)
	_, known := v.S.Memory.Sources[name]
	switch {
	case !seen.Measured:
	case !seen.Believed():
		v.trust(name, seen.Reason())
	case known:
		v.believe(name)
	}
}

// believesClock reports whether what the provider of a sandbox says of times is believed: its clock is, and was
// not off at any answer since.
func believesClock(s *reconcile.Snapshot, sources map[string]reconcile.SourceSeen, ref reconcile.Ref) bool {
	seen, known := sources[reconcile.ProviderClockOf(ref.Provider)]
	return (!known || seen.Trusted) && s.Clocks.Of(ref.Provider).Believed()
}

func (v *signs) believesClock(ref reconcile.Ref) bool { return believesClock(v.S, v.Sources, ref) }

// stampedAge is an age by a provider's stamp. A clock that is off makes nothing older than the ledger saw it, and
// of what was stamped by one that is right again nobody knows more than since when it is. A stamp of the future tells
// no age at all: the ledger's first sight is the least that it can be.
func (v *signs) stampedAge(ref reconcile.Ref, age, seen time.Duration) time.Duration {
	clock, wasOff := v.Sources[reconcile.ProviderClockOf(ref.Provider)]
	switch {
	//guard:born-ahead live
	case aheadOf(age):
		return seen
	//guard:born-clock harm
	case !v.believesClock(ref):
		return min(age, seen)
	//guard:born-clock-right-again harm
	case wasOff:
		return min(age, max(seen, v.Now.Sub(clock.Since)))
	}
	return age
}

func aheadOf(age time.Duration) bool { return age < -reconcile.ProviderSkew }

// DatedAhead reports whether the provider says that the sandbox was made after the listing that shows it, by more
// than a clock is believed to be off.
func DatedAhead(b *reconcile.Sandbox) bool {
	return !b.CreatedAt.IsZero() && aheadOf(b.AsOf.Sub(b.CreatedAt))
}

// ActiveAgo is how long ago the provider saw the sandbox active last, by its own clock; no longer than that has
// been off, or right again.
func (v *signs) ActiveAgo(sb *reconcile.Sandbox) (ago time.Duration, known bool) {
	if sb.LastActivityAt.IsZero() {
		return 0, false
	}
	ago = sb.AsOf.Sub(sb.LastActivityAt)
	//guard:active-clock harm
	if clock, wasOff := v.Sources[reconcile.ProviderClockOf(sb.Provider)]; wasOff {
		ago = min(ago, v.Now.Sub(clock.Since))
	}
	return ago, true
}

// HidesWhatIsNew are the freezes of the providers whose clock is off and where a search found no sandbox of the
// task: what they have made a while ago may not have been made yet by their own clock. A look by id needs none.
func (v *View) HidesWhatIsNew(s *reconcile.Subject) (holds reconcile.HeldBy) {
	for _, provider := range v.P.Candidates(s.Task) {
		name := reconcile.ProviderClockOf(provider)
		byID := v.P.Providers[provider].SandboxIsID && v.S.Lookups[reconcile.Ref{Provider: provider, ID: s.Task.Sandbox}].Gone
		if !v.Trusted(name) && !byID && !v.ReleasedSubject(name, s.ID) {
			holds = append(holds, reconcile.HeldFrozen(name))
		}
	}
	return holds
}
