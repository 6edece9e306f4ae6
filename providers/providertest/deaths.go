package providertest

import (
	"errors"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// end is how a provider sees a sandbox end, with what it has on record of that. How it is over is what the provider
// can show: gone, stopped, or failed.
func (l *lab) end(id string, at time.Time) {
	l.World.Change(id, func(s *simulated.Sandbox) {
		switch {
		case !l.Can.Forgets:
			s.Gone, s.State = true, reconcile.SandboxEnded
		case l.has(reconcile.SandboxFailed):
			s.State = reconcile.SandboxFailed
		default:
			s.State = reconcile.SandboxStopped
		}
		s.EndedAt, s.EndedFor, s.UpdatedAt = at, "oom", at
	})
}

func (l *lab) death(id string) (reconcile.Death, error) {
	return reconcile.CapabilitiesOf(l.Provider).Deaths.Death(l.t.Context(), id)
}

// deaths: a record tells when it ended by the provider's clock, why, and which record says so. Of what runs, of what
// runs again, of what vanished and of what never was there is none.
func deaths(l *lab) {
	l.put("t0", simulated.Sandbox{})
	ended, at := l.put("t1", simulated.Sandbox{}), l.Clock.Now().Add(30*time.Second)
	l.Clock.Advance(time.Minute)
	l.end(ended.ID, at)
	got, err := l.death(ended.ID)
	if err != nil || got.At.Sub(at).Abs() > time.Second || got.Reason == "" || got.Record == "" {
		l.t.Errorf("Death = %+v, %v; want that of %s, with its reason and its record", got, err, at)
	}
	if ago := got.Ago(); ago < 29*time.Second || ago > 32*time.Second {
		l.t.Errorf("it ended %s ago by its provider, want half a minute", ago)
	}
	vanished := l.put("t2", simulated.Sandbox{})
	l.World.Change(vanished.ID, func(s *simulated.Sandbox) { s.Gone, s.State = true, reconcile.SandboxEnded })
	for what, id := range map[string]string{
		"what runs": l.put("t3", simulated.Sandbox{}).ID, "what vanished": vanished.ID, "what never was": l.none().ID,
	} {
		if got, err := l.death(id); !errors.Is(err, reconcile.ErrNotFound) {
			l.t.Errorf("Death of %s = %+v, %v; want no record", what, got, err)
		}
	}
	l.untouched("reading a record")
	if l.Can.Suspends == "" {
		return
	}
	again := l.put("t4", simulated.Sandbox{})
	if _, err := l.suspender().Suspend(l.t.Context(), l.get(again.ID)); err != nil {
		l.t.Fatal(err)
	}
	l.Clock.Advance(5 * time.Second)
	if err := l.suspender().Resume(l.t.Context(), l.get(again.ID)); err != nil {
		l.t.Fatal(err)
	}
	l.Clock.Advance(10 * time.Second)
	if got, err := l.death(again.ID); !errors.Is(err, reconcile.ErrNotFound) {
		l.t.Errorf("Death of what runs again = %+v, %v; want no record", got, err)
	}
}

// deathsUnread: whatever goes wrong on the way is neither an end nor the word that there is none.
func deathsUnread(l *lab) {
	l.put("t0", simulated.Sandbox{})
	ended := l.put("t1", simulated.Sandbox{})
	l.end(ended.ID, l.Clock.Now())
	for _, test := range []struct {
		name  string
		fault simulated.Fault
	}{
		{"500", simulated.Fault{Effect: simulated.Answer, Status: 500}},
		{"HTML", simulated.Fault{Effect: simulated.Answer, Status: 200, ContentType: "text/html"}},
		{"half an answer", simulated.Fault{Effect: simulated.CutPage}},
		{"403", simulated.Fault{Effect: simulated.Answer, Status: 403}},
	} {
		lift := l.World.Inject(test.fault)
		got, err := l.death(ended.ID)
		if lift(); err == nil || errors.Is(err, reconcile.ErrNotFound) {
			l.t.Errorf("Death with %s = %+v, %v; want an error that is not ErrNotFound", test.name, got, err)
		}
	}
	before := len(l.World.Calls())
	if _, err := l.death(ended.ID); !errors.Is(err, reconcile.ErrUnauthorized) || len(l.World.Calls()) != before {
		l.t.Errorf("Death after it was refused = %v, %d calls; want it not asked for again yet", err,
			len(l.World.Calls())-before)
	}
}
