package reconcile

import (
	"fmt"
	"strings"
)

// shrinkLooks is how many missing sandboxes are got by id before a shrunken listing is
// taken for a new baseline.
const shrinkLooks = 20

// assessListing: a listing that failed, was cut short, or lost more than half of what was
// there proves no absence. A loss is settled by looking, not by a ratio: one of the
// missing that is alive, or that cannot be looked at, and the listing is not trusted.
func (v *view) assessListing(provider string) {
	seen, listed := v.s.Listings[provider]
	if !listed {
		return // a quick pass: as the last full one left it
	}
	v.trust(listingOf(provider), v.distrustListing(provider, seen))
}

func (v *view) distrustListing(provider string, seen ListingSeen) string {
	if seen.Error != "" {
		return "the listing failed: " + seen.Error
	}
	if !seen.Complete {
		return "the listing is not complete: " + strings.Join(seen.Missing, ", ") + " not read"
	}
	missing, before := missingFrom(v.s, provider)
	if len(missing)*2 <= before {
		return ""
	}
	for _, ref := range missing[:min(shrinkLooks, len(missing))] {
		look, looked := v.s.Looks[ref]
		switch {
		case !looked:
			return fmt.Sprintf(
				"the listing lost %d of %d sandboxes, and they were not looked at by id",
				len(missing),
				before,
			)
		case look.Error != "":
			return fmt.Sprintf("the listing lost %d of %d sandboxes, and %s could not be looked at: %s",
				len(missing), before, ref.ID, look.Error)
		case !look.Gone && look.Sandbox.State.Exists():
			return fmt.Sprintf("the listing lost %d of %d sandboxes, but %s, got by id, is %s",
				len(missing), before, ref.ID, look.Sandbox.Raw)
		}
	}
	return ""
}

// missingFrom is the inventory of a provider that its listing did not show, in order of
// id, and how large the inventory was. What we ended ourselves does not count.
func missingFrom(s *Snapshot, provider string) (missing []Ref, before int) {
	listed := make(map[Ref]bool, len(s.Sandboxes))
	for _, sb := range s.Sandboxes {
		listed[sb.Ref] = true
	}
	ending := map[Ref]bool{}
	for _, a := range s.Memory.Actions {
		if a.Step == StepTerminate && a.Outcome == OutcomeAccepted {
			ending[Ref{a.Provider, a.Sandbox}] = true
		}
	}
	for ref, seen := range s.Memory.Sandboxes {
		if ref.Provider != provider || !seen.GoneAt.IsZero() || ending[ref] {
			continue
		}
		before++
		if !listed[ref] {
			missing = append(missing, ref)
		}
	}
	sortRefs(missing)
	return missing, before
}

// assessEmptyListings: a listing without a single sandbox of ours, while a task's worker
// shows life, is not believed, also by a fresh ledger that has nothing to compare with.
func (v *view) assessEmptyListings(subs []Subject) {
	if v.s.Kind != Full || v.p.Tasks.None || len(v.s.Sandboxes) > 0 {
		return
	}
	var witness *Task
	for i := range subs {
		if t := subs[i].Task; t != nil && t.State.Live() {
			if _, alive := v.alive(t); alive {
				witness = t
				break
			}
		}
	}
	if witness == nil {
		return
	}
	for _, provider := range v.candidates(witness) {
		if v.trusted(listingOf(provider)) {
			v.trust(listingOf(provider), "the listing shows no sandbox of ours, while the worker of task "+
				witness.ID+" shows life")
		}
	}
}

// assessLink: workers that show life and have no sandbox mean that the link is wrong or
// lost, for example a typo in the label's name.
func (v *view) assessLink(subs []Subject) {
	if v.s.Kind != Full || v.p.Tasks.None || len(v.p.Providers) == 0 {
		return
	}
	for _, provider := range v.p.providerNames() {
		if !v.trusted(listingOf(provider)) {
			return
		}
	}
	lively, resolved := 0, 0
	for i := range subs {
		s := &subs[i]
		if s.Task == nil || !s.Task.State.Live() || s.Fate != FateLive {
			continue
		}
		if _, alive := v.alive(s.Task); !alive {
			continue
		}
		lively++
		if s.hasBox(func(b Box) bool { return b.Here }) {
			resolved++
		}
	}
	if lively >= 3 && resolved*2 < lively {
		v.trust(sourceLink, fmt.Sprintf(
			"%d tasks show life and only %d of them have a sandbox: the link is wrong or lost; "+
				"compare link: with the labels of a sandbox",
			lively,
			resolved,
		))
		return
	}
	v.trust(sourceLink, "")
}

func (s *Subject) hasBox(is func(Box) bool) bool {
	for _, b := range s.Boxes {
		if is(b) {
			return true
		}
	}
	return false
}
