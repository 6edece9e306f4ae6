// Package providertest holds the promises of [reconcile.Provider] that every adapter must
// keep, as one suite of tests. Above all: unknown is never gone, a listing that failed
// proves nothing, a probe changes nothing, and what is foreign stays foreign. The suite
// goes by what the adapter says that it can: that is proven, and the rest must be denied
// honestly.
package providertest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// start is where the clock of the suite's worlds begins.
var start = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// A Suite is the promises, for one adapter.
type Suite struct {
	Can  wire.Abilities
	Open func(*testing.T) Harness // a new world each time
	// Direct is for a provider that nothing stands before: what is about HTTP does not apply.
	Direct bool
	// Throttles are the vendor's own headers with which a 429 asks to wait for an hour,
	// besides Retry-After. They may depend on the world's clock.
	Throttles func(now time.Time) []map[string]string
}

// A Harness is one adapter over a world of its own.
type Harness struct {
	Provider reconcile.Provider
	World    *simulated.World
	Clock    *simulated.Clock // of the world
}

// World makes the world and the clock that a harness is built on; change may set options
// that the vendor has of its own, such as the form of ids.
func World(can wire.Abilities, change ...func(*simulated.Options)) (*simulated.World, *simulated.Clock) {
	clock := simulated.NewClock(start)
	o := simulated.Options{
		Now: clock.Now, StartAfter: 5 * time.Second, StopAfter: 2 * time.Second,
		DeleteAfter: 10 * time.Second, ActivateAfter: time.Minute,
	}
	if can.EndsAtOnce {
		o.DeleteAfter = 0
	}
	for _, c := range change {
		c(&o)
	}
	return simulated.New(o), clock
}

// Entry is what the suite's sandboxes are owned and linked by: the label project=mine and
// the label task_id, or, where there are no labels, a name that begins with mine-.
func Entry(kind string, can wire.Abilities) entry.Entry {
	e := entry.Entry{
		Name: "lab", Kind: kind, Token: "secret-key", Timeout: 30 * time.Second,
		Owns: entry.Owns{NamePrefix: "mine-", Except: except}, Link: entry.Link{Sandbox: "id"}, Probe: hasty(),
	}
	if !can.Labels {
		e.Owns.Except.NamePrefix = "mine-not-"
	}
	if can.Labels {
		e.Owns = entry.Owns{Labels: map[string]string{"project": "mine"}, Except: except}
		e.Owns.Except.Labels = map[string]string{"type": "spec", "of": "nobody"}
		e.Link.TaskLabel = "task_id"
	}
	return e
}

// except is what of ours is excepted, besides labels. Names are asked for only where they prove.
var except = entry.Class{Templates: []string{"builder"}}

// policy is that of a probe that is answered, also on a machine that is busy with other tests.
func policy() reconcile.ProbePolicy {
	return reconcile.ProbePolicy{Exec: "true", Path: "/", Timeout: 20 * time.Second}
}

// hasty is that of a probe whose time has to be over first.
func hasty() reconcile.ProbePolicy {
	p := policy()
	p.Timeout = time.Second
	return p
}

// A lab is one test's harness.
type lab struct {
	Harness
	Suite
	t    *testing.T
	made int
}

// lab opens a new harness.
func (s Suite) lab(t *testing.T) *lab { return &lab{Harness: s.Open(t), Suite: s, t: t} }

// A promise is one test, kept by the adapters that it is for.
type promise struct {
	name string
	when bool
	keep func(*lab)
}

// Run runs the suite. Each test gets a harness of its own.
func (s Suite) Run(t *testing.T) {
	p := s.Open(t).Provider
	for _, promise := range s.promises(p) {
		if !promise.when {
			continue
		}
		t.Run(promise.name, func(t *testing.T) {
			t.Parallel()
			promise.keep(s.lab(t))
		})
	}
}

func (s Suite) promises(p reconcile.Provider) []promise {
	can := reconcile.CapabilitiesOf(p)
	return slices.Concat(s.ofListings(), s.ofLooks(can.Named != nil), s.ofEnds(), s.ofRests(),
		s.ofProbes(can.Templates != nil), s.ofCalls())
}

// ofListings are the promises of a listing.
func (s Suite) ofListings() []promise {
	ends := !s.Can.ReadOnly
	return []promise{
		{"what it says that it can is what is claimed", true, capable},
		{"a listing is complete and in order over all pages", true, listsPages},
		{"a listing is whole while sandboxes come and go", true, listsChurn},
		{"an empty world is a complete listing", true, listsNothing},
		{"an error amid a listing proves nothing", true, listBreaks},
		{"a page that ends in the middle proves nothing", true, listIsCut},
		{"pages in a circle end, and prove nothing", s.Can.PageSize > 0, listCircles},
		{"yield's error ends a listing", true, listStopped},
		{"what is foreign is not owned", true, listsForeign},
		{"what is excepted is not owned", true, listsExcepted},
		{"what is excepted by now is not ended", ends, terminatesExcepted},
		{"what is foreign is not even asked for", s.Can.Filter, listsOursOnly},
		{"a hidden one is listed as being deleted", s.Can.Hides, listsHidden},
	}
}

// ofLooks are the promises of a look at one.
func (s Suite) ofLooks(names bool) []promise {
	return []promise{
		{"an unknown state stays unknown", true, unknownState},
		{"an unknown state is not acted on", true, unknownIsLeft},
		{"get tells found, gone and unknown apart", true, gets},
		{"another one's name is no id", true, nameIsNoID},
		{"absent, forbidden, throttled and broken are told apart", true, tellsApart},
		{"a refused credential is not gone", true, unauthorized},
		{"an HTML page is no answer", true, refusesHTML},
		{"find goes by the link", s.Can.Labels, finds},
		{"find without a link finds none, and says so at once", !s.Can.Labels, findsNone},
		{"a find that failed found nothing out", s.Can.Labels, findFails},
		{"what rows hold is found, or certainly not there", names, named},
	}
}

// ofEnds are the promises of an end.
func (s Suite) ofEnds() []promise {
	ends := !s.Can.ReadOnly
	return []promise{
		{"a terminate ends it, and get says when it is gone", ends, terminates},
		{"a second terminate harms nothing", ends, terminatesTwice},
		{"a terminate of what is gone is done", ends, terminatesGone},
		{"a terminate of what was just looked at does not look again", ends && !s.Can.LooksItself, terminatesLooked},
		{"a terminate of what changed hands does nothing", ends, terminatesChanged},
		{"a terminate of what another task claimed does nothing", ends && s.Can.Labels, terminatesClaimed},
		{"a terminate that is refused says why", ends && s.Can.Refuses, terminateRefused},
		{"a terminate of a busy one is no end", ends && s.Can.Busy, terminateBusy},
		{"a terminate without an answer is not repeated", ends, terminateLost},
		{"a delete that did nothing is not gone", ends, terminateIgnored},
		{"what cannot end a sandbox says so", !ends, terminatesNothing},
	}
}

// ofRests are the promises of what comes back.
func (s Suite) ofRests() []promise {
	stops := s.Can.Suspends != ""
	return []promise{
		{"a suspended one comes back", stops, suspends},
		{"a suspend of what is gone or changed does nothing", stops, suspendsOthers},
		{"a suspend that would end it is refused", stops && s.Can.StopMayDelete, suspendsEphemeral},
		{"a suspend without an answer is not repeated", stops, suspendLost},
		{"a suspend that did nothing is not done", stops, suspendIgnored},
		{"a resume tells gone from unknown", stops, resumes},
	}
}

// ofProbes are the promises of templates and of probes.
func (s Suite) ofProbes(builds bool) []promise {
	asks := s.Can.Exec || s.Can.Files
	return []promise{
		{"templates are read", builds, templates},
		{"templates are activated, or that is denied", builds, activates},
		{"probes of sandboxes", asks, probes},
		{"a command tells by its exit code whether the worker is there", s.Can.Exec, probesWorker},
		{"a hung sandbox is hung", asks, probesHung},
		{"probes through a broken infrastructure", asks, probesInfrastructure},
		{"a probe leaves no trace", true, probeLeavesNoTrace},
		{"what rests is not woken by looking", true, wakesNothing},
		{"failing probes leave only so much behind", asks, probeLitter},
		{"what cannot probe says so", !asks, probesNothing},
	}
}

// ofCalls are the promises of calls, whatever they are for.
func (s Suite) ofCalls() []promise {
	return []promise{
		{"calls end with their context", true, contexts},
		{"a cancelled call changes nothing", true, cancelled},
		{"a provider whose clock is off is taken at its own clock", !s.Can.Undated, skewed},
		{"a provider that asks to wait is not asked again", !s.Direct, throttled},
		{"a revoked key is not sent again and again", !s.Direct, revoked},
		{"a large answer is not read to its end", !s.Direct, floods},
		{"a canary is ours, no task's, and goes as any other", s.Can.Plants > 0, plants},
		{"a canary that the provider refuses is none", s.Can.Plants > 0, plantRefused},
		{"a canary without an answer is not made twice", s.Can.Plants > 0, plantLost},
		{"an end that is on record is told, and only that", s.Can.Deaths != "", deaths},
		{"a record that cannot be read is no record, and no end", s.Can.Deaths != "" && !s.Direct, deathsUnread},
		{"logs, usage, quotas and check", true, extras},
	}
}

// put places an owned sandbox of a task.
func (l *lab) put(task string, s simulated.Sandbox) simulated.Sandbox {
	l.made++
	if l.Can.Labels && s.Labels == nil {
		s.Labels = map[string]string{"project": "mine", "task_id": task}
	}
	if !l.Can.Labels && s.Name == "" {
		s.Name = fmt.Sprintf("mine-%s-%d", task, l.made)
	}
	return l.World.Put(s)
}

// foreign is what a sandbox of somebody else looks like.
func (l *lab) foreign() simulated.Sandbox {
	l.made++
	return simulated.Sandbox{Name: fmt.Sprint("theirs-", l.made), Labels: map[string]string{"project": "theirs"}}
}

// disown gives a sandbox to somebody else.
func (l *lab) disown(id string) {
	other := l.foreign()
	l.World.Change(id, func(s *simulated.Sandbox) { s.Name, s.Labels = other.Name, other.Labels })
}

// none is a sandbox that there never was.
func (l *lab) none() reconcile.Sandbox {
	return reconcile.Sandbox{Ref: reconcile.Ref{Provider: "lab", ID: l.World.FreshID()}, Owned: true}
}

// list is the whole listing.
func (l *lab) list() ([]reconcile.Sandbox, reconcile.Listing, error) {
	var all []reconcile.Sandbox
	listing, err := l.Provider.List(l.t.Context(), func(page []reconcile.Sandbox) error {
		all = append(all, page...)
		return nil
	})
	return all, listing, err
}

func (l *lab) get(id string) reconcile.Sandbox {
	l.t.Helper()
	s, err := l.Provider.Get(l.t.Context(), id)
	if err != nil {
		l.t.Fatalf("Get(%s) = %v, want a sandbox", id, err)
	}
	return s
}

// provesNothing fails the test unless the listing failed, or says what it lacks.
func (l *lab) provesNothing(why string) {
	l.t.Helper()
	_, listing, err := l.list()
	if listing.Complete || err == nil && len(listing.Missing) == 0 {
		l.t.Errorf("List with %s = %+v, %v; want an error and not complete", why, listing, err)
	}
}

// unknown fails the test unless the error says neither found nor gone.
func (l *lab) unknown(why string, err error) {
	l.t.Helper()
	if err == nil || errors.Is(err, reconcile.ErrNotFound) {
		l.t.Errorf("with %s the error is %v, want one that is not ErrNotFound", why, err)
	}
}

// untouched fails the test if anything was asked to end or to stop.
func (l *lab) untouched(what string) {
	l.t.Helper()
	if calls := l.World.Destructive(); len(calls) != 0 {
		l.t.Errorf("%s made %v, want no delete and no stop", what, calls)
	}
}

// ended says whether a call outlasted its context, as one that hangs must.
func ended(ctx context.Context) error {
	if ctx.Err() == nil {
		return errors.New("returned before its context ended")
	}
	return nil
}
