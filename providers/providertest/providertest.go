// Package providertest holds the promises of [reconcile.Provider] that every adapter must
// keep, as one suite of tests. Above all: unknown is never gone, a listing that failed
// proves nothing, a probe changes nothing, and what is foreign stays foreign.
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
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// start is where the clock of the suite's worlds begins.
var start = time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)

// A Harness is one adapter over a world of its own.
type Harness struct {
	Provider reconcile.Provider
	World    *simulated.World
	Clock    *simulated.Clock // of the world
}

// World makes the world and the clock that a harness is built on.
func World() (*simulated.World, *simulated.Clock) {
	clock := simulated.NewClock(start)
	return simulated.New(simulated.Options{
		Now: clock.Now, StartAfter: 5 * time.Second, StopAfter: 2 * time.Second,
		DeleteAfter: 10 * time.Second, ActivateAfter: time.Minute,
	}), clock
}

// Entry is what the suite's sandboxes are owned and linked by: the label project=mine and
// the label task_id.
func Entry(kind string) entry.Entry {
	return entry.Entry{
		Name: "lab", Kind: kind, Token: "key", Timeout: 5 * time.Second,
		Owns:  entry.Owns{Labels: map[string]string{"project": "mine"}},
		Link:  entry.Link{TaskLabel: "task_id", Sandbox: "id"},
		Probe: policy(),
	}
}

func policy() reconcile.ProbePolicy {
	return reconcile.ProbePolicy{Exec: "true", Path: "/", Timeout: time.Second}
}

// A lab is one test's harness.
type lab struct {
	Harness
	t *testing.T
}

// Run runs the suite. Each test gets a harness of its own.
func Run(t *testing.T, open func(*testing.T) Harness) {
	for name, test := range map[string]func(*lab){
		"a listing is complete and in order over several pages": (*lab).listsPages,
		"an empty world is a complete listing":                  (*lab).listsNothing,
		"an error amid a listing proves nothing":                (*lab).listBreaks,
		"a page that ends in the middle proves nothing":         (*lab).listIsCut,
		"pages in a circle end, and prove nothing":              (*lab).listCircles,
		"yield's error ends a listing":                          (*lab).listStopped,
		"what is foreign is not owned":                          (*lab).listsForeign,
		"a hidden one is listed as being deleted":               (*lab).listsHidden,
		"an unknown state stays unknown":                        (*lab).unknownState,
		"get tells found, gone and unknown apart":               (*lab).gets,
		"another one's name is no id":                           (*lab).nameIsNoID,
		"a refused credential is not gone":                      (*lab).unauthorized,
		"an HTML page is no answer":                             (*lab).refusesHTML,
		"find goes by the link":                                 (*lab).finds,
		"a find that failed found nothing out":                  (*lab).findFails,
		"a terminate is accepted, and get says when it is gone": (*lab).terminates,
		"a second terminate harms nothing":                      (*lab).terminatesTwice,
		"a terminate of what is gone is done":                   (*lab).terminatesGone,
		"a terminate of what changed hands does nothing":        (*lab).terminatesChanged,
		"a terminate that is refused says why":                  (*lab).terminateRefused,
		"a terminate without an answer is not repeated":         (*lab).terminateLost,
		"a delete that did nothing is not gone":                 (*lab).terminateIgnored,
		"a suspended one comes back":                            (*lab).suspends,
		"a suspend of what is gone or changed does nothing":     (*lab).suspendsOthers,
		"a suspend that would end it is refused":                (*lab).suspendsEphemeral,
		"a suspend without an answer is not repeated":           (*lab).suspendLost,
		"a resume tells gone from unknown":                      (*lab).resumes,
		"templates are read and activated":                      (*lab).templates,
		"probes of sandboxes":                                   (*lab).probes,
		"a hung sandbox is hung":                                (*lab).probesHung,
		"probes through a broken infrastructure":                (*lab).probesInfrastructure,
		"a probe is no activity":                                (*lab).probeIsNoActivity,
		"calls end with their context":                          (*lab).contexts,
		"logs, usage, quotas and check":                         (*lab).extras,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(&lab{Harness: open(t), t: t})
		})
	}
}

// put places an owned sandbox of a task.
func (l *lab) put(task string, s simulated.Sandbox) simulated.Sandbox {
	if s.Labels == nil {
		s.Labels = map[string]string{"project": "mine", "task_id": task}
	}
	return l.World.Put(s)
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

// provesNothing fails the test unless the listing failed.
func (l *lab) provesNothing(why string) {
	l.t.Helper()
	_, listing, err := l.list()
	if err == nil || listing.Complete {
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

func (l *lab) listsPages() {
	const fleet = 450
	for i := range fleet {
		l.put(fmt.Sprint("t", i), simulated.Sandbox{CreatedAt: start.Add(-time.Duration(i*7%fleet) * time.Minute)})
	}
	all, listing, err := l.list()
	if err != nil || !listing.Complete || len(all) != fleet {
		l.t.Fatalf("List = %d sandboxes, %+v, %v; want %d, complete", len(all), listing, err, fleet)
	}
	if !slices.IsSortedFunc(all, func(a, b reconcile.Sandbox) int { return a.CreatedAt.Compare(b.CreatedAt) }) {
		l.t.Error("List is not oldest first")
	}
	if listing.Provider != "lab" || !listing.Date.Equal(start) {
		l.t.Errorf("Listing = %+v, want provider lab at the provider's own clock %s", listing, start)
	}
	for _, s := range all {
		if s.Provider != "lab" || !s.Owned || s.Task == "" || s.SandboxKey != s.ID || !s.AsOf.Equal(start) {
			l.t.Fatalf("listed %+v, want it owned, linked and stamped", s)
		}
	}
}

func (l *lab) listsNothing() {
	all, listing, err := l.list()
	if err != nil || !listing.Complete || len(all) != 0 {
		l.t.Errorf("List = %d sandboxes, %+v, %v; want none, complete", len(all), listing, err)
	}
}

func (l *lab) listBreaks() {
	for i := range 450 {
		l.put(fmt.Sprint("t", i), simulated.Sandbox{})
	}
	l.World.Inject(simulated.Fault{On: simulated.List, Page: 2, Effect: simulated.Answer, Status: 500})
	l.provesNothing("an error on page 2")
}

func (l *lab) listIsCut() {
	l.put("t1", simulated.Sandbox{})
	l.World.Inject(simulated.Fault{On: simulated.List, Effect: simulated.CutPage})
	l.provesNothing("a cut page")
}

func (l *lab) listCircles() {
	l.put("t1", simulated.Sandbox{})
	l.World.Inject(simulated.Fault{On: simulated.List, Effect: simulated.SameCursor})
	l.provesNothing("a cursor that leads back")
}

func (l *lab) listStopped() {
	l.put("t1", simulated.Sandbox{})
	stop := errors.New("enough")
	_, err := l.Provider.List(l.t.Context(), func([]reconcile.Sandbox) error { return stop })
	if !errors.Is(err, stop) {
		l.t.Errorf("List = %v, want %v", err, stop)
	}
}

func (l *lab) listsForeign() {
	foreign := l.World.Put(simulated.Sandbox{Labels: map[string]string{"project": "theirs"}})
	bare := l.World.Put(simulated.Sandbox{})
	all, _, err := l.list()
	if err != nil {
		l.t.Fatal(err)
	}
	for _, s := range append(all, l.get(foreign.ID), l.get(bare.ID)) {
		if s.Owned {
			l.t.Errorf("%s is owned, want it foreign", s.Ref)
		}
	}
}

func (l *lab) listsHidden() {
	l.put("t1", simulated.Sandbox{State: reconcile.SandboxFailed, Doomed: true})
	all, _, err := l.list()
	if err != nil || len(all) != 1 || all[0].State != reconcile.SandboxDeleting || !all[0].Owned {
		l.t.Errorf("List = %+v, %v; want one owned sandbox that is being deleted", all, err)
	}
}

func (l *lab) unknownState() {
	s := l.put("t1", simulated.Sandbox{Raw: "hibernating"})
	all, listing, err := l.list()
	if err != nil || !listing.Complete || len(all) != 1 {
		l.t.Fatalf("List = %+v, %+v, %v; want one", all, listing, err)
	}
	for _, got := range []reconcile.Sandbox{all[0], l.get(s.ID)} {
		if got.State != reconcile.SandboxUnknown || got.Raw != "hibernating" {
			l.t.Errorf("state = %q, raw %q; want unknown and the provider's word", got.State, got.Raw)
		}
	}
}

// ended says whether a call outlasted its context, as one that hangs must.
func ended(ctx context.Context) error {
	if ctx.Err() == nil {
		return errors.New("returned before its context ended")
	}
	return nil
}
