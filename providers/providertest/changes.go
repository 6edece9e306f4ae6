package providertest

import (
	"context"
	"errors"
	"slices"
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

// ends is what a terminate that is carried out tells.
func (l *lab) ends() reconcile.Termination {
	if l.Can.EndsAtOnce {
		return reconcile.TerminateDone
	}
	return reconcile.TerminateAccepted
}

// gone fails the test unless the sandbox is not found any more, or on record as ended.
func (l *lab) gone(id string) {
	l.t.Helper()
	s, err := l.Provider.Get(l.t.Context(), id)
	if l.Can.StaysOnRecord && err == nil && s.State == reconcile.SandboxEnded {
		return
	}
	if !errors.Is(err, reconcile.ErrNotFound) {
		l.t.Errorf("Get at last = %+v, %v; want ErrNotFound", s, err)
	}
}

func terminates(l *lab) {
	s := l.put("t1", simulated.Sandbox{})
	before := l.get(s.ID)
	if how, err := l.Provider.Terminate(l.t.Context(), before); err != nil || how != l.ends() {
		l.t.Fatalf("Terminate = %s, %v; want %s", how, err, l.ends())
	}
	if l.Can.EndsAtOnce {
		l.gone(s.ID)
		return
	}
	if got := l.get(s.ID); got.State != reconcile.SandboxDeleting || !got.Owned {
		l.t.Errorf("Get after Terminate = %+v, want it deleting and still ours", got)
	}
	all, _, err := l.list()
	if err != nil || len(all) != 1 || all[0].State != reconcile.SandboxDeleting || all[0].Name != before.Name {
		l.t.Errorf("List after Terminate = %+v, %v; want it deleting, with the name it had", all, err)
	}
	l.Clock.Advance(11 * time.Second)
	l.gone(s.ID)
}

func terminatesTwice(l *lab) {
	s := l.put("t1", simulated.Sandbox{})
	expected := l.get(s.ID)
	if how, err := l.Provider.Terminate(l.t.Context(), expected); err != nil || how != l.ends() {
		l.t.Fatalf("Terminate = %s, %v; want %s", how, err, l.ends())
	}
	how, err := l.Provider.Terminate(l.t.Context(), expected)
	if want := l.ends(); err != nil || how != want && (want != reconcile.TerminateDone || how != reconcile.TerminateGone) {
		l.t.Fatalf("second Terminate = %s, %v; want %s, or gone", how, err, want)
	}
	l.Clock.Advance(11 * time.Second)
	if how, err := l.Provider.Terminate(l.t.Context(), expected); err != nil || how != reconcile.TerminateGone {
		l.t.Errorf("Terminate at last = %s, %v; want gone", how, err)
	}
}

// terminatesLooked: the look that an end rests on is the adapter's own, and is not made twice. One from the time
// to come is of a moment ago however long a busy machine takes until it is asked for.
func terminatesLooked(l *lab) {
	var calls [2]int
	for i, looked := range []time.Time{time.Now().Add(-10 * time.Second), time.Now().Add(time.Hour)} {
		s := l.get(l.put("t1", simulated.Sandbox{}).ID)
		s.Looked = looked
		l.World.ResetCalls()
		if how, err := l.Provider.Terminate(l.t.Context(), s); err != nil || how != l.ends() {
			l.t.Fatalf("Terminate = %s, %v; want %s", how, err, l.ends())
		}
		calls[i] = len(l.World.Calls())
	}
	if calls[1] >= calls[0] || len(l.World.Destructive()) != 1 {
		l.t.Errorf("Terminate takes %d calls, and %d after a look; want fewer, and one end", calls[0], calls[1])
	}
}

func terminatesGone(l *lab) {
	if how, err := l.Provider.Terminate(l.t.Context(), l.none()); err != nil || how != reconcile.TerminateGone {
		l.t.Errorf("Terminate of no sandbox = %s, %v; want gone", how, err)
	}
	if !l.Can.CompareAndDelete {
		l.untouched("a terminate of no sandbox")
	}
}

func terminatesChanged(l *lab) {
	s := l.put("t1", simulated.Sandbox{})
	expected := l.get(s.ID)
	l.disown(s.ID)
	if how, err := l.Provider.Terminate(l.t.Context(), expected); err != nil || how != reconcile.TerminateChanged {
		l.t.Errorf("Terminate = %s, %v; want changed", how, err)
	}
	if !l.Can.CompareAndDelete {
		l.untouched("a terminate of what changed hands")
	}
	if got := l.get(s.ID); got.State != reconcile.SandboxRunning {
		l.t.Errorf("Get of what changed hands = %s, want it running", got.State)
	}
}

// terminatesExcepted: what the entry excepts is not ended, also where it was ours when it was seen.
func terminatesExcepted(l *lab) {
	for what, as := range l.excepted() {
		s := l.put("t1", simulated.Sandbox{})
		expected := l.get(s.ID)
		l.World.Change(s.ID, func(s *simulated.Sandbox) {
			if s.Template = as.Template; as.Labels != nil {
				s.Labels = as.Labels
			}
			if as.Name != "" {
				s.Name = as.Name
			}
		})
		if how, err := l.Provider.Terminate(l.t.Context(), expected); err != nil || how != reconcile.TerminateChanged {
			l.t.Errorf("Terminate of one excepted by its %s = %s, %v; want changed", what, how, err)
		}
		if got := l.get(s.ID); got.State != reconcile.SandboxRunning {
			l.t.Errorf("Get of one excepted by its %s = %s, want it running", what, got.State)
		}
	}
}

func terminatesClaimed(l *lab) {
	s := l.put("t1", simulated.Sandbox{})
	expected := l.get(s.ID)
	l.World.Change(s.ID, func(s *simulated.Sandbox) { s.Labels = map[string]string{"project": "mine", "task_id": "t2"} })
	if how, err := l.Provider.Terminate(l.t.Context(), expected); err != nil || how != reconcile.TerminateChanged {
		l.t.Errorf("Terminate = %s, %v; want changed", how, err)
	}
	if got := l.get(s.ID); got.State != reconcile.SandboxRunning {
		l.t.Errorf("Get of what was claimed = %s, want it running", got.State)
	}
}

func terminateRefused(l *lab) {
	s := l.put("t1", simulated.Sandbox{Refuse: "Cannot delete sandbox which has active fork children"})
	how, err := l.terminate(s.ID)
	if how != reconcile.TerminateRefused || err == nil || !strings.Contains(err.Error(), "active fork children") {
		l.t.Errorf("Terminate = %s, %v; want refused in the provider's words", how, err)
	}
}

func terminateBusy(l *lab) {
	expected := l.get(l.put("t1", simulated.Sandbox{Locked: true}).ID)
	ctx, cancel := context.WithTimeout(l.t.Context(), 100*time.Millisecond)
	defer cancel()
	how, err := l.Provider.Terminate(ctx, expected)
	if how == reconcile.TerminateAccepted || how == reconcile.TerminateDone || how == reconcile.TerminateGone ||
		err == nil {
		l.t.Errorf("Terminate of a busy one = %s, %v; want an error", how, err)
	}
}

// terminateLost: what got no answer may have been done. The adapter says that it does not
// know, asks once only, and the caller's next look finds out.
func terminateLost(l *lab) {
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
		if l.Can.EndsAtOnce {
			l.gone(s.ID)
			continue
		}
		if got := l.get(s.ID); got.State != reconcile.SandboxDeleting {
			l.t.Errorf("Get after %s = %s, want deleting", effect, got.State)
		}
	}
}

func terminateIgnored(l *lab) {
	s := l.put("t1", simulated.Sandbox{})
	l.World.Inject(simulated.Fault{On: simulated.Delete, Count: 1, Effect: simulated.NotDone})
	if how, err := l.terminate(s.ID); how == reconcile.TerminateGone || how == "" && err == nil {
		l.t.Fatalf("Terminate = %q, %v; want what the provider said", how, err)
	}
	l.Clock.Advance(time.Minute)
	if got := l.get(s.ID); got.State != reconcile.SandboxRunning {
		l.t.Errorf("Get = %s, want running: nothing was done", got.State)
	}
}

// terminatesNothing: an adapter that cannot end sandboxes refuses, and says that it cannot.
func terminatesNothing(l *lab) {
	how, err := l.terminate(l.put("t1", simulated.Sandbox{}).ID)
	if how != reconcile.TerminateRefused || !errors.Is(err, errors.ErrUnsupported) {
		l.t.Errorf("Terminate = %q, %v; want refused as unsupported", how, err)
	}
	l.untouched("a terminate")
	if s := l.get(l.put("t2", simulated.Sandbox{}).ID); s.NotTerminable == "" {
		l.t.Errorf("Get = %+v, want it to say that it cannot be ended", s)
	}
}

func templates(l *lab) {
	p := reconcile.CapabilitiesOf(l.Provider).Templates
	l.World.PutTemplate(simulated.Template{Name: "used", CreatedAt: start.Add(-720 * time.Hour),
		LastUsedAt: start.Add(-time.Hour)})
	l.World.PutTemplate(simulated.Template{Name: "unused", CreatedAt: start.Add(-720 * time.Hour)})
	l.World.PutTemplate(simulated.Template{Name: "broken", State: reconcile.TemplateFailed, Error: "disk full"})
	l.World.PutTemplate(simulated.Template{Name: "made", State: reconcile.TemplateBuilding})
	l.World.PutTemplate(simulated.Template{Name: "odd", Raw: "melting"})
	for name, want := range map[string]reconcile.TemplateState{
		"used": reconcile.TemplateActive, "unused": reconcile.TemplateInactive, "broken": reconcile.TemplateFailed,
		"made": reconcile.TemplateBuilding, "absent": reconcile.TemplateMissing, "odd": reconcile.TemplateUnknown,
	} {
		if !slices.Contains(append(l.Can.TemplateStates, reconcile.TemplateUnknown), want) ||
			want == reconcile.TemplateUnknown && len(l.Can.TemplateStates) < 3 { // it is there or not, and has no words
			continue
		}
		if got, err := p.Template(l.t.Context(), name); err != nil || got.State != want || got.Name != name ||
			got.AsOf.IsZero() || !l.Can.Undated && !got.AsOf.Equal(start) {
			l.t.Errorf("Template(%s) = %+v, %v; want %s", name, got, err, want)
		}
	}
	got, _ := p.Template(l.t.Context(), "used")
	if want := start.Add(-time.Hour).Add(simulated.UnusedFor); l.Can.TemplateExpires && !got.ExpiresAt.Equal(want) {
		l.t.Errorf("ExpiresAt = %s, want 14 days after the last use", got.ExpiresAt)
	}
	l.World.Inject(simulated.Fault{Effect: simulated.Answer, Status: 500})
	if got, err := p.Template(l.t.Context(), "used"); err == nil {
		l.t.Errorf("Template with a 500 = %+v, nil; want an error", got)
	}
}

func activates(l *lab) {
	p := reconcile.CapabilitiesOf(l.Provider).Templates
	l.World.PutTemplate(simulated.Template{Name: "unused", CreatedAt: start.Add(-720 * time.Hour)})
	if !slices.Contains(l.Can.TemplateStates, reconcile.TemplateInactive) {
		if err := p.Activate(l.t.Context(), "unused"); !errors.Is(err, errors.ErrUnsupported) {
			l.t.Errorf("Activate = %v, want it unsupported: no template is ever inactive", err)
		}
		return
	}
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
}
