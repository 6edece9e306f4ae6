package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/result"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
)

// lastActivity are the provider's own clocks of activity.
func (a *arena) lastActivity() map[string]time.Time {
	out := map[string]time.Time{}
	for _, s := range a.cloud.Sandboxes() {
		out[s.ID] = s.LastActivityAt
	}
	return out
}

// brokenInside are the ways in which a started sandbox does not work, and what the reason
// on the row has to say.
var brokenInside = map[string]struct {
	breakIt func(*arena, string)
	want    string
}{
	"exec answers 502": {func(a *arena, id string) {
		a.cloud.Change(id, func(s *simulated.Sandbox) { s.Exec = simulated.Dead })
	}, "502"},
	"exec answers 500": {func(a *arena, id string) {
		a.cloud.Inject(simulated.Fault{On: simulated.Exec, ID: id, Effect: simulated.Answer, Status: 500})
	}, "500"},
	"exec hangs": {func(a *arena, id string) {
		a.cloud.Change(id, func(s *simulated.Sandbox) { s.Exec = simulated.Hung })
	}, "no answer"},
	"no process starts": {func(a *arena, id string) {
		a.cloud.Change(id, func(s *simulated.Sandbox) { s.Exec = simulated.NoFork })
	}, "exec"},
	"files answer 404": {func(a *arena, id string) {
		a.cloud.Change(id, func(s *simulated.Sandbox) { s.Files = simulated.NoPath })
	}, "404"},
}

// TestBrokenSandboxesAreFoundByProbes: it says started, its worker's heartbeats go on, and
// a real exec or file listing fails again and again.
func TestBrokenSandboxesAreFoundByProbes(t *testing.T) {
	t.Parallel()
	for name, tt := range brokenInside {
		t.Run(name, func(t *testing.T) {
			within := "10s"
			if name == "exec hangs" {
				within = "1s"
			}
			a := newArena(t, settings{rules: "{idle-broken: {after: 30s, failures: 2}}",
				probe: `{exec: "true", path: "/", every: 10m, timeout: ` + within + `, budget: 1000/m}`})
			ws := a.working(4)
			tt.breakIt(a, ws[0].sandbox)
			a.once(0)
			a.later(31*time.Second, ws...)
			a.once(0)
			if status, why := a.state(ws[0].task); status != "running" {
				t.Fatalf("convicted by a single failed probe: %s", why)
			}
			a.later(31*time.Second, ws...)
			before := a.lastActivity()
			a.once(0)
			status, why := a.state(ws[0].task)
			if status != "failed" || !strings.Contains(why, tt.want) {
				t.Errorf("the task is %s: %s, want failed and %q", status, why, tt.want)
			}
			if !a.ended(ws[0].sandbox) {
				t.Error("the broken sandbox lives on")
			}
			a.keeps(ws[1:])
			delete(before, ws[0].sandbox)
			after := a.lastActivity()
			delete(after, ws[0].sandbox)
			if diff := cmp.Diff(before, after); diff != "" {
				t.Errorf("probes moved lastActivityAt (-before +after):\n%s", diff)
			}
		})
	}
}

// TestSameFailureEverywhereConvictsNobody: when all sandboxes fail their probe it is the
// provider's failure, and `once` says that probes are not trusted.
func TestSameFailureEverywhereConvictsNobody(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]simulated.Fault{
		"502 from all": {On: simulated.Toolbox, Effect: simulated.Answer, Status: 502},
		"500 from all": {On: simulated.Exec, Effect: simulated.Answer, Status: 500},
		"404 from all": {On: simulated.Files, Effect: simulated.Answer, Status: 404},
		"all hang":     {On: simulated.Exec, Effect: simulated.Hang},
	} {
		t.Run(name, func(t *testing.T) {
			a := newArena(t, settings{
				probe: `{exec: "true", path: "/", every: 2s, timeout: 1s, budget: 1000/m}`,
				rules: "{idle-broken: {after: 5s, failures: 2}}",
			})
			ws := a.working(5)
			a.once(0) // all answer
			a.cloud.Inject(fault)
			var r result.Pass
			for range 3 {
				a.later(10*time.Second, ws...)
				before := a.rows()
				_, out, _ := a.run("once", "-o", "json", "--wait", patience)
				r = a.report(out)
				a.untouched(before)
			}
			if !slices.ContainsFunc(
				r.Sources,
				func(s result.Source) bool { return s.Name == "probes:daytona" && !s.Trusted },
			) {
				t.Errorf("probes are trusted: %+v", r.Sources)
			}
			a.keeps(ws)
		})
	}
}

// TestDeadWorkersInSandboxesThatAnswer: a worker that dies leaves a sandbox that answers. A command that finds it
// gone settles what silence alone cannot: also where one task runs alone, and before the worker has ever spoken.
func TestDeadWorkersInSandboxesThatAnswer(t *testing.T) {
	a := newArena(t, settings{probe: `{exec: "true", path: "/", worker: "pgrep -f [w]orker", every: 8s, timeout: 5s, budget: 1000/m}`})
	alone := a.working(1)
	assigned := func(key string) worker {
		w := worker{key: key, task: a.task(row{status: "assigned", key: key, created: time.Hour, updated: 25 * time.Second})}
		w.sandbox = a.box(w.task, 25*time.Second).ID
		return w
	}
	dies, works := assigned("omoios-dies"), assigned("omoios-works")
	a.once(0)
	for _, w := range []worker{alone[0], dies} {
		if status, why := a.state(w.task); status == "failed" {
			t.Fatalf("failed while its worker is there: %s", why)
		}
		a.cloud.Change(w.sandbox, func(s *simulated.Sandbox) { s.WorkerGone = true })
	}
	a.later(95 * time.Second)
	for range 2 {
		a.later(10 * time.Second)
		a.once(0)
	}
	for w, want := range map[worker]string{alone[0]: "its worker was not running", dies: "its worker was there, and was not running"} {
		if status, why := a.state(w.task); status != "failed" || !strings.Contains(why, want) {
			t.Errorf("task of %s is %s: %s; want it failed, and %q", w.key, status, why, want)
		}
		if out := a.must("explain", w.task); !strings.Contains(out, "not running") {
			t.Errorf("explain does not say what was found:\n%s", out)
		}
	}
	if status, why := a.state(works.task); status != "assigned" {
		t.Errorf("the task whose worker is there is %s: %s", status, why)
	}
}
