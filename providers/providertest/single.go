package providertest

import (
	"errors"
	"net/http"
	"slices"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// sized holds a sandbox against what the adapter says of sizes.
func (l *lab) sized(s reconcile.Sandbox) {
	if known := s.Size.CPU > 0 && s.Size.MemoryGiB > 0; known != l.Can.Sizes {
		l.t.Errorf("the size of %s is %+v; the adapter's abilities say that it is told: %t", s.Ref, s.Size, l.Can.Sizes)
	}
}

func gets(l *lab) {
	for _, state := range l.Can.States {
		s := l.put("t1", simulated.Sandbox{State: state, Template: "base"})
		got := l.get(s.ID)
		if got.State != state || got.ID != s.ID || !got.Owned || got.Template != "base" && l.Can.Template ||
			got.Task != "t1" && l.Can.Labels {
			l.t.Errorf("Get of one that is %s = %+v", state, got)
		}
		l.sized(got)
	}
	if _, err := l.Provider.Get(l.t.Context(), l.World.FreshID()); !errors.Is(err, reconcile.ErrNotFound) {
		l.t.Errorf("Get of no sandbox = %v, want ErrNotFound", err)
	}
	hidden := l.put("t1", simulated.Sandbox{State: reconcile.SandboxFailed, Doomed: true})
	if _, err := l.Provider.Get(l.t.Context(), hidden.ID); l.Can.Hides && !errors.Is(err, reconcile.ErrNotFound) {
		l.t.Errorf("Get of a hidden one = %v, want ErrNotFound", err)
	}
	s := l.put("t2", simulated.Sandbox{})
	lift := l.World.Inject(simulated.Fault{On: simulated.Get, Effect: simulated.Answer, Status: 500})
	_, err := l.Provider.Get(l.t.Context(), s.ID)
	l.unknown("a 500", err)
	lift() // it lasted, because a provider may ask elsewhere too
	if l.get(s.ID).ID != s.ID {
		l.t.Error("Get after a fault does not find it again")
	}
}

func nameIsNoID(l *lab) {
	none := l.none()
	other := l.put("t1", simulated.Sandbox{Name: none.ID})
	_, err := l.Provider.Get(l.t.Context(), none.ID)
	if l.Can.NameMayBeID {
		l.unknown("another one's name", err)
	} else if !errors.Is(err, reconcile.ErrNotFound) {
		l.t.Errorf("Get of another one's name = %v, want ErrNotFound", err)
	}
	how, err := l.Provider.Terminate(l.t.Context(), none)
	switch {
	case l.Can.ReadOnly, how == reconcile.TerminateChanged && err == nil:
	case l.Can.NameMayBeID && how == "" && err != nil:
	case !l.Can.NameMayBeID && how == reconcile.TerminateGone && err == nil:
	default:
		l.t.Errorf("Terminate of another one's name = %q, %v; want changed, or that it is gone or not known", how, err)
	}
	if l.get(other.ID).State != reconcile.SandboxRunning {
		l.t.Error("the other one was touched")
	}
	l.untouched("a terminate of another one's name")
}

func unauthorized(l *lab) {
	s := l.put("t1", simulated.Sandbox{})
	l.World.Inject(simulated.Fault{Effect: simulated.Answer, Status: http.StatusUnauthorized})
	_, err := l.Provider.Get(l.t.Context(), s.ID)
	if !errors.Is(err, reconcile.ErrUnauthorized) {
		l.t.Errorf("Get = %v, want ErrUnauthorized", err)
	}
	l.unknown("a 401", err)
	l.provesNothing("a 401")
	how, err := l.Provider.Terminate(l.t.Context(), reconcile.Sandbox{Ref: reconcile.Ref{Provider: "lab", ID: s.ID}})
	if !l.Can.ReadOnly && (how != "" || !errors.Is(err, reconcile.ErrUnauthorized)) {
		l.t.Errorf("Terminate = %q, %v; want ErrUnauthorized", how, err)
	}
}

func refusesHTML(l *lab) {
	s := l.put("t1", simulated.Sandbox{})
	for _, status := range []int{http.StatusOK, http.StatusNotFound} {
		lift := l.World.Inject(simulated.Fault{Effect: simulated.Answer, Status: status,
			ContentType: "text/html; charset=utf-8", Body: "<!doctype html><title>hello</title>"})
		_, err := l.Provider.Get(l.t.Context(), s.ID)
		l.unknown("a page of HTML", err)
		l.provesNothing("a page of HTML")
		how, err := l.Provider.Terminate(l.t.Context(), reconcile.Sandbox{Ref: reconcile.Ref{Provider: "lab", ID: s.ID}})
		if how != "" && !l.Can.ReadOnly || err == nil {
			l.t.Errorf("Terminate with a page of HTML = %q, %v; want an error", how, err)
		}
		lift()
	}
}

func finds(l *lab) {
	mine := l.put("t1", simulated.Sandbox{})
	l.put("t2", simulated.Sandbox{})
	l.put("t1", simulated.Sandbox{Labels: map[string]string{"project": "theirs", "task_id": "t1"}})
	found, err := l.Provider.Find(l.t.Context(), "t1")
	if err != nil || len(found) != 1 || found[0].ID != mine.ID || found[0].Task != "t1" || !found[0].Owned {
		l.t.Errorf("Find(t1) = %+v, %v; want %s alone", found, err, mine.ID)
	}
	found, err = l.Provider.Find(l.t.Context(), "t3")
	if err != nil || len(found) != 0 {
		l.t.Errorf("Find(t3) = %+v, %v; want none", found, err)
	}
}

func findsNone(l *lab) {
	l.put("t1", simulated.Sandbox{})
	l.World.ResetCalls()
	found, err := l.Provider.Find(l.t.Context(), "t1")
	if calls := l.World.Calls(); err != nil || len(found) != 0 || len(calls) != 0 {
		l.t.Errorf("Find = %+v, %v after %v; want none without a call", found, err, calls)
	}
}

// named asks for what a row may hold where that is no id; an id is found in the same way.
func named(l *lab) {
	p := reconcile.CapabilitiesOf(l.Provider).Named
	l.put("t1", simulated.Sandbox{})
	s := l.put("t2", simulated.Sandbox{})
	if got, err := p.Named(l.t.Context(), s.ID); err != nil || len(got) != 1 || got[0].ID != s.ID || !got[0].Owned {
		l.t.Errorf("Named = %+v, %v; want the one sandbox", got, err)
	}
	if got, err := p.Named(l.t.Context(), l.none().ID); err != nil || len(got) != 0 {
		l.t.Errorf("Named of none = %+v, %v; want none and no error", got, err)
	}
	l.World.Inject(simulated.Fault{Effect: simulated.Answer, Status: 500})
	if got, err := p.Named(l.t.Context(), l.none().ID); err == nil {
		l.t.Errorf("Named with a 500 = %+v, nil; want an error", got)
	}
}

func findFails(l *lab) {
	l.put("t1", simulated.Sandbox{})
	l.World.Inject(simulated.Fault{Effect: simulated.Answer, Status: 500})
	if found, err := l.Provider.Find(l.t.Context(), "t1"); err == nil {
		l.t.Errorf("Find = %+v, nil; want an error", found)
	}
}

// has reports whether the adapter tells the state apart.
func (l *lab) has(state reconcile.SandboxState) bool { return slices.Contains(l.Can.States, state) }
