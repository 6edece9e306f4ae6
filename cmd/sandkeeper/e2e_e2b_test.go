package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/e2b/e2btest"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// An e2bArena is an arena whose sandboxes are at E2B: pauses that last, and a proxy that
// wakes what is called.
type e2bArena struct {
	*arena
	vendor *e2btest.Server
}

// e2bRules are settings under which a broken sandbox is found within a test.
var e2bRules = settings{rules: "{idle-broken: {after: 30s, failures: 2}}"}

func newE2BArena(t *testing.T, s settings) *e2bArena {
	t.Helper()
	a := &e2bArena{arena: newArena(t, s)}
	a.cloud = simulated.New(simulated.Options{IDs: e2btest.ID})
	a.cloud.PutTemplate(simulated.Template{Name: "ai-agent-dev-light", LastUsedAt: time.Now()})
	a.vendor = e2btest.New(a.cloud, e2btest.Options{Key: "e2b_key", TaskLabel: "task_id"})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, call := range []string{"/connect", "/resume", "/timeout", "/refreshes"} {
			if strings.HasSuffix(r.URL.Path, call) {
				t.Errorf("%s %s wakes a sandbox or keeps it alive", r.Method, r.URL)
			}
		}
		if r.Header.Get("E2b-Sandbox-Id") != "" && r.Header.Get("X-API-Key") != "" {
			t.Errorf("%s tells the key to a sandbox", r.URL)
		}
		a.vendor.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	a.rename(map[string]string{"name: daytona": "name: cloud", "kind: daytona": "kind: e2b", a.url: server.URL,
		"token: key": "token: e2b_key",
		"    owns:":  "    domain: sandboxes.test\n    sandbox_url: " + server.URL + "\n    team: " + e2btest.Team + "\n    owns:"})
	a.url = server.URL
	return a
}

// rename changes texts of the config.
func (a *e2bArena) rename(texts map[string]string) {
	a.Helper()
	text, err := os.ReadFile(a.config)
	if err != nil {
		a.Fatal(err)
	}
	config := string(text)
	for old, now := range texts {
		config = strings.Replace(config, old, now, 1)
	}
	if err := os.WriteFile(a.config, []byte(config), 0o600); err != nil {
		a.Fatal(err)
	}
}

// TestE2B: what is broken is repaired, and what rests or is somebody else's is left alone:
// nothing is woken by looking.
func TestE2B(t *testing.T) {
	a := newE2BArena(t, e2bRules)
	ws := a.working(6)
	broken, lost, asleep := ws[0], ws[1], ws[2]
	a.cloud.Change(broken.sandbox, func(s *simulated.Sandbox) { s.Exec, s.Files = simulated.Dead, simulated.Dead })
	a.cloud.Change(lost.sandbox, func(s *simulated.Sandbox) { s.Files = simulated.NoPath })
	a.vendor.Live(asleep.sandbox, e2btest.Lifecycle{Pauses: true, AutoResume: true}, time.Time{})
	if _, err := a.cloud.Pause(asleep.sandbox); err != nil {
		t.Fatal(err)
	}
	orphan := a.box(nobody, 10*time.Minute).ID
	paused := a.box(strings.Replace(nobody, "0000", "3333", 1), 10*time.Minute).ID
	if _, err := a.cloud.Pause(paused); err != nil {
		t.Fatal(err)
	}
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
	for w, want := range map[worker]string{broken: "port is not open", lost: "404"} {
		if status, why := a.state(w.task); status != "failed" || !strings.Contains(why, want) {
			t.Errorf("the task of a broken sandbox is %s: %s; want it failed, with %q", status, why, want)
		}
	}
	for name, id := range map[string]string{"foreign": foreign, "odd": odd} {
		if a.ended(id) {
			t.Errorf("the %s sandbox was ended", name)
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
	for _, id := range []string{asleep.sandbox, paused, odd} {
		for _, kind := range a.asked(id) {
			if kind == simulated.Exec || kind == simulated.Files {
				t.Errorf("sandbox %s does not run, and was called", id)
			}
		}
	}
}

// TestE2BListingFails: whatever fails of a listing, nothing is concluded from what it does
// not show.
func TestE2BListingFails(t *testing.T) {
	for name, fault := range map[string]simulated.Fault{
		"it broke":           {Effect: simulated.Answer, Status: 500},
		"a page of HTML":     {Effect: simulated.Answer, Status: 200, ContentType: "text/html", Body: "<html>"},
		"an empty object":    {Effect: simulated.Answer, Status: 200, Body: "{}"},
		"nothing, as a node": {Effect: simulated.EmptyList},
	} {
		t.Run(name, func(t *testing.T) {
			a := newE2BArena(t, e2bRules)
			ws := a.working(3)
			a.once(0)
			a.later(3*time.Minute, ws...)
			before := a.rows()
			a.cloud.Inject(simulated.Fault{On: simulated.List, Effect: fault.Effect, Status: fault.Status,
				ContentType: fault.ContentType, Body: fault.Body})
			if r := a.doubting(); !distrusts(r, "listing:cloud") {
				t.Errorf("sources = %+v, want the listing distrusted", r.Sources)
			}
			a.untouched(before)
			a.keeps(ws)
		})
	}
}

// TestE2BCheck: the key, its team, and the way into the sandboxes.
func TestE2BCheck(t *testing.T) {
	a := newE2BArena(t, e2bRules)
	a.must("migrate")
	a.working(1)
	out := a.must("check")
	for _, want := range []string{"the key is accepted", "the key is of team " + e2btest.Team, "1 sandboxes, 1 owned",
		"the daemon of sandbox i"} {
		if !strings.Contains(out, want) {
			t.Errorf("check = %s, want %q", out, want)
		}
	}
	for wrong, want := range map[[2]string]string{
		{"team: " + e2btest.Team, "team: another"}:                      "set token: to a key of the team in team:",
		{"token: e2b_key", "token: e2b_wrong"}:                          "create an API key in the team's settings",
		{"sandbox_url: " + a.url, "sandbox_url: " + a.url + "/nowhere"}: "see that domain: and sandbox_url: lead to the sandboxes",
		{"link: {task_label: task_id}", "link: {sandbox: name}"}:        "have no names",
	} {
		a.rename(map[string]string{wrong[0]: wrong[1]})
		if code, out, errs := a.run("check"); code == 0 || !strings.Contains(out+errs, want) {
			t.Errorf("check with %s: exit code %d, %s%s; want %q", wrong[1], code, out, errs, want)
		}
		a.rename(map[string]string{wrong[1]: wrong[0]})
	}
}
