package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/providers/vercel/verceltest"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A vercelArena is an arena whose sandboxes are at Vercel: names, and sessions behind them.
type vercelArena struct{ *arena }

func newVercelArena(t *testing.T, link string) *vercelArena {
	t.Helper()
	a := &vercelArena{newArena(t, settings{rules: "{idle-broken: {after: 30s, failures: 2}}"})}
	a.cloud = simulated.New(simulated.Options{IDs: verceltest.ID})
	a.cloud.PutTemplate(simulated.Template{Name: "ai-agent-dev-light", LastUsedAt: time.Now()})
	vendor := verceltest.New(a.cloud, verceltest.Options{TaskLabel: "task_id"})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("resume") == "true" || strings.HasSuffix(r.URL.Path, "/extend-timeout") {
			t.Errorf("%s %s starts or keeps a machine", r.Method, r.URL)
		}
		vendor.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	text, err := os.ReadFile(a.config)
	if err != nil {
		t.Fatal(err)
	}
	config := strings.NewReplacer("name: daytona", "name: cloud", "kind: daytona", "kind: vercel", a.url, server.URL,
		"    owns:", "    team: team_1\n    project: prj_1\n    owns:", "{task_label: task_id}", link).Replace(string(text))
	a.url = server.URL
	if err := os.WriteFile(a.config, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return a
}

// session puts a session of a name into the cloud, for a task.
func (a *vercelArena) session(name, task string, s simulated.Sandbox) string {
	s.Name, s.Labels = name, map[string]string{"project": "omoios", "task_id": task}
	return a.cloud.Put(s).ID
}

// TestVercel: what is broken is repaired by the session, and what only looks odd, because
// names outlive machines, is left alone.
func TestVercel(t *testing.T) {
	a := newVercelArena(t, "{task_label: task_id}")
	ws := a.working(5)
	broken, resumed := ws[0], ws[1]
	a.cloud.Change(broken.sandbox, func(s *simulated.Sandbox) { s.Exec = simulated.Dead })
	former := a.session(resumed.sandbox, resumed.task, simulated.Sandbox{CreatedAt: time.Now().Add(-time.Hour)})
	if _, err := a.cloud.Destroy(former); err != nil {
		t.Fatal(err)
	}
	orphan := a.session("left-behind", nobody, simulated.Sandbox{CreatedAt: time.Now().Add(-10 * time.Minute)})
	asleep := a.session("saved", nobody, simulated.Sandbox{State: reconcile.SandboxStopped,
		CreatedAt: time.Now().Add(-100 * time.Hour)})
	cancelled := a.task(row{status: "cancelled", key: "omoios-cancelled", created: time.Hour, updated: time.Minute})
	ignored := a.box(cancelled, 10*time.Minute).ID
	foreign := a.cloud.Put(simulated.Sandbox{Name: "theirs", CreatedAt: time.Now().Add(-time.Hour),
		Labels: map[string]string{"task_id": nobody}}).ID
	odd := a.session("odd", strings.Replace(nobody, "0000", "2222", 1), simulated.Sandbox{Raw: "hibernating",
		CreatedAt: time.Now().Add(-time.Hour), UpdatedAt: time.Now()})
	lost := a.task(row{status: "running", key: "omoios-lost", created: time.Hour, updated: 30 * time.Minute,
		started: 30 * time.Minute})
	a.event("omoios-lost", "agent.started", 30*time.Minute)
	a.event("omoios-lost", "agent.heartbeat", 80*time.Second)
	a.session("task-lost", lost, simulated.Sandbox{State: reconcile.SandboxStopped,
		CreatedAt: time.Now().Add(-31 * time.Minute)})

	a.once(0)
	if !a.ended(ignored) || a.ended(orphan) {
		t.Errorf("after a pass the sandbox of a cancelled task is ended %t, the orphan %t; want only the former",
			a.ended(ignored), a.ended(orphan))
	}
	for range 2 {
		a.later(61*time.Second, ws...)
		a.once(0)
	}
	if !a.ended(orphan) || !a.ended(broken.sandbox) {
		t.Errorf("later the orphan is ended %t, the broken one %t; want both", a.ended(orphan), a.ended(broken.sandbox))
	}
	if status, why := a.state(broken.task); status != "failed" || !strings.Contains(why, "502") {
		t.Errorf("the task of the broken sandbox is %s: %s; want it failed, with what the probe met", status, why)
	}
	if status, why := a.state(lost); status != "failed" {
		t.Errorf("the task whose session is over is %s: %s; want it failed", status, why)
	}
	for name, id := range map[string]string{"saved": asleep, "foreign": foreign, "odd": odd} {
		if a.ended(id) {
			t.Errorf("the %s sandbox was ended", name)
		}
	}
	a.keeps(ws[1:])
	for _, c := range a.cloud.Destructive() {
		if c.ID != orphan && c.ID != broken.sandbox && c.ID != ignored {
			t.Errorf("it was asked for %+v", c)
		}
	}
	if _, out, _ := a.run("explain", broken.sandbox); !strings.Contains(out, "502") {
		t.Errorf("explain of the broken session = %s", out)
	}
}

// TestVercelNamesInRows: rows hold the name, of either generation; a session that is over is
// looked for, and one that was resumed is found.
func TestVercelNamesInRows(t *testing.T) {
	a := newVercelArena(t, "{sandbox: name}")
	former := verceltest.ID(1000)
	at := map[string]string{} // the sessions by what rows hold
	tasks := map[string]string{}
	for _, name := range []string{"task-1", former} {
		tasks[name] = a.task(row{status: "running", key: name, created: time.Hour, updated: 30 * time.Minute,
			started: 30 * time.Minute})
		at[name] = a.session(name, nobody, simulated.Sandbox{CreatedAt: time.Now().Add(-30 * time.Minute)})
		a.event(name, "agent.started", 30*time.Minute)
		a.event(name, "agent.tool_use", 20*time.Second)
		a.event(name, "agent.heartbeat", time.Second)
	}
	for range 3 {
		a.once(0)
		a.later(61 * time.Second)
		for name := range tasks {
			a.event(name, "agent.tool_use", 20*time.Second)
			a.event(name, "agent.heartbeat", time.Second)
		}
	}
	for name, id := range at {
		if status, why := a.state(tasks[name]); status != "running" || a.ended(id) {
			t.Errorf("the task of %s is %s: %s, its session ended %t; want both alive", name, status, why, a.ended(id))
		}
	}
	if n := len(a.cloud.Destructive()); n != 0 {
		t.Errorf("%d sessions were ended, want none", n)
	}
}

// TestVercelListingFails: whatever part of a listing fails, nothing is concluded from what
// it does not show.
func TestVercelListingFails(t *testing.T) {
	for name, skip := range map[string]int{"all of it": 0, "what stops": 1, "what changed lately": 2} {
		t.Run(name, func(t *testing.T) {
			a := newVercelArena(t, "{task_label: task_id}")
			ws := a.working(3)
			a.once(0)
			a.cloud.Change(ws[0].sandbox, func(s *simulated.Sandbox) { s.Gone, s.State = true, reconcile.SandboxEnded })
			a.later(3*time.Minute, ws[1:]...)
			before := a.rows()
			a.cloud.Inject(simulated.Fault{On: simulated.List, Skip: skip, Effect: simulated.Answer, Status: 500})
			if r := a.doubting(); !distrusts(r, "listing:cloud") {
				t.Errorf("sources = %+v, want the listing distrusted", r.Sources)
			}
			for id, text := range before {
				if a.rows()[id] != text && id != ws[0].task {
					t.Errorf("the row of task %s was changed", id)
				}
			}
			if n := len(a.cloud.Destructive()); n != 0 {
				t.Errorf("%d sessions were ended, want none", n)
			}
		})
	}
}

// TestVercelCheck: the credential, the team, the project.
func TestVercelCheck(t *testing.T) {
	a := newVercelArena(t, "{sandbox: name}")
	a.must("migrate")
	out := a.must("check")
	for _, want := range []string{"may list project prj_1", "an access token", "rows hold names", "stops the session"} {
		if !strings.Contains(out, want) {
			t.Errorf("check = %s, want %q", out, want)
		}
	}
	text, err := os.ReadFile(a.config)
	if err != nil {
		t.Fatal(err)
	}
	for wrong, want := range map[[2]string]string{
		{"project: prj_1", "project: prj_2"}:                         "Project not found",
		{"token: key", "token: wrong-key"}:                           "create an access token",
		{"project: prj_1", "project: prj_1\n    terminate: nothing"}: "neither session nor record",
	} {
		config := strings.Replace(string(text), wrong[0], wrong[1], 1)
		if err := os.WriteFile(a.config, []byte(config), 0o600); err != nil {
			t.Fatal(err)
		}
		if code, out, errs := a.run("check"); code == 0 || !strings.Contains(out+errs, want) {
			t.Errorf("check with %s: exit code %d, %s%s; want %q", wrong[1], code, out, errs, want)
		}
	}
}
