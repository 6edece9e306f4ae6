package run_test

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A provider whose clock is an hour ahead makes nothing older than the ledger has seen it, and is told of.
func TestProviderClockAheadHurriesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ahead := func() time.Time { return time.Now().Add(time.Hour) }
		s := openedIn(t, simulated.Options{Now: ahead})
		s.cloud.Put(simulated.Sandbox{ID: "sb-new", CreatedAt: time.Now(), Labels: map[string]string{"app": "ours"}})
		told := false
		for range 4 {
			r := s.once()
			for _, f := range r.Plan.Findings {
				told = told || f.Rule == "clock-untrusted" && f.Subject == "source:"+reconcile.ProviderClockOf(lab)
			}
			time.Sleep(time.Minute)
		}
		if s.state("sb-new") == reconcile.SandboxEnded {
			t.Error("a sandbox was ended within 4m of its birth")
		}
		if !told {
			t.Error("nobody is told that the provider's clock is off")
		}
		for range 4 {
			s.once()
			time.Sleep(time.Minute)
		}
		if s.state("sb-new") != reconcile.SandboxEnded {
			t.Error("an orphan that the ledger has seen for long enough is never ended")
		}
	})
}

// A leak that its provider dates in the future is ended once the ledger has seen it for long enough, and not before.
func TestALeakDatedAheadIsEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := openedIn(t, simulated.Options{})
		s.cloud.Put(simulated.Sandbox{ID: "sb-ahead", CreatedAt: time.Now().AddDate(1, 0, 0), Labels: map[string]string{"app": "ours"}})
		for range 4 {
			if told := s.once().Plan.Findings; !slices.ContainsFunc(told, func(f reconcile.Finding) bool { return f.Rule == "clock-untrusted" }) {
				t.Errorf("nobody is told that a sandbox is dated ahead: %v", told)
			}
			time.Sleep(time.Minute)
		}
		if s.state("sb-ahead") == reconcile.SandboxEnded {
			t.Error("a sandbox was ended within 4m of its birth")
		}
		for range 4 {
			s.once()
			time.Sleep(time.Minute)
		}
		if s.state("sb-ahead") != reconcile.SandboxEnded {
			t.Error("an orphan that is dated in the future is never ended")
		}
	})
}

// Where the provider's clock is behind, a sandbox of somebody else's seems younger than the row that names it.
func TestProviderClockBehindProvesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		behind := func() time.Time { return time.Now().Add(-2 * time.Hour) }
		s := openedIn(t, simulated.Options{Now: behind})
		p := s.policy.Providers[lab]
		p.Referenced = true
		s.policy.Providers[lab] = p
		s.cloud.Put(simulated.Sandbox{ID: "sb-x", CreatedAt: ago(2 * time.Hour)})
		s.table.put(row{Task: reconcile.Task{ID: "x", Sandbox: "sb-x", State: reconcile.TaskAssigned,
			CreatedAt: ago(time.Hour), AssignedAt: ago(time.Hour), UpdatedAt: ago(time.Hour)}})
		for range 6 {
			s.once()
			time.Sleep(time.Minute)
		}
		if s.state("sb-x") == reconcile.SandboxEnded {
			t.Error("a sandbox that is older than its only row was ended")
		}
	})
}

// A clock that is right when a listing begins and an hour ahead by its end makes nothing older either, and is told of.
func TestProviderClockThatJumps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		asked, jumps := 0, false
		jumping := func() time.Time {
			if asked++; jumps && asked > 2 {
				return time.Now().Add(time.Hour)
			}
			return time.Now()
		}
		s := openedIn(t, simulated.Options{Now: jumping})
		jumps = true
		s.cloud.Put(simulated.Sandbox{ID: "sb-new", CreatedAt: time.Now(), Labels: map[string]string{"app": "ours"}})
		for range 4 {
			asked = 0
			sources := s.once().Sources
			if !slices.ContainsFunc(sources, func(seen reconcile.SourceSeen) bool {
				return seen.Name == reconcile.ProviderClockOf(lab) && !seen.Trusted && seen.Reason.String() == "1h ahead of our own clock"
			}) {
				t.Errorf("the clock of the provider is not told: %+v", sources)
			}
			time.Sleep(time.Minute)
		}
		if s.state("sb-new") == reconcile.SandboxEnded {
			t.Error("a sandbox was ended within 4m of its birth")
		}
	})
}
