package providertest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// fleet is enough sandboxes for three pages, the last of them not full.
func (l *lab) fleet() []simulated.Sandbox {
	n := 2*l.Can.PageSize + 50
	out := make([]simulated.Sandbox, n)
	for i := range out {
		out[i] = l.put(fmt.Sprint("t", i), simulated.Sandbox{CreatedAt: start.Add(-time.Duration(i*7%n) * time.Minute)})
	}
	return out
}

func listsPages(l *lab) {
	fleet := l.fleet()
	all, listing, err := l.list()
	if err != nil || !listing.Complete || len(all) != len(fleet) {
		l.t.Fatalf("List = %d sandboxes, %+v, %v; want %d, complete", len(all), listing, err, len(fleet))
	}
	byCreation := func(a, b reconcile.Sandbox) int { return a.CreatedAt.Compare(b.CreatedAt) }
	if l.Can.OldestFirst && !slices.IsSortedFunc(all, byCreation) {
		l.t.Error("List is not oldest first")
	}
	if listing.Provider != "lab" || !l.Can.Undated && !listing.Date.Equal(start) || listing.Date.IsZero() {
		l.t.Errorf("Listing = %+v, want provider lab at the provider's own clock %s", listing, start)
	}
	for _, s := range all {
		if s.Provider != "lab" || !s.Owned || s.SandboxKey != s.ID || s.AsOf.IsZero() ||
			!l.Can.Undated && !s.AsOf.Equal(start) || (s.Task != "") != l.Can.Labels {
			l.t.Fatalf("listed %+v, want it owned, linked and stamped", s)
		}
	}
	again, _, err := l.list()
	same := func(a, b reconcile.Sandbox) bool { return a.ID == b.ID }
	if err != nil || !slices.EqualFunc(all, again, same) {
		l.t.Errorf("a second List has another order, %v", err)
	}
}

// listsChurn: a listing that says that it is complete shows every sandbox that was there
// all the while, and none twice, whatever happens between its pages.
func listsChurn(l *lab) {
	var stay []string
	var leave []string
	for i, s := range l.fleet() {
		if i%5 == 0 {
			leave = append(leave, s.ID)
			continue
		}
		stay = append(stay, s.ID)
	}
	met := map[string]int{}
	newer := 100 // a listing that grows by one with each page, and shows one more on each, would not end before its bound
	listing, err := l.Provider.List(l.t.Context(), func(page []reconcile.Sandbox) error {
		for _, s := range page {
			met[s.ID]++
		}
		for range min(7, len(leave)) {
			l.World.Change(leave[0], func(s *simulated.Sandbox) { s.Gone, s.State = true, reconcile.SandboxEnded })
			leave = leave[1:]
		}
		l.Clock.Advance(time.Second)
		if newer > 0 {
			newer--
			l.put("t-new", simulated.Sandbox{})
		}
		return nil
	})
	if err == nil && !listing.Complete && len(listing.Missing) == 0 {
		l.t.Errorf("List = %+v, nil; want it complete, or what is missing", listing)
	}
	for _, id := range stay {
		if n := met[id]; n > 1 || n == 0 && err == nil && listing.Complete {
			l.t.Errorf("sandbox %s was there all the while and is listed %d times", id, n)
		}
	}
	all, listing, err := l.list()
	if err != nil || !listing.Complete || len(all) < len(stay) {
		l.t.Errorf("List in calm = %d sandboxes, %+v, %v; want at least %d", len(all), listing, err, len(stay))
	}
}

func listsNothing(l *lab) {
	all, listing, err := l.list()
	if err != nil || !listing.Complete || len(all) != 0 {
		l.t.Errorf("List = %d sandboxes, %+v, %v; want none, complete", len(all), listing, err)
	}
}

func listBreaks(l *lab) {
	l.fleet()
	f := simulated.Fault{On: simulated.List, Effect: simulated.Answer, Status: 500}
	if l.Can.PageSize > 0 {
		f.Page = 2
	}
	l.World.Inject(f)
	l.provesNothing("an error on its last page")
}

func listIsCut(l *lab) {
	l.put("t1", simulated.Sandbox{})
	l.World.Inject(simulated.Fault{On: simulated.List, Effect: simulated.CutPage})
	l.provesNothing("a cut page")
}

func listCircles(l *lab) {
	l.put("t1", simulated.Sandbox{})
	l.World.Inject(simulated.Fault{On: simulated.List, Effect: simulated.SameCursor})
	l.provesNothing("a cursor that leads back")
	if calls := l.World.Calls(); len(calls) > 10 {
		l.t.Errorf("it took %d calls to see the circle, want a few", len(calls))
	}
}

func listStopped(l *lab) {
	l.put("t1", simulated.Sandbox{})
	stop := errors.New("enough")
	_, err := l.Provider.List(l.t.Context(), func([]reconcile.Sandbox) error { return stop })
	if !errors.Is(err, stop) {
		l.t.Errorf("List = %v, want %v", err, stop)
	}
}

func listsForeign(l *lab) {
	foreign := l.World.Put(l.foreign())
	bare := l.World.Put(simulated.Sandbox{})
	all, listing, err := l.list()
	if err != nil {
		l.t.Fatal(err)
	}
	shown := func(s reconcile.Sandbox) bool { return s.ID == bare.ID }
	if !listing.OursOnly && !slices.ContainsFunc(all, shown) {
		l.t.Error("a sandbox of nobody is not listed, and the listing does not say that only ours were asked for")
	}
	for _, s := range append(all, l.get(foreign.ID), l.get(bare.ID)) {
		if s.Owned {
			l.t.Errorf("%s is owned, want it foreign", s.Ref)
		}
	}
}

// excepted are sandboxes with all that proves ours, and with what excepts them.
func (l *lab) excepted() map[string]simulated.Sandbox {
	all := map[string]simulated.Sandbox{}
	if l.Can.Template {
		all["template"] = simulated.Sandbox{Template: "builder"}
	}
	if l.Can.Labels {
		all["labels"] = simulated.Sandbox{
			Labels: map[string]string{"project": "mine", "task_id": "t1", "type": "spec", "of": "nobody"}}
	} else {
		all["name"] = simulated.Sandbox{Name: "mine-not-this"}
	}
	return all
}

// listsExcepted: what the entry excepts is not ours, whatever else proves it, and each call says so.
func listsExcepted(l *lab) {
	near := simulated.Sandbox{Template: "builders", Name: "mine-no"}
	if l.Can.Labels {
		near = simulated.Sandbox{Template: "builders",
			Labels: map[string]string{"project": "mine", "task_id": "t1", "type": "spec"}}
	}
	ours := l.put("t1", near)
	for what, s := range l.excepted() {
		s = l.put("t1", s)
		if got := l.get(s.ID); got.Owned || !got.Excepted {
			l.t.Errorf("Get of one excepted by its %s = %+v, want it excepted and not owned", what, got)
		}
	}
	if got := l.get(ours.ID); !got.Owned || got.Excepted {
		l.t.Errorf("Get of one that is nearly excepted = %+v, want it owned", got)
	}
	all, _, err := l.list()
	if err != nil || len(all) != 1+len(l.excepted()) {
		l.t.Fatalf("List = %d sandboxes, %v; want %d", len(all), err, 1+len(l.excepted()))
	}
	for _, s := range all {
		if s.Owned == s.Excepted || s.Owned != (s.ID == ours.ID) {
			l.t.Errorf("listed %+v, want only %s owned, the others excepted", s, ours.ID)
		}
	}
	if !l.Can.Labels {
		return
	}
	if found, err := l.Provider.Find(l.t.Context(), "t1"); err != nil || len(found) != 1 || found[0].ID != ours.ID {
		l.t.Errorf("Find = %+v, %v; want only %s", found, err, ours.ID)
	}
}

// listsOursOnly: the cost of a pass follows what is ours.
func listsOursOnly(l *lab) {
	for range l.Can.PageSize + 1 {
		l.World.Put(l.foreign())
	}
	mine := l.put("t1", simulated.Sandbox{})
	l.World.ResetCalls()
	all, listing, err := l.list()
	pages := slices.DeleteFunc(l.World.Calls(), func(c simulated.Call) bool { return c.Kind != simulated.List })
	if err != nil || !listing.Complete || len(all) != 1 || all[0].ID != mine.ID || len(pages) != 1 {
		l.t.Errorf("List = %d sandboxes, %+v, %v after %d pages; want ours, after one",
			len(all), listing, err, len(pages))
	}
}

func listsHidden(l *lab) {
	l.put("t1", simulated.Sandbox{State: reconcile.SandboxFailed, Doomed: true})
	all, _, err := l.list()
	if err != nil || len(all) != 1 || all[0].State != reconcile.SandboxDeleting || !all[0].Owned {
		l.t.Errorf("List = %+v, %v; want one owned sandbox that is being deleted", all, err)
	}
}

// nobodyKnows is a state that no adapter has a word for.
const nobodyKnows = "hibernating"

func unknownState(l *lab) {
	s := l.put("t1", simulated.Sandbox{Raw: nobodyKnows})
	all, listing, err := l.list()
	if err != nil || !listing.Complete || len(all) != 1 {
		l.t.Fatalf("List = %+v, %+v, %v; want one", all, listing, err)
	}
	for _, got := range []reconcile.Sandbox{all[0], l.get(s.ID)} {
		if got.State != reconcile.SandboxUnknown || !strings.Contains(got.Raw, nobodyKnows) {
			l.t.Errorf("state = %q, raw %q; want unknown and the provider's word", got.State, got.Raw)
		}
	}
}

// unknownIsLeft: what nobody has a word for may be anything, also healthy work.
func unknownIsLeft(l *lab) {
	s := l.get(l.put("t1", simulated.Sandbox{Raw: nobodyKnows}).ID)
	l.World.ResetCalls()
	if got := l.Provider.Probe(l.t.Context(), s, policy()); got.Outcome != reconcile.NotAllowed {
		l.t.Errorf("Probe = %+v, want not-allowed", got)
	}
	if p := reconcile.CapabilitiesOf(l.Provider).Suspender; p != nil {
		if how, err := p.Suspend(l.t.Context(), s); err == nil || how != reconcile.TerminateRefused && how != "" {
			l.t.Errorf("Suspend = %q, %v; want it refused, and why", how, err)
		}
		l.unknown("a resume", p.Resume(l.t.Context(), s))
	}
	for _, c := range l.World.Calls() {
		switch c.Kind {
		case simulated.Get, simulated.List, simulated.Find, simulated.AccountOf:
		default:
			l.t.Errorf("it made %+v, want looks only", c)
		}
	}
}

// skewed: the provider's clock is the provider's, however far it is from ours, and each call that reads notes it.
func skewed(l *lab) {
	s := l.put("t1", simulated.Sandbox{})
	for what, read := range map[string]func(context.Context) error{
		"List": func(ctx context.Context) error {
			_, err := l.Provider.List(ctx, func([]reconcile.Sandbox) error { return nil })
			return err
		},
		"Get":  func(ctx context.Context) error { _, err := l.Provider.Get(ctx, s.ID); return err },
		"Find": func(ctx context.Context) error { _, err := l.Provider.Find(ctx, "t1"); return err },
	} {
		var clocks reconcile.Clocks
		err := read(clocks.Watch(l.t.Context(), "lab"))
		asks := what != "Find" || l.Can.Labels
		if seen := clocks.Of("lab"); err != nil || seen.Measured != asks || asks && seen.Believed() {
			l.t.Errorf("%s, years from our clock, = %v and noted %+v", what, err, seen)
		}
	}
	for _, by := range []time.Duration{time.Hour, -30 * time.Minute, 25 * time.Hour} {
		l.Clock.Advance(by)
		now := l.World.Now()
		all, listing, err := l.list()
		if err != nil || len(all) != 1 || !listing.Date.Equal(now) || !all[0].AsOf.Equal(now) {
			l.t.Errorf("List with a clock that jumped %s = %+v, %+v, %v; want it as of %s", by, all, listing, err, now)
		}
		if got := l.get(s.ID); !got.AsOf.Equal(now) {
			l.t.Errorf("Get with a clock that jumped %s = %+v, want it as of %s", by, got, now)
		}
	}
}
