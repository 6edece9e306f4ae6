package providertest

import (
	"context"
	"errors"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// suspender is the provider as one that can suspend.
func (l *lab) suspender() reconcile.Suspender {
	return reconcile.CapabilitiesOf(l.Provider).Suspender
}

// still reports whether a sandbox is stopped or suspended.
func still(s reconcile.Sandbox) bool {
	return s.State == reconcile.SandboxStopped || s.State == reconcile.SandboxSuspended
}

func suspends(l *lab) {
	p := l.suspender()
	s := l.put("t1", simulated.Sandbox{Disk: map[string]string{"/home/notes": "kept"}})
	expected := l.get(s.ID)
	for n := range 2 {
		how, err := p.Suspend(l.t.Context(), expected)
		if err != nil || how != reconcile.TerminateDone && (n > 0 || how != reconcile.TerminateAccepted) {
			l.t.Fatalf("Suspend = %q, %v; want accepted or done, and done the second time", how, err)
		}
		l.Clock.Advance(3 * time.Second)
		if got := l.get(s.ID); !still(got) || !got.Owned || got.Task != expected.Task {
			l.t.Fatalf("Get after Suspend = %+v, want it stopped and still ours", got)
		}
	}
	for range 2 {
		if err := p.Resume(l.t.Context(), expected); err != nil {
			l.t.Fatalf("Resume = %v, want none, also the second time", err)
		}
	}
	l.Clock.Advance(6 * time.Second)
	if got := l.get(s.ID); got.State != reconcile.SandboxRunning {
		l.t.Errorf("Get after Resume = %+v, want it running", got)
	}
	if got, _ := l.World.Sandbox(s.ID); got.Disk["/home/notes"] != "kept" {
		l.t.Errorf("its disk holds %v, want what it held before", got.Disk)
	}
}

func suspendsOthers(l *lab) {
	p := l.suspender()
	if how, err := p.Suspend(l.t.Context(), l.none()); err != nil || how != reconcile.TerminateGone {
		l.t.Errorf("Suspend of no sandbox = %q, %v; want gone", how, err)
	}
	s := l.put("t1", simulated.Sandbox{})
	expected := l.get(s.ID)
	l.disown(s.ID)
	if how, err := p.Suspend(l.t.Context(), expected); err != nil || how != reconcile.TerminateChanged {
		l.t.Errorf("Suspend of what changed hands = %q, %v; want changed", how, err)
	}
	l.World.Change(s.ID, func(s *simulated.Sandbox) { s.State = reconcile.SandboxStopped })
	if err := p.Resume(l.t.Context(), expected); err == nil {
		l.t.Error("Resume of what changed hands = nil, want an error")
	}
	none := l.none()
	named := l.put("t2", simulated.Sandbox{Name: none.ID})
	how, err := p.Suspend(l.t.Context(), none)
	if err != nil || how != reconcile.TerminateGone && how != reconcile.TerminateChanged {
		l.t.Errorf("Suspend of another one's name = %q, %v; want gone or changed", how, err)
	}
	if l.get(named.ID).State != reconcile.SandboxRunning {
		l.t.Error("the other one was touched")
	}
	l.untouched("a suspend of what is not ours")
}

// suspendsEphemeral: at some providers a stop deletes what is ephemeral. That is no way to
// keep it.
func suspendsEphemeral(l *lab) {
	s := l.put("t1", simulated.Sandbox{Ephemeral: true})
	seen := l.get(s.ID)
	if seen.NotStoppable == "" || l.get(l.put("t2", simulated.Sandbox{}).ID).NotStoppable != "" {
		l.t.Errorf("an ephemeral one cannot be stopped because %q, want that shown of it and of no other", seen.NotStoppable)
	}
	how, err := l.suspender().Suspend(l.t.Context(), seen)
	if how != reconcile.TerminateRefused || err == nil {
		l.t.Errorf("Suspend of an ephemeral one = %q, %v; want refused, and why", how, err)
	}
	l.untouched("a suspend of an ephemeral one")
}

// suspendLost: what got no answer may have been done; the next look finds out.
func suspendLost(l *lab) {
	p := l.suspender()
	for _, effect := range []simulated.Effect{simulated.DoneThenAnswer, simulated.DoneThenDrop} {
		s := l.put("t1", simulated.Sandbox{})
		expected := l.get(s.ID)
		l.World.ResetCalls()
		lift := l.World.Inject(simulated.Fault{On: simulated.Stop, Effect: effect})
		if how, err := p.Suspend(l.t.Context(), expected); how != "" || err == nil {
			l.t.Errorf("Suspend, %s = %q, %v; want no answer and an error", effect, how, err)
		}
		lift()
		if calls := l.World.Destructive(); len(calls) != 1 {
			l.t.Errorf("%s: %d stops, want 1", effect, len(calls))
		}
		l.Clock.Advance(3 * time.Second)
		if got := l.get(s.ID); !still(got) {
			l.t.Errorf("Get after %s = %s, want it stopped", effect, got.State)
		}
	}
}

func suspendIgnored(l *lab) {
	p := l.suspender()
	s := l.put("t1", simulated.Sandbox{})
	lift := l.World.Inject(simulated.Fault{On: simulated.Stop, Effect: simulated.NotDone})
	how, err := p.Suspend(l.t.Context(), l.get(s.ID))
	lift()
	if how == reconcile.TerminateGone || how == "" && err == nil {
		l.t.Fatalf("Suspend = %q, %v; want what the provider said", how, err)
	}
	if got := l.get(s.ID); got.State != reconcile.SandboxRunning {
		l.t.Errorf("Get = %s, want running: nothing was done", got.State)
	}
	if !l.Can.Busy {
		return
	}
	busy := l.get(l.put("t1", simulated.Sandbox{Locked: true}).ID)
	ctx, cancel := context.WithTimeout(l.t.Context(), 100*time.Millisecond)
	defer cancel()
	if how, err := p.Suspend(ctx, busy); how != "" || err == nil {
		l.t.Errorf("Suspend of a busy one = %q, %v; want no answer and an error", how, err)
	}
}

func resumes(l *lab) {
	p := l.suspender()
	if err := p.Resume(l.t.Context(), l.none()); !errors.Is(err, reconcile.ErrNotFound) {
		l.t.Errorf("Resume of no sandbox = %v, want ErrNotFound", err)
	}
	s := l.put("t1", simulated.Sandbox{})
	expected := l.get(s.ID)
	l.World.Change(s.ID, func(s *simulated.Sandbox) { s.Gone, s.State = true, reconcile.SandboxEnded })
	if err := p.Resume(l.t.Context(), expected); !errors.Is(err, reconcile.ErrNotFound) {
		l.t.Errorf("Resume of one that is gone = %v, want ErrNotFound", err)
	}
	if !l.Can.EndsAtOnce {
		doomed := l.get(l.put("t1", simulated.Sandbox{State: reconcile.SandboxStopped, Doomed: true}).ID)
		if err := p.Resume(l.t.Context(), doomed); !errors.Is(err, reconcile.ErrNotFound) {
			l.t.Errorf("Resume of one that is being deleted = %v, want ErrNotFound", err)
		}
	}
	resting := reconcile.SandboxStopped
	if !l.has(resting) {
		resting = reconcile.SandboxSuspended
	}
	stopped := l.get(l.put("t1", simulated.Sandbox{State: resting}).ID)
	lift := l.World.Inject(simulated.Fault{On: simulated.Start, Effect: simulated.Answer, Status: 500})
	l.unknown("a 500", p.Resume(l.t.Context(), stopped))
	lift()
	lift = l.World.Inject(simulated.Fault{On: simulated.Get, Effect: simulated.Answer, Status: 503})
	l.unknown("a look that fails", p.Resume(l.t.Context(), stopped))
	lift()
	if l.has(reconcile.SandboxFailed) {
		l.World.Change(stopped.ID, func(s *simulated.Sandbox) { s.State = reconcile.SandboxFailed })
		l.unknown("one that failed", p.Resume(l.t.Context(), stopped))
	}
}
