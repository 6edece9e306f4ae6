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
	v.assessCredential(provider, seen)
}

// assessCredential remembers when a credential was refused last: failed logins throttle a
// whole address at some providers, so that the next call waits, whoever makes it.
func (v *view) assessCredential(provider string, seen ListingSeen) {
	name := credentialOf(provider)
	_, known := v.sources[name]
	switch {
	case seen.Refused:
		v.sources[name] = SourceSeen{Name: name, Reason: v.p.Providers[provider].refused(seen.Error), Since: v.now,
			LastTrusted: v.sources[name].LastTrusted}
	case known && !seen.Shut && seen.Error == "":
		v.trust(name, "")
	}
}

func (v *view) distrustListing(provider string, seen ListingSeen) string {
	//guard:listing-failed P3
	if seen.Error != "" {
		return "the listing failed: " + seen.Error
	}
	//guard:listing-cut P3
	if !seen.Complete {
		return "the listing is not complete: " + strings.Join(seen.Missing, ", ") + " not read"
	}
	missing, before, whole := missingFrom(v.s, provider)
	if len(missing)*2 <= before {
		return ""
	}
	for _, ref := range missing[:min(shrinkLooks, len(missing))] {
		look, looked := v.s.Looks[ref]
		switch {
		//guard:listing-unlooked P3
		case !looked:
			return fmt.Sprintf(
				"the listing lost %d of %d sandboxes, and they were not looked at by id",
				len(missing),
				before,
			)
		//guard:listing-unknown P3
		case look.Error != "":
			return fmt.Sprintf("the listing lost %d of %d sandboxes, and %s could not be looked at: %s",
				len(missing), before, ref.ID, look.Error)
		//guard:listing-reused live
		case v.reusedID(ref, &look): // the one that is lost is gone
		//guard:listing-disowned live
		case len(missing)*2 <= whole && v.disowned(&look): // providers list by labels
		//guard:listing-lied harm
		case !look.Gone && look.Sandbox.State.Exists():
			return fmt.Sprintf("the listing lost %d of %d sandboxes, but %s, got by id, is %s",
				len(missing), before, ref.ID, look.Sandbox.Raw)
		}
	}
	return ""
}

// disowned reports whether a look shows a sandbox that is not ours any more.
func (v *view) disowned(look *Look) bool {
	return !look.Gone && !look.Sandbox.Owned && !v.p.Providers[look.Sandbox.Provider].byRow(&look.Sandbox)
}

// reusedID reports whether a look found another sandbox under the id than the ledger knew.
func (v *view) reusedID(ref Ref, look *Look) bool {
	seen := v.s.Memory.Sandboxes[ref]
	return !look.Gone && seen.another(&look.Sandbox)
}

// missingFrom is the inventory of a provider that its listing did not show, in order of
// id, and how large the inventory was. What we ended ourselves does not count. What was
// looked at by id and not listed is missing, wherever the look found it: it
// joins the sandboxes of the pass, and the listing lost it all the same. While a listing is not
// trusted, what it shows for the first time does not make up for what it lost; whole counts that
// too.
func missingFrom(s *Snapshot, provider string) (missing []Ref, before, whole int) {
	lost, known := s.Memory.Sources[listingOf(provider)]
	lost.Trusted = lost.Trusted || !known
	ending := map[Ref]bool{}
	for _, a := range s.Memory.Actions {
		if a.Step == StepTerminate && a.Outcome == OutcomeAccepted {
			ending[Ref{a.Provider, a.Sandbox}] = true
		}
	}
	for ref, seen := range s.Memory.Sandboxes {
		//guard:listing-ours live
		if ref.Provider != provider || !seen.GoneAt.IsZero() || ending[ref] {
			continue
		}
		whole++
		//guard:listing-diluted harm
		if fresh := !seen.FirstSeen.Before(lost.Since) && !seen.FirstSeen.After(s.Memory.Now); fresh && !lost.Trusted {
			continue
		}
		before++
		//guard:listing-looked P3
		if look, looked := s.Looks[ref]; looked && !look.listed || !s.whole && !s.lists(ref) {
			missing = append(missing, ref)
		}
	}
	sortRefs(missing)
	return missing, before, whole
}

// assessEmptyListings: a listing without a single sandbox of ours, while a worker shows
// life or a task runs, is not believed by a ledger that has never seen a sandbox there and
// so has nothing to look at.
func (v *view) assessEmptyListings(subs []Subject) {
	if v.s.Kind != Full || v.p.Tasks.None || len(v.s.Sandboxes) > 0 {
		return
	}
	witness := v.witness(subs)
	if witness == nil {
		return
	}
	for _, provider := range v.candidates(witness) {
		//guard:listing-empty P3
		if name := listingOf(provider); v.trusted(name) && !v.everSaw(provider) {
			v.undo(name)
			v.trust(name, fmt.Sprintf(
				"the listing shows no sandbox of ours, while task %s is %s and %s", witness.ID, witness.Status, lifeLine(witness)))
		}
	}
}

// witness is a task that shows that sandboxes must exist: one whose worker shows life, or
// the last of at least three that run by their rows. One or two rows may be phantoms.
func (v *view) witness(subs []Subject) *Task {
	var running []*Task
	for i := range subs {
		s := &subs[i]
		if s.Task == nil || s.Fate != FateLive {
			continue
		}
		if v.heard(s.Task) {
			return s.Task
		}
		if s.Task.State == TaskRunning && v.started(s) {
			running = append(running, s.Task)
		}
	}
	if len(running) < 3 {
		return nil
	}
	return running[len(running)-1]
}

func (v *view) everSaw(provider string) bool {
	for ref := range v.s.Memory.Sandboxes {
		if ref.Provider == provider {
			return true
		}
	}
	return false
}

// assessLink: workers that show life and have no sandbox mean that the link is wrong or
// lost, for example a typo in the label's name. So does a fleet of which not one sandbox
// links to any task while tasks run without one.
func (v *view) assessLink(subs []Subject) {
	if v.s.Kind != Full || v.p.Tasks.None || len(v.p.Providers) == 0 {
		return
	}
	for _, provider := range v.p.providerNames() {
		if !v.trusted(listingOf(provider)) {
			return
		}
	}
	c := v.countLinks(subs)
	why := ""
	switch {
	//guard:link-lost P3
	case c.lively >= 3 && c.resolved*2 < c.lively:
		why = fmt.Sprintf("%d tasks show life and only %d of them have a sandbox", c.lively, c.resolved)
	//guard:link-none P3
	case c.linked == 0 && c.loose > 0 && (c.lively > 0 || c.lonely >= 3):
		why = fmt.Sprintf("none of %d sandboxes links to any task, while %d started tasks have none", c.loose, c.lonely)
	}
	if why != "" {
		why += ": the link is wrong or lost; compare link: with the labels of a sandbox"
	}
	//guard:link-proved P3
	if why == "" && !v.trusted(sourceLink) && !c.prove() {
		return // that nobody lives who could tell does not make it whole
	}
	v.trust(sourceLink, why)
}

// prove reports whether the link is seen to work: most of those who live have a sandbox,
// or everything is linked.
func (c links) prove() bool {
	return c.resolved > 0 && c.resolved*2 >= c.lively || c.linked > 0 && c.loose == 0 && c.lonely == 0
}

// links counts how tasks and sandboxes know each other.
type links struct {
	lively, resolved int // tasks that show life, and those of them with a sandbox
	lonely           int // started tasks without a sandbox
	linked, loose    int // subjects with a task and a sandbox; sandboxes that no row explains
}

func (v *view) countLinks(subs []Subject) links {
	var c links
	for i := range subs {
		s := &subs[i]
		here := s.hasBox(func(b *Box) bool { return b.Here })
		switch {
		case s.Task == nil && here && s.Fate != FateExplained:
			c.loose++
		case s.Task != nil && here:
			c.linked++
		case s.Task != nil && s.Fate == FateLive && v.started(s):
			c.lonely++
		}
		if s.Task == nil || s.Fate != FateLive {
			continue
		}
		if v.heard(s.Task) {
			c.lively++
			if here {
				c.resolved++
			}
		}
	}
	return c
}

func (s *Subject) hasBox(is func(*Box) bool) bool {
	for i := range s.Boxes {
		if is(&s.Boxes[i]) {
			return true
		}
	}
	return false
}
