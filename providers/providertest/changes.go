package providertest

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// terminate asks for the end of a sandbox as it is now.
func (l *lab) terminate(id string) (reconcile.Termination, error) {
	l.t.Helper()
	return l.Provider.Terminate(l.t.Context(), l.get(id))
}

func (l *lab) terminates() {
	s := l.put("t1", simulated.Sandbox{Name: "worker-1"})
	if how, err := l.terminate(s.ID); err != nil || how != reconcile.TerminateAccepted {
		l.t.Fatalf("Terminate = %s, %v; want accepted", how, err)
	}
	if got := l.get(s.ID); got.State != reconcile.SandboxDeleting || !got.Owned {
		l.t.Errorf("Get after Terminate = %+v, want it deleting and still ours", got)
	}
	all, _, err := l.list()
	if err != nil || len(all) != 1 || all[0].State != reconcile.SandboxDeleting || all[0].Name != "worker-1" {
		l.t.Errorf("List after Terminate = %+v, %v; want it deleting, with the name it had", all, err)
	}
	l.Clock.Advance(11 * time.Second)
	if _, err := l.Provider.Get(l.t.Context(), s.ID); !errors.Is(err, reconcile.ErrNotFound) {
		l.t.Errorf("Get later = %v, want ErrNotFound", err)
	}
}

func (l *lab) terminatesTwice() {
	s := l.put("t1", simulated.Sandbox{})
	expected := l.get(s.ID)
	for range 2 {
		if how, err := l.Provider.Terminate(l.t.Context(), expected); err != nil || how != reconcile.TerminateAccepted {
			l.t.Fatalf("Terminate = %s, %v; want accepted", how, err)
		}
	}
	l.Clock.Advance(11 * time.Second)
	if how, err := l.Provider.Terminate(l.t.Context(), expected); err != nil || how != reconcile.TerminateGone {
		l.t.Errorf("Terminate at last = %s, %v; want gone", how, err)
	}
}

func (l *lab) terminatesGone() {
	none := reconcile.Sandbox{Ref: reconcile.Ref{Provider: "lab", ID: "no-such-sandbox"}}
	if how, err := l.Provider.Terminate(l.t.Context(), none); err != nil || how != reconcile.TerminateGone {
		l.t.Errorf("Terminate of no sandbox = %s, %v; want gone", how, err)
	}
	if calls := l.World.Destructive(); len(calls) != 0 {
		l.t.Errorf("it made %v, want no delete", calls)
	}
}

func (l *lab) terminatesChanged() {
	s := l.put("t1", simulated.Sandbox{})
	expected := l.get(s.ID)
	l.World.Change(s.ID, func(s *simulated.Sandbox) { s.Labels = map[string]string{"project": "theirs"} })
	if how, err := l.Provider.Terminate(l.t.Context(), expected); err != nil || how != reconcile.TerminateChanged {
		l.t.Errorf("Terminate = %s, %v; want changed", how, err)
	}
	if calls := l.World.Destructive(); len(calls) != 0 {
		l.t.Errorf("it made %v, want no delete", calls)
	}
}

func (l *lab) terminateRefused() {
	s := l.put("t1", simulated.Sandbox{Refuse: "Cannot delete sandbox which has active fork children"})
	how, err := l.terminate(s.ID)
	if how != reconcile.TerminateRefused || err == nil || !strings.Contains(err.Error(), "active fork children") {
		l.t.Errorf("Terminate = %s, %v; want refused in the provider's words", how, err)
	}
	busy := l.put("t1", simulated.Sandbox{Locked: true})
	expected := l.get(busy.ID)
	ctx, cancel := context.WithTimeout(l.t.Context(), 100*time.Millisecond)
	defer cancel()
	how, err = l.Provider.Terminate(ctx, expected)
	if how == reconcile.TerminateAccepted || how == reconcile.TerminateDone || how == reconcile.TerminateGone ||
		err == nil {
		l.t.Errorf("Terminate of a busy one = %s, %v; want an error", how, err)
	}
}

// terminateLost: what got no answer may have been done. The adapter says that it does not
// know, asks once only, and the caller's next look finds out.
func (l *lab) terminateLost() {
	for _, effect := range []simulated.Effect{simulated.DoneThenAnswer, simulated.DoneThenDrop} {
		s := l.put("t1", simulated.Sandbox{})
		l.World.ResetCalls()
		lift := l.World.Inject(simulated.Fault{On: simulated.Delete, Effect: effect})
		if how, err := l.terminate(s.ID); how != "" || err == nil {
			l.t.Errorf("Terminate, %s = %q, %v; want no termination and an error", effect, how, err)
		}
		lift()
		if calls := l.World.Destructive(); len(calls) != 1 {
			l.t.Errorf("%s: %d deletes, want 1", effect, len(calls))
		}
		if got := l.get(s.ID); got.State != reconcile.SandboxDeleting {
			l.t.Errorf("Get after %s = %s, want deleting", effect, got.State)
		}
	}
}

func (l *lab) terminateIgnored() {
	s := l.put("t1", simulated.Sandbox{})
	l.World.Inject(simulated.Fault{On: simulated.Delete, Count: 1, Effect: simulated.NotDone})
	if _, err := l.terminate(s.ID); err != nil {
		l.t.Fatal(err)
	}
	l.Clock.Advance(time.Minute)
	if got := l.get(s.ID); got.State != reconcile.SandboxRunning {
		l.t.Errorf("Get = %s, want running: nothing was done", got.State)
	}
}

func (l *lab) templates() {
	p, ok := l.Provider.(reconcile.Templates)
	if !ok {
		return // an optional part
	}
	l.World.PutTemplate(simulated.Template{Name: "used", CreatedAt: start.Add(-720 * time.Hour),
		LastUsedAt: start.Add(-time.Hour)})
	l.World.PutTemplate(simulated.Template{Name: "unused", CreatedAt: start.Add(-720 * time.Hour)})
	l.World.PutTemplate(simulated.Template{Name: "broken", State: reconcile.TemplateFailed, Error: "disk full"})
	l.World.PutTemplate(simulated.Template{Name: "odd", Raw: "melting"})
	for name, want := range map[string]reconcile.TemplateState{
		"used": reconcile.TemplateActive, "unused": reconcile.TemplateInactive, "broken": reconcile.TemplateFailed,
		"absent": reconcile.TemplateMissing, "odd": reconcile.TemplateUnknown,
	} {
		if got, err := p.Template(l.t.Context(), name); err != nil || got.State != want || got.Name != name ||
			!got.AsOf.Equal(start) {
			l.t.Errorf("Template(%s) = %+v, %v; want %s", name, got, err, want)
		}
	}
	if got, _ := p.Template(l.t.Context(), "used"); !got.ExpiresAt.Equal(start.Add(-time.Hour).Add(simulated.UnusedFor)) {
		l.t.Errorf("ExpiresAt = %s, want 14 days after the last use", got.ExpiresAt)
	}
	l.activates(p)
}

func (l *lab) activates(p reconcile.Templates) {
	for range 2 {
		if err := p.Activate(l.t.Context(), "unused"); err != nil {
			l.t.Fatalf("Activate = %v, want none, also the second time", err)
		}
	}
	if got, err := p.Template(l.t.Context(), "unused"); err != nil || got.State != reconcile.TemplateBuilding {
		l.t.Errorf("Template after Activate = %+v, %v; want building", got, err)
	}
	l.Clock.Advance(2 * time.Minute)
	if got, err := p.Template(l.t.Context(), "unused"); err != nil || got.State != reconcile.TemplateActive {
		l.t.Errorf("Template later = %+v, %v; want active", got, err)
	}
	if err := p.Activate(l.t.Context(), "absent"); !errors.Is(err, reconcile.ErrNotFound) {
		l.t.Errorf("Activate(absent) = %v, want ErrNotFound", err)
	}
	l.World.Inject(simulated.Fault{Effect: simulated.Answer, Status: 500})
	if got, err := p.Template(l.t.Context(), "used"); err == nil {
		l.t.Errorf("Template with a 500 = %+v, nil; want an error", got)
	}
}
