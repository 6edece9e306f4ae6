package main

import (
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/docker/dockertest"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// newDockerArena is an arena whose sandboxes are containers of an engine, behind its socket.
func newDockerArena(t *testing.T, podman bool) *arena {
	t.Helper()
	a := newArena(t, settings{rules: "{idle-broken: {after: 30s, failures: 2}}"})
	a.cloud = simulated.New(simulated.Options{IDs: dockertest.IDs})
	a.cloud.PutTemplate(simulated.Template{Name: "ai-agent-dev-light", LastUsedAt: time.Now()})
	folder, err := os.MkdirTemp("", "engine") // short: a socket's path may have 100 letters
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", filepath.Join(folder, "s"))
	if err != nil {
		t.Fatal(err)
	}
	server := &httptest.Server{Listener: l, Config: &http.Server{
		Handler: dockertest.New(a.cloud, dockertest.Options{Podman: podman, TaskLabel: "task_id"})}}
	server.Start()
	t.Cleanup(server.Close)
	text, err := os.ReadFile(a.config)
	if err != nil {
		t.Fatal(err)
	}
	config := strings.NewReplacer("kind: daytona", "kind: docker", "name: daytona", "name: engine", a.url,
		"unix://"+filepath.Join(folder, "s"), "    token: key\n", "").Replace(string(text))
	if err := os.WriteFile(a.config, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return a
}

// TestDocker: what is broken is repaired, and what is paused, foreign, or in a state that
// nobody knows is left alone.
func TestDocker(t *testing.T) {
	for name, podman := range map[string]bool{"docker": false, "podman": true} {
		t.Run(name, func(t *testing.T) {
			a := newDockerArena(t, podman)
			ws := a.working(6)
			broken, lost, asleep := ws[0], ws[1], ws[2]
			a.cloud.Change(broken.sandbox, func(s *simulated.Sandbox) { s.Exec, s.Files = simulated.Dead, simulated.Dead })
			a.cloud.Change(lost.sandbox, func(s *simulated.Sandbox) { s.Files = simulated.NoPath })
			a.cloud.Change(asleep.sandbox, func(s *simulated.Sandbox) { s.State = reconcile.SandboxSuspended })
			orphan := a.box(nobody, 10*time.Minute).ID
			ignored := a.stopped(time.Minute).ID
			foreign := a.cloud.Put(simulated.Sandbox{CreatedAt: time.Now().Add(-time.Hour),
				Labels: map[string]string{"project": "research", "task_id": nobody}}).ID
			odd := a.cloud.Put(simulated.Sandbox{Raw: "hibernating", CreatedAt: time.Now().Add(-time.Hour),
				Labels: map[string]string{"project": "omoios", "task_id": strings.Replace(nobody, "0000", "2222", 1)}}).ID
			a.once(0)
			if !a.ended(ignored) || a.ended(orphan) {
				t.Errorf("after a pass the sandbox of a cancelled task is ended %t, the orphan %t; want only the former",
					a.ended(ignored), a.ended(orphan))
			}
			for range 3 {
				a.later(61*time.Second, ws...)
				a.once(0)
			}
			for name, id := range map[string]string{"orphan": orphan, "dead": broken.sandbox, "empty": lost.sandbox} {
				if !a.ended(id) {
					t.Errorf("later the %s sandbox lives on", name)
				}
			}
			for w, want := range map[worker]string{broken: "/bin/sh: no such file", lost: "can't cd to /"} {
				if status, why := a.state(w.task); status != "failed" || !strings.Contains(why, want) {
					t.Errorf("the task of a broken sandbox is %s: %s; want it failed, with %q", status, why, want)
				}
			}
			if now, _ := a.cloud.Sandbox(asleep.sandbox); now.State != reconcile.SandboxSuspended {
				t.Errorf("the paused sandbox of a task is %s, want it paused still", now.State)
			}
			a.keeps(ws[2:])
			for _, c := range a.cloud.Destructive() {
				if c.Kind != simulated.Delete || c.ID == foreign || c.ID == odd || c.ID == asleep.sandbox {
					t.Errorf("it was asked for %+v", c)
				}
			}
		})
	}
}

// TestDockerListingFails: whatever fails of a listing, nothing is concluded from what it
// does not show.
func TestDockerListingFails(t *testing.T) {
	for name, fault := range map[string]simulated.Fault{
		"it broke":       {Effect: simulated.Answer, Status: 500},
		"a page of HTML": {Effect: simulated.Answer, Status: 200, ContentType: "text/html", Body: "<html>"},
		"no list":        {Effect: simulated.Answer, Status: 200, Body: "null"},
		"cut in two":     {Effect: simulated.CutPage},
		"nothing":        {Effect: simulated.EmptyList},
	} {
		t.Run(name, func(t *testing.T) {
			a := newDockerArena(t, false)
			ws := a.working(3)
			orphan := a.box(nobody, 10*time.Minute).ID
			a.once(0)
			fault.On = simulated.List
			a.cloud.Inject(fault)
			before := a.rows()
			for range 3 {
				a.later(61*time.Second, ws...)
				_, _, _ = a.run("once", "-o", "json", "--wait", patience)
			}
			for id, row := range a.rows() {
				if before[id] == "" || !strings.Contains(row, `"running"`) {
					t.Errorf("a row was changed: %s", row)
				}
			}
			if a.ended(orphan) || len(a.cloud.Destructive()) != 0 {
				t.Errorf("an end was asked for without a listing: %v", a.cloud.Destructive())
			}
			a.keeps(ws)
		})
	}
}

// TestDockerIsChecked: a socket that answers, one that is not there, and one of something
// else.
func TestDockerIsChecked(t *testing.T) {
	a := newDockerArena(t, false)
	a.must("migrate")
	out := a.must("check")
	for _, want := range []string{"engine: Docker 28.5.2, API 1.51, spoken as 1.51", "listing: first page: 0 sandboxes"} {
		if !strings.Contains(out, want) {
			t.Errorf("check does not say %q:\n%s", want, out)
		}
	}
	a.cloud.Inject(simulated.Fault{Effect: simulated.Answer, Status: 403})
	if code, out, _ := a.run("check"); code == 0 || !strings.Contains(out, "read and write the socket") {
		t.Errorf("check of a refusal: exit code %d\n%s", code, out)
	}
	text, err := os.ReadFile(a.config)
	if err != nil {
		t.Fatal(err)
	}
	config := strings.Replace(string(text), "/s\"", "/none\"", 1)
	if err := os.WriteFile(a.config, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, out, _ := a.run("check"); code == 0 || !strings.Contains(out, "none") || !strings.Contains(out, "fix:") {
		t.Errorf("check without a socket: exit code %d\n%s", code, out)
	}
}
