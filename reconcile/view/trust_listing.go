package view

import (
	"fmt"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// ShrinkLooks is how many missing sandboxes are got by id before a shrunken listing is
// taken for a new baseline.
const ShrinkLooks = 20

// assessListing: a listing that failed, was cut short, or lost more than half of what was
// there proves no absence. A loss is settled by looking, not by a ratio: one of the
// missing that is alive, or that cannot be looked at, and the listing is not trusted.
func (v assessor) assessListing(provider string) {
	seen, listed := v.S.Listings[provider]
	if !listed {
		return // a quick pass: as the last full one left it
	}
	name, why := reconcile.ListingOf(provider), v.distrustListing(provider, seen)
	before, unread := v.S.Memory.Sources[name], seen.Error != "" || !seen.Complete
	//guard:listing-empty-unread P3
	if unread && before.ShowedNone() {
		why = reconcile.AfterShowingNone(why)
	}
	v.trust(name, why)
	v.assessCredential(provider, seen)
}

// assessCredential remembers when a credential was refused last: failed logins throttle a
// whole address at some providers, so that the next call waits, whoever makes it.
func (v assessor) assessCredential(provider string, seen reconcile.ListingSeen) {
	name := reconcile.CredentialOf(provider)
	_, known := v.Sources[name]
	switch {
	case seen.Refused:
		v.Sources[name] = reconcile.SourceSeen{Name: name, Reason: v.P.Providers[provider].Refused(seen.Error), Since: v.Now,
			LastTrusted: v.Sources[name].LastTrusted}
	case known && !seen.CircuitOpen && seen.Error == "":
		v.believe(name)
	}
}

func (v assessor) distrustListing(provider string, seen reconcile.ListingSeen) reconcile.Distrust {
	//guard:listing-failed P3
	if seen.Error != "" {
		return reconcile.ListingFailed(seen.Error)
	}
	//guard:listing-cut P3
	if !seen.Complete {
		return reconcile.ListingCut(seen.Missing)
	}
	missing, before, whole := MissingFrom(v.S, provider)
	if len(missing)*2 <= before {
		return reconcile.Distrust{}
	}
	for _, ref := range missing[:min(ShrinkLooks, len(missing))] {
		look, looked := v.S.Lookups[ref]
		switch {
		//guard:listing-unlooked P3
		case !looked:
			return reconcile.ListingLost(len(missing), before, "and they were not looked at by id")
		//guard:listing-unknown P3
		case look.Error != "":
			return reconcile.ListingLost(len(missing), before, "and "+ref.ID+" could not be looked at: "+look.Error)
		//guard:listing-reused live
		case v.reusedID(ref, &look): // the one that is lost is gone
		//guard:listing-disowned live
		case len(missing)*2 <= whole && v.disowned(&look): // providers list by labels
		//guard:listing-refuted live
		case v.refuted(ref, &look): // it was shown once with the labels of another
		//guard:listing-lied harm
		case !look.Gone && look.Sandbox.State.Exists():
			return reconcile.ListingLost(len(missing), before, "but "+ref.ID+", got by id, is "+look.Sandbox.Raw)
		}
	}
	return reconcile.Distrust{}
}

// disowned reports whether a look shows a sandbox that is not ours any more.
func (v assessor) disowned(look *reconcile.Lookup) bool {
	return !look.Gone && !look.Sandbox.Owned && !v.P.Providers[look.Sandbox.Provider].ByRow(&look.Sandbox)
}

// refuted reports whether what a listing once showed as a live task's is not, as a direct look says: it is neither ours
// nor any task's, and the row names another sandbox that was seen. A sandbox that only lost its labels is the one that
// its row names, or one of which no row says anything.
func (v assessor) refuted(ref reconcile.Ref, look *reconcile.Lookup) bool {
	t, sb := v.Live[v.S.Memory.Sandboxes.Of(ref).Task], &look.Sandbox
	if t == nil || sb.Task != "" || sb.CalledBy(t.Sandbox) || !v.disowned(look) {
		return false
	}
	return v.S.Memory.Sandboxes.Has(reconcile.Ref{Provider: ref.Provider, ID: t.Sandbox})
}

// reusedID reports whether a look found another sandbox under the id than the ledger knew.
func (v assessor) reusedID(ref reconcile.Ref, look *reconcile.Lookup) bool {
	seen := v.S.Memory.Sandboxes.Of(ref)
	return !look.Gone && seen.Another(&look.Sandbox, v.Now)
}

// MissingFrom is the inventory of a provider that its listing did not show, in order of
// id, and how large the inventory was. What we ended ourselves does not count. What was
// looked at by id and not listed is missing, wherever the look found it: it
// joins the sandboxes of the pass, and the listing lost it all the same. While a listing is not
// trusted, what it shows for the first time does not make up for what it lost; whole counts that
// too.
func MissingFrom(s *reconcile.Snapshot, provider string) (missing []reconcile.Ref, before, whole int) {
	lost, known := s.Memory.Sources[reconcile.ListingOf(provider)]
	lost.Trusted = lost.Trusted || !known
	ending := map[reconcile.Ref]bool{}
	for _, a := range s.Memory.Actions {
		if a.Step == reconcile.StepTerminate && a.Outcome == reconcile.OutcomeAccepted {
			ending[reconcile.Ref{Provider: a.Provider, ID: a.Sandbox}] = true
		}
	}
	for ref, seen := range s.Memory.Sandboxes.Each() {
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
		if look, looked := s.Lookups[ref]; looked && !look.Listed || !s.Whole && !s.Lists(ref) {
			missing = append(missing, ref)
		}
	}
	reconcile.SortRefs(missing)
	return missing, before, whole
}

// assessEmptyListings: a listing without a single sandbox of ours, while a worker shows
// life or a task runs, is not believed by a ledger that has never seen a sandbox there and
// so has nothing to look at.
func (v assessor) assessEmptyListings(subs []reconcile.Subject) {
	if v.S.Kind != reconcile.Full || v.P.Tasks.None {
		return
	}
	v.keepEmpty()
	v.believeParts(reconcile.SourceListing)
	if len(v.S.Sandboxes)+v.S.Plain.Sandboxes > 0 {
		return
	}
	witness, tenant := v.evidenceOfLife(subs)
	if witness == nil {
		v.keepUnshown(subs)
		return
	}
	why := reconcile.ListingEmpty(fmt.Sprintf("while task %s is %s, %s", witness.ID, witness.Status,
		reconcile.LifeLine(witness)))
	for _, provider := range v.P.Candidates(witness) {
		name := reconcile.ListingOf(provider)
		part := ofTenant(name, tenant)
		//guard:listing-empty P3
		if v.Trusted(name) && !v.everSaw(provider) {
			// What speaks for one tenant alone does not keep what failed once, and is whole by now, from all others.
			before := v.S.Memory.Sources[name]
			//guard:listing-empty-whole live
			showedNone := before.ShowedNone()
			//guard:listing-empty-kept P3
			if showedNone {
				v.revert(name)
				v.trust(name, why)
			}
			v.revert(part)
			v.trust(part, why)
		}
	}
}

// ofTenant is the tenant's part of a source, or, with "", the whole.
func ofTenant(source, tenant string) string {
	//guard:listing-empty-tenant live
	if tenant == "" {
		return source
	}
	return reconcile.OfTenant(source, tenant)
}

// keepEmpty distrusts on what was not believed while workers spoke against it, for as long as the
// task database shows none that could speak. Strays that come up meanwhile are not what it lost.
func (v assessor) keepEmpty() {
	if v.Trusted(reconcile.SourceTasks) {
		return
	}
	for _, provider := range v.P.ProviderNames() {
		name := reconcile.ListingOf(provider)
		before := v.S.Memory.Sources[name]
		//guard:listing-empty-stays P3
		if v.Trusted(name) && before.ShowedNone() {
			v.revert(name)
		}
	}
}

// keepUnshown distrusts on a listing that showed nothing, and after which a worker spoke that was at work before: its
// sandbox was there and not shown, as one that lost its labels is. That this worker is silent by now proves no listing
// right that shows nothing still.
func (v assessor) keepUnshown(subs []reconcile.Subject) {
	for i := range subs {
		s := &subs[i]
		if s.Task == nil || s.LinkState != reconcile.LinkLive || !v.Started(s) {
			continue
		}
		for _, provider := range v.P.Candidates(s.Task) {
			for _, name := range []string{
				reconcile.ListingOf(provider), ofTenant(reconcile.ListingOf(provider), s.Task.Tenant),
			} {
				before := v.S.Memory.Sources[name]
				//guard:listing-empty-spoken harm
				if v.Trusted(name) && before.ShowedNone() && v.spokeSince(s, before.Since) {
					v.revert(name)
				}
			}
		}
	}
}

// spokenFor is for how long a worker that is silent speaks against a listing that did not show its sandbox.
const spokenFor = time.Hour

// spokeSince reports whether the worker of the subject spoke after a moment of the ledger's clock, when the ledger had
// seen it at work, and not too long ago.
func (v assessor) spokeSince(s *reconcile.Subject, at time.Time) bool {
	sign := TaskTold(s.Task).LastSeen()
	since, quiet := v.Since(at), s.Task.AsOf.Sub(sign)
	return !sign.IsZero() && s.Known && v.Since(s.Seen().Since) > since && quiet < min(since, spokenFor)
}

// believeParts believes what one tenant's spoke against, until it is settled again.
func (v assessor) believeParts(kind string) {
	for name := range v.Sources {
		if of, _ := reconcile.SourceParts(name); of == kind && partOf(name) != "" {
			v.believe(name)
		}
	}
}

func partOf(source string) string {
	_, tenant := reconcile.SourceTenant(source)
	return tenant
}

// evidenceOfLife is a task that shows that sandboxes must exist: one whose worker shows life, or
// the last of at least three that run by their rows. One or two rows may be phantoms. Tenant is whose all of these are,
// "" when they are of several or nobody knows.
func (v assessor) evidenceOfLife(subs []reconcile.Subject) (witness *reconcile.Task, tenant string) {
	var heard, running []*reconcile.Task
	for i := range subs {
		s := &subs[i]
		if s.Task == nil || s.LinkState != reconcile.LinkLive {
			continue
		}
		if v.Heard(s.Task) {
			heard = append(heard, s.Task)
		}
		if s.Task.State == reconcile.TaskRunning && v.Started(s) {
			running = append(running, s.Task)
		}
	}
	witnesses := heard
	switch {
	case len(heard) > 0:
		witness = heard[0]
	case len(running) >= 3:
		witnesses, witness = running, running[len(running)-1]
	default:
		return nil, ""
	}
	another := func(t *reconcile.Task) bool { return t.Tenant != witness.Tenant }
	if !v.P.Tasks.Tenants || slices.ContainsFunc(witnesses, another) {
		return witness, ""
	}
	return witness, witness.Tenant
}

// everSaw reports whether a listing or a look ever showed a sandbox of the provider. One that is remembered only
// because somebody here ended it is none.
func (v assessor) everSaw(provider string) bool {
	for ref, kept := range v.S.Memory.Sandboxes.Kept() {
		if ref.Provider != provider {
			continue
		}
		//guard:listing-empty-ended P3
		if is := kept.Seen(); !is.GoneByUs || !is.FirstSeen.Equal(is.GoneAt) {
			return true
		}
	}
	return false
}

// assessLink: workers that show life and have no sandbox mean that the link is wrong or
// lost, for example a typo in the label's name. So does a fleet of which not one sandbox
// links to any task while tasks run without one.
func (v assessor) assessLink(subs []reconcile.Subject) {
	if v.S.Kind != reconcile.Full || v.P.Tasks.None || len(v.P.Providers) == 0 {
		return
	}
	blind := slices.DeleteFunc(v.P.ProviderNames(), func(provider string) bool {
		return v.Trusted(reconcile.ListingOf(provider))
	})
	if len(blind) == len(v.P.Providers) {
		return
	}
	c := v.CountLinks(subs)
	heard, alone := doubt{c.heard, mostAlone, lostLink, true}, doubt{c.alone, c.none, c.noLink, true}
	//guard:link-lost P3
	why := v.settle(reconcile.SourceLink, heard, alone)
	//guard:link-proved P3
	if why.None() && !v.Trusted(reconcile.SourceLink) && !c.prove() {
		return // that nobody lives who could tell does not make it whole
	}
	//guard:link-blind P3
	if why.None() && len(blind) > 0 {
		return // where nobody can look may be what is wrong with it
	}
	v.trust(reconcile.SourceLink, why)
}

// wrongLink is what is to be done about it.
const wrongLink = ": the link is wrong or lost; compare link: with the labels of a sandbox"

// none reports whether not one sandbox links to any task, while a task shows life without one, or three have begun.
func (c *linkCount) none(t tally) bool {
	//guard:link-none P3
	return c.linked == 0 && c.Loose > 0 && t.against >= begunForOne
}

func (c *linkCount) noLink(tally) reconcile.Distrust {
	return said("none of %d sandboxes links to any task, while %d started tasks have none"+wrongLink, c.Loose,
		c.unmatchedTasks)
}

// begunForOne is how many tasks that have begun say as much as one that shows life now.
const begunForOne = 3

func mostAlone(t tally) bool { return t.of >= 3 && t.against*2 > t.of }

func lostLink(t tally) reconcile.Distrust {
	return said("%d tasks show life and only %d of them have a sandbox"+wrongLink, t.of, t.of-t.against)
}

// prove reports whether the link is seen to work: most of those who live have a sandbox,
// or everything is linked.
func (c linkCount) prove() bool {
	live := c.heard.sum()
	return live.against < live.of && live.against*2 <= live.of || c.linked > 0 && c.Loose == 0 && c.unmatchedTasks == 0
}

// A linkCount is how tasks and sandboxes know each other.
type linkCount struct {
	heard          tallies // tasks that show life, against it those of them without a sandbox
	alone          tallies // tasks without a sandbox: those that show life count as [begunForOne] that have begun
	unmatchedTasks int     // started tasks without a sandbox
	linked, Loose  int     // subjects with a task and a sandbox; sandboxes that no row explains
}

// outOfSight reports whether the task's sandbox may be where the listing is not believed now.
func (v *View) outOfSight(t *reconcile.Task) bool {
	return slices.ContainsFunc(v.P.Candidates(t), func(provider string) bool {
		return !v.Trusted(reconcile.ListingOf(provider))
	})
}

// givenToAnother reports whether the sandbox that a row names is given to another live row, which names it too.
func givenToAnother(t, user *reconcile.Task) bool { return user != nil && user.ID != t.ID }

// CountLinks counts it.
func (v *View) CountLinks(subs []reconcile.Subject) linkCount {
	c, rows := linkCount{heard: tallies{}, alone: tallies{}}, v.RowsBySandbox()
	if n := v.S.Plain.Sandboxes; n > 0 { // each has a sandbox, and its worker lives
		c.linked, c.heard[""], c.alone[""] = n, tally{of: n}, tally{n * begunForOne, n * begunForOne}
	}
	for i := range subs {
		s := &subs[i]
		here := s.HasBox(func(b *reconcile.SeenSandbox) bool { return b.Here })
		switch {
		case s.Task == nil && here && s.LinkState != reconcile.LinkExplained:
			c.Loose++
		case s.Task != nil && here:
			c.linked++
		case s.Task != nil && (v.P.Unplaced(s.Task) || v.outOfSight(s.Task)):
			continue // nobody can look where its sandbox is: that says nothing of the link
		//guard:link-shared P15
		case s.Task != nil && !here && givenToAnother(s.Task, rows[v.P.Named(s.Task)]):
			continue // of the rows that name one sandbox the one that it is given to speaks
		case s.Task != nil && s.LinkState == reconcile.LinkLive && v.Started(s):
			c.unmatchedTasks++
			c.alone.add(s.Task.Tenant, true)
		}
		if s.Task == nil || s.LinkState != reconcile.LinkLive {
			continue
		}
		if v.Heard(s.Task) {
			c.heard.add(s.Task.Tenant, !here)
			c.alone[s.Task.Tenant] = c.alone[s.Task.Tenant].plus(tally{begunForOne, begunForOne})
		}
	}
	return c
}
