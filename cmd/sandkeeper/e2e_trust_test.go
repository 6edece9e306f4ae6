package main

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/result"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
)

// tempted is a world in which somebody careless would act: an old orphan, a task whose
// sandbox is gone, a stale one.
func (a *arena) tempted(ws []worker) {
	a.Helper()
	a.box(nobody, 10*time.Minute)
	a.task(row{status: "assigned", key: "omoios-stale", created: time.Hour, updated: 4 * time.Minute})
	lost := a.task(
		row{
			status:  "running",
			key:     "omoios-lost",
			created: time.Hour,
			updated: 30 * time.Minute,
			started: 30 * time.Minute,
		},
	)
	a.event("omoios-lost", "agent.started", 30*time.Minute)
	a.event("omoios-lost", "agent.heartbeat", 3*time.Minute)
	_ = lost
}

// distrusts reports whether a pass does not trust a source, and says why.
func distrusts(r result.Pass, source string) bool {
	return slices.ContainsFunc(
		r.Sources,
		func(s result.Source) bool { return s.Name == source && !s.Trusted && s.Reason != "" },
	)
}

var badListings = map[string]struct {
	fault simulated.Fault
	ours  int  // sandboxes of ours, to fill pages
	fresh bool // also with a ledger that has nothing to compare with
	call  string
}{
	"500": {fault: simulated.Fault{Effect: simulated.Answer, Status: 500}, fresh: true},
	"403": {fault: simulated.Fault{Effect: simulated.Answer, Status: 403}},
	"429": {
		fault: simulated.Fault{Effect: simulated.Answer, Status: 429, Header: map[string]string{"Retry-After": "60"}},
	},
	"200 with HTML": {
		fault: simulated.Fault{
			Effect:      simulated.Answer,
			Status:      200,
			Body:        "<html>ok</html>",
			ContentType: "text/html",
		},
	},
	"200 with HTML as JSON":   {fault: simulated.Fault{Effect: simulated.Answer, Status: 200, Body: "<html>ok</html>"}},
	"200 with another object": {fault: simulated.Fault{Effect: simulated.Answer, Status: 200, Body: "{}"}},
	"empty list":              {fault: simulated.Fault{Effect: simulated.EmptyList}, fresh: true},
	"cut in the middle":       {fault: simulated.Fault{Effect: simulated.CutPage}, fresh: true},
	"connection drops":        {fault: simulated.Fault{Effect: simulated.Drop}},
	"hangs":                   {fault: simulated.Fault{Effect: simulated.Hang}, call: "200ms"},
	"second page fails": {
		fault: simulated.Fault{Effect: simulated.Answer, Status: 500, Page: 2},
		ours:  250,
		fresh: true,
	},
	"cursor leads back": {fault: simulated.Fault{Effect: simulated.SameCursor, Page: 1}},
	"shrunken": {
		fault: simulated.Fault{
			Effect: simulated.Omit,
			Omits:  func(s simulated.Sandbox) bool { return s.Labels["task_id"] != nobody },
		},
	},
	"labels lost": {fault: simulated.Fault{Effect: simulated.LoseLabels}, fresh: true},
}

// TestBadListingsMoveNothing: whatever a listing does, nothing is concluded from it, `once`
// exits with 1 and says which source is not trusted; also with a fresh ledger.
func TestBadListingsMoveNothing(t *testing.T) {
	t.Parallel()
	for name, tt := range badListings {
		for _, fresh := range []bool{false, true} {
			if fresh && !tt.fresh {
				continue
			}
			t.Run(name+map[bool]string{true: ", fresh ledger", false: ""}[fresh], func(t *testing.T) {
				a := newArena(t, settings{})
				ws := a.working(4)
				for range tt.ours {
					done := a.task(row{status: "completed", created: time.Hour, updated: time.Minute})
					a.box(done, time.Hour)
				}
				if !fresh {
					a.once(0)
				}
				a.tempted(ws)
				before := a.rows()
				a.configure(settings{call: tt.call}) // in which what is well has no need to answer any more
				tt.fault.On = simulated.List
				a.cloud.Inject(tt.fault)
				for range 2 {
					if r := a.doubting(); !distrusts(r, "listing:daytona") {
						t.Errorf("the listing is trusted: %+v", r.Sources)
					}
					a.untouched(before)
					a.later(70*time.Second, ws...)
					before = a.rows()
				}
				a.keeps(ws)
			})
		}
	}
}

// TestListingComesBack: once whole again, what was broken meanwhile is repaired.
func TestListingComesBack(t *testing.T) {
	a := newArena(t, settings{rules: "{orphan: {after: 30s, apart: 1s}}"})
	ws := a.working(3)
	orphan := a.box(nobody, 10*time.Minute)
	lift := a.cloud.Inject(simulated.Fault{On: simulated.List, Effect: simulated.Answer, Status: 500})
	a.once(1)
	lift()
	for range 4 {
		a.later(20*time.Second, ws...)
		a.once(0)
	}
	if !a.ended(orphan.ID) {
		t.Error("the orphan is still there")
	}
	a.keeps(ws)
}

// TestWrongLinksHarmNobody: configs and worlds in which the link between the two sides is
// wrong, lost or of somebody else.
func TestWrongLinksHarmNobody(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		settings settings
		world    func(*arena, []worker) // after the first pass, when there is one
		first    bool                   // a first, healthy pass
		distrust string                 // the source that is not trusted, "" for none
	}{
		"a typo in the link label": {settings: settings{link: "taskid"}, distrust: "link"},
		"labels lost, ours by another proof": {
			settings: settings{owns: "{name_prefix: omoios-, exclusive: true}"},
			first:    true,
			world: func(a *arena, _ []worker) {
				for _, s := range a.cloud.Sandboxes() {
					a.cloud.Change(s.ID, func(s *simulated.Sandbox) { s.Labels = nil })
				}
			},
		},
		"the task label lost, ours by label": {first: true, world: func(a *arena, _ []worker) {
			for _, s := range a.cloud.Sandboxes() {
				a.cloud.Change(s.ID, func(s *simulated.Sandbox) { s.Labels = map[string]string{"project": "omoios"} })
			}
		}},
		"the task label lost before the first pass": {world: func(a *arena, _ []worker) {
			for _, s := range a.cloud.Sandboxes() {
				a.cloud.Change(s.ID, func(s *simulated.Sandbox) { s.Labels = map[string]string{"project": "omoios"} })
			}
		}, distrust: "link"},
		"an emptied task table": {
			first:    true,
			world:    func(a *arena, _ []worker) { a.sql("DELETE FROM tasks") },
			distrust: "tasks",
		},
		"an emptied task table, fresh ledger": {world: func(a *arena, _ []worker) { a.sql("DELETE FROM tasks") },
			distrust: "tasks"},
		"another database": {first: true, world: func(a *arena, _ []worker) { a.staging(5) }, distrust: "tasks"},
		"another database with tasks of its own": {first: true, world: func(a *arena, _ []worker) {
			a.staging(3)
			for range 20 {
				a.task(row{status: "pending", created: time.Minute})
			}
		}, distrust: "tasks"},
		"a staging copy that sees production": {settings: settings{owns: "{labels: {project: omoios}}"},
			world: func(a *arena, _ []worker) { a.staging(3) }},
	}
	for name, tt := range cases {
		t.Run(name, func(t *testing.T) {
			a := newArena(t, tt.settings)
			ws := a.working(5)
			for i, s := range a.cloud.Sandboxes() {
				a.cloud.Change(s.ID, func(s *simulated.Sandbox) { s.Name = "omoios-box-" + strings.Repeat("x", i+1) })
			}
			if tt.first {
				a.once(0)
			}
			if tt.world != nil {
				tt.world(a, ws)
			}
			for range 3 {
				before := a.rows()
				_, out, errs := a.run("once", "--migrate", "-o", "json", "--wait", patience)
				r := a.report(out)
				if tt.distrust != "" && !distrusts(r, tt.distrust) {
					t.Errorf("%s is trusted: %+v\n%s", tt.distrust, r.Sources, errs)
				}
				a.untouched(before)
				a.later(70*time.Second, ws...)
			}
		})
	}
}

// staging replaces the rows by those of another environment: other tasks, at work
// elsewhere, some of them finished.
func (a *arena) staging(n int) {
	a.Helper()
	a.sql("DELETE FROM tasks")
	for range n {
		a.task(
			row{
				status:  "completed",
				key:     "omoios-staging",
				created: time.Hour,
				updated: 30 * time.Minute,
				started: time.Hour,
			},
		)
	}
}
