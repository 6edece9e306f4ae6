package kubernetes

import (
	"errors"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/kubernetes/kubernetestest"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Who leaves does not end a command that hangs. Probes leave only so many behind, ask less and
// less, and forget them with the first that comes back, with the Pod, and with the sandbox.
func TestLeftovers(t *testing.T) {
	t.Parallel()
	w := newTown(t, "pod", kubernetestest.Options{})
	p := w.open(t, nil)
	s := w.put(simulated.Sandbox{Exec: simulated.Hung, Files: simulated.Hung})
	n, err := parseID(s.ID)
	if err != nil {
		t.Fatal(err)
	}
	probe := func(within time.Duration) reconcile.ProbeResult {
		return p.Probe(t.Context(), reconcile.Sandbox{Ref: reconcile.Ref{ID: s.ID}, State: reconcile.SandboxRunning},
			reconcile.ProbePolicy{Exec: "true", Path: "/", Timeout: within})
	}
	for _, test := range []struct {
		name  string
		left  unfinishedExecs
		since time.Duration
		asked bool
		then  int // left behind
	}{
		{"the first", unfinishedExecs{}, 0, true, 1},
		{"the fifth", unfinishedExecs{pod: n.uid, n: 4}, 0, true, 5},
		{"the sixth, too early", unfinishedExecs{pod: n.uid, n: 5}, 9 * time.Minute, false, 5},
		{"the sixth", unfinishedExecs{pod: n.uid, n: 5}, 11 * time.Minute, true, 6},
		{"the last", unfinishedExecs{pod: n.uid, n: 7}, 41 * time.Minute, true, 8},
		{"no further one", unfinishedExecs{pod: n.uid, n: 8}, 1000 * time.Hour, false, 8},
		{"another Pod's", unfinishedExecs{pod: "another", n: 8}, 0, true, 1},
	} {
		test.left.at = p.client.Now().Add(-test.since)
		p.left.Store(s.ID, test.left)
		w.world.ResetCalls()
		got := probe(time.Nanosecond)
		asked := 0
		for _, c := range w.world.Calls() {
			if c.Kind == simulated.Exec || c.Kind == simulated.Files {
				asked++
			}
		}
		after, _ := p.left.Load(s.ID)
		if (asked == 1) != test.asked || asked > 1 || after.(unfinishedExecs).n != test.then ||
			test.asked != (got.Outcome == reconcile.Hung) || !test.asked && got.Outcome != reconcile.Infrastructure {
			t.Errorf("%s: %s, %s after %d commands; %+v are left, want %d", test.name, got.Outcome, got.Detail, asked, after, test.then)
		}
	}
	w.world.Change(s.ID, func(s *simulated.Sandbox) { s.Exec, s.Files = "", "" })
	if got := probe(time.Minute); got.Outcome != reconcile.Answered {
		t.Errorf("one that is well again = %+v, want it answered", got)
	}
	if after, there := p.left.Load(s.ID); there {
		t.Errorf("after an answer %+v are left, want none", after)
	}
	p.left.Store(s.ID, unfinishedExecs{pod: n.uid, n: 8})
	if _, err := p.Get(t.Context(), s.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := w.world.Destroy(s.ID); err != nil {
		t.Fatal(err)
	}
	w.clock.Advance(time.Hour)
	if _, err := p.Get(t.Context(), s.ID); !errors.Is(err, reconcile.ErrNotFound) {
		t.Errorf("Get = %v, want it gone", err)
	}
	if after, there := p.left.Load(s.ID); there {
		t.Errorf("of one that is gone %+v are remembered, want nothing", after)
	}
}
