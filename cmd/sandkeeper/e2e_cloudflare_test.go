package main

import (
	"fmt"
	"net/http/httptest"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/cloudflare/cloudflaretest"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
)

// A cloudflareArena is an arena whose sandboxes are in Cloudflare Containers.
type cloudflareArena struct {
	*arena
	server *cloudflaretest.Server
	url    string
}

func newCloudflareArena(t *testing.T) *cloudflareArena {
	t.Helper()
	a := &cloudflareArena{arena: newArena(t, settings{rules: "{idle-broken: {after: 30s, failures: 2}}"})}
	a.server = cloudflaretest.New(a.cloud, cloudflaretest.Options{})
	server := httptest.NewServer(a.server)
	t.Cleanup(server.Close)
	a.url = server.URL
	a.configureHalves("key", "worker-key")
	return a
}

// configureHalves writes the config for the halves whose credentials are given.
func (a *cloudflareArena) configureHalves(token, workerToken string) {
	a.Helper()
	keys := "kind: cloudflare\n"
	if token != "" {
		keys += fmt.Sprintf("    url: %s\n    token: %s\n    account: %q\n    application: %s\n",
			a.url+cloudflaretest.ControlPath, token, cloudflaretest.Account, cloudflaretest.Application)
	}
	if workerToken != "" {
		keys += fmt.Sprintf("    worker_url: %s\n    worker_token: %s\n", a.url+cloudflaretest.WorkerPath, workerToken)
	}
	text, err := os.ReadFile(a.config)
	if err != nil {
		a.Fatal(err)
	}
	block := regexp.MustCompile(`(?s)kind: (daytona|cloudflare)\n.*?    owns:`)
	text = block.ReplaceAll(text, []byte(keys+"    owns:"))
	text = []byte(strings.ReplaceAll(string(text), "    templates: [ai-agent-dev-light]\n", ""))
	if err := os.WriteFile(a.config, text, 0o600); err != nil {
		a.Fatal(err)
	}
}

// TestCloudflare: what is wrong in both halves is found by joining them, and repaired at the
// Worker; what is well, foreign or not known stays.
func TestCloudflare(t *testing.T) {
	a := newCloudflareArena(t)
	ws := a.working(5)
	broken := ws[0]
	a.cloud.Change(broken.sandbox, func(s *simulated.Sandbox) { s.Exec = simulated.Dead })
	orphan := a.box(nobody, 10*time.Minute).ID
	stopped := a.box(a.task(row{status: "cancelled", key: "omoios-stopped", created: time.Hour, updated: time.Minute}),
		time.Hour).ID
	hollow := a.box(a.task(row{status: "completed", key: "omoios-hollow", created: time.Hour, updated: time.Minute}),
		time.Hour).ID
	a.cloud.Change(hollow, func(s *simulated.Sandbox) { s.NoContainer = true })
	asleep := a.box(a.task(row{status: "completed", key: "omoios-asleep", created: time.Hour, updated: time.Minute}),
		time.Hour).ID
	a.cloud.Change(asleep, func(s *simulated.Sandbox) { s.State = "suspended" })
	unrecorded := a.box(newUUID(), time.Hour).ID
	a.server.Forget(unrecorded)
	foreign := a.cloud.Put(simulated.Sandbox{CreatedAt: time.Now().Add(-time.Hour),
		Labels: map[string]string{"task_id": nobody}}).ID

	a.once(0)
	if a.ended(orphan) || a.ended(hollow) {
		t.Error("one look was enough for an orphan, or for a record without a container")
	}
	var found []string
	for range 3 {
		a.later(61*time.Second, ws...)
		for _, f := range a.once(0).Findings {
			found = append(found, string(f.Rule)+" "+f.Sandbox)
		}
	}
	for id, want := range map[string]string{orphan: "orphan", hollow: "record-without-container",
		broken.sandbox: "idle-broken"} {
		if !a.ended(id) || !strings.Contains(strings.Join(found, "\n"), want+" "+id) {
			t.Errorf("sandbox %s of %s: ended %t; found %v", id, want, a.ended(id), found)
		}
	}
	if !a.ended(stopped) {
		t.Error("the sandbox of the stopped task lives on")
	}
	if status, why := a.state(broken.task); status != "failed" {
		t.Errorf("the task in the broken sandbox is %s: %s", status, why)
	}
	for name, id := range map[string]string{"sleeping": asleep, "unrecorded": unrecorded, "foreign": foreign} {
		if a.ended(id) {
			t.Errorf("the %s sandbox was ended", name)
		}
	}
	a.keeps(ws[1:])
}

// TestCloudflareInTheDark: a half that cannot be read proves nothing, and nothing is ended for
// the want of it.
func TestCloudflareInTheDark(t *testing.T) {
	for name, tt := range map[string]struct {
		token, workerToken string
		fault              simulated.Fault
	}{
		"listings fail":                       {"key", "worker-key", simulated.Fault{On: simulated.List, Effect: simulated.Answer}},
		"the control plane refuses its token": {"revoked", "worker-key", simulated.Fault{On: simulated.Label}},
		"the Worker refuses its token":        {"key", "revoked", simulated.Fault{On: simulated.Label}},
	} {
		t.Run(name, func(t *testing.T) {
			a := newCloudflareArena(t)
			ws := a.working(4)
			a.box(nobody, 10*time.Minute)
			a.once(0)
			lost := ws[3]
			a.cloud.Change(lost.sandbox, func(s *simulated.Sandbox) { s.NoContainer = true })
			a.configureHalves(tt.token, tt.workerToken)
			a.cloud.Inject(tt.fault)
			var before map[string]string
			for range 2 {
				a.later(61*time.Second, ws...)
				before = a.rows()
				if r := a.doubting(); !distrusts(r, "listing:daytona") {
					t.Errorf("sources = %+v, want it not trusted, and why", r.Sources)
				}
			}
			a.untouched(before)
		})
	}
}

// TestCloudflareCheck: check says which half is configured, and what mends it.
func TestCloudflareCheck(t *testing.T) {
	a := newCloudflareArena(t)
	a.must("migrate")
	for name, tt := range map[string]struct {
		token, workerToken string
		want               []string
		code               int
	}{
		"both":              {"key", "worker-key", []string{"control plane and Worker", "a call without it is refused"}, 0},
		"the control plane": {"key", "", []string{"control plane alone: containers are seen, nothing is ended or probed"}, 0},
		"the Worker":        {"", "worker-key", []string{"Worker alone"}, 0},
		"a wrong token":     {"wrong", "worker-key", []string{"Workers Containers Read"}, 1},
		"a wrong secret":    {"key", "wrong", []string{"set worker_token:"}, 1},
	} {
		a.configureHalves(tt.token, tt.workerToken)
		code, out, errs := a.run("check")
		for _, want := range tt.want {
			if code != tt.code || !strings.Contains(out, want) {
				t.Errorf("check with %s = %d, want %d and %q:\n%s%s", name, code, tt.code, want, out, errs)
			}
		}
	}
}
