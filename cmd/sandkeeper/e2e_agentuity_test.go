package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/agentuity/agentuitytest"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// An agentuityArena is an arena whose sandboxes are at Agentuity, in two regions, named like
// the key in their task's row: each has one.
type agentuityArena struct{ *arena }

func newAgentuityArena(t *testing.T, s settings) *agentuityArena {
	t.Helper()
	s.owns, s.link = "{name_prefix: omoios-, exclusive: true}", "-"
	if s.probe == "" { // rarer than the sandboxes' idle time-out
		s.probe = `{exec: "true", path: "/", every: 30m, timeout: 20s, budget: 1000/m}`
	}
	a := &agentuityArena{newArena(t, s)}
	a.cloud = simulated.New(simulated.Options{IDs: agentuitytest.IDs})
	a.cloud.PutTemplate(simulated.Template{Name: "ai-agent-dev-light", LastUsedAt: time.Now()})
	server := httptest.NewServer(agentuitytest.New(a.cloud, agentuitytest.Options{Regions: []string{"usc", "usw"}}))
	t.Cleanup(server.Close)
	text, err := os.ReadFile(a.config)
	if err != nil {
		t.Fatal(err)
	}
	config := strings.NewReplacer("name: daytona", "name: cloud", "kind: daytona", "kind: agentuity", a.url, server.URL,
		"    owns:", "    org: org_1\n    catalyst: \""+server.URL+"/{region}\"\n    owns:", "{task_label: -}", "{sandbox: name, required: true}").
		Replace(string(text))
	a.url = server.URL
	if err := os.WriteFile(a.config, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return a
}

// working puts n healthy tasks at work, in both regions.
func (a *agentuityArena) working(n int) []worker {
	a.Helper()
	ws := a.arena.working(n)
	for i, w := range ws {
		a.cloud.Change(w.sandbox, func(s *simulated.Sandbox) {
			s.Name, s.Labels = w.key, nil
			if i%2 == 1 {
				s.Region = "usw"
			}
		})
	}
	return ws
}

// left puts a sandbox into the cloud that has been there for a while.
func (a *agentuityArena) left(name string, s simulated.Sandbox) string {
	s.Name, s.CreatedAt, s.Template = name, time.Now().Add(-10*time.Minute), "ai-agent-dev-light"
	return a.cloud.Put(s).ID
}

// deadly is a schedule of rules under which a test need not wait long.
const deadly = "{idle-broken: {after: 30s, failures: 2}, executions-stuck: {after: 1m}}"

// TestAgentuity: what is broken as in agentuity/sdk#1350 is found and repaired, in either
// region; what only looks odd is left alone, and what rests is not woken.
func TestAgentuity(t *testing.T) {
	a := newAgentuityArena(t, settings{rules: deadly})
	ws := a.working(8)
	broken, busy, paused, forgot := ws[0], ws[1], ws[2], ws[3]
	a.cloud.Change(broken.sandbox, func(s *simulated.Sandbox) { s.Exec, s.Files = simulated.Dead, simulated.Lost })
	a.cloud.Change(busy.sandbox, func(s *simulated.Sandbox) { s.Running = 1 })
	a.cloud.Change(paused.sandbox, func(s *simulated.Sandbox) { s.State = reconcile.SandboxSuspended })
	a.cloud.Change(forgot.sandbox, func(s *simulated.Sandbox) { s.Queued = []time.Time{time.Now().Add(-20 * time.Minute)} })
	orphan := a.left("omoios-left-behind", simulated.Sandbox{Region: "usw"})
	foreign := a.left("theirs", simulated.Sandbox{})
	odd := a.left("omoios-odd", simulated.Sandbox{Raw: "evacuating"})
	a.task(row{status: "cancelled", key: "omoios-cancelled", created: time.Hour, updated: time.Minute})
	ignored := a.left("omoios-cancelled", simulated.Sandbox{Region: "usw"})
	lost := a.lost()

	a.once(0)
	if !a.ended(ignored) || a.ended(orphan) {
		t.Errorf("after a pass the sandbox of a cancelled task is ended %t, the orphan %t; want only the former",
			a.ended(ignored), a.ended(orphan))
	}
	for range 3 {
		a.later(61*time.Second, ws...)
		a.once(0)
	}
	if !a.ended(orphan) || !a.ended(broken.sandbox) {
		t.Errorf("later the orphan is ended %t, the broken one %t; want both", a.ended(orphan), a.ended(broken.sandbox))
	}
	if status, why := a.state(broken.task); status != "failed" || !strings.Contains(why, "500") ||
		!strings.Contains(why, "cow-merged") {
		t.Errorf("the task of the broken sandbox is %s: %s; want it failed, with what the probe met", status, why)
	}
	if status, why := a.state(lost); status != "failed" {
		t.Errorf("the task whose sandbox is gone is %s: %s; want it failed", status, why)
	}
	a.keeps(ws[1:])
	for name, id := range map[string]string{"foreign": foreign, "odd": odd} {
		if a.ended(id) {
			t.Errorf("the %s sandbox was ended", name)
		}
	}
	a.restsStill(paused.sandbox, odd, foreign)
	if b, _ := a.cloud.Sandbox(broken.sandbox); len(b.Queued) > 8 {
		t.Errorf("probes left %d commands in the broken sandbox", len(b.Queued))
	}
}

// lost is a task whose sandbox the provider has ended.
func (a *agentuityArena) lost() string {
	a.Helper()
	id := a.task(row{status: "running", key: "omoios-lost", created: time.Hour, updated: 30 * time.Minute,
		started: 30 * time.Minute})
	a.event("omoios-lost", "agent.started", 30*time.Minute)
	a.event("omoios-lost", "agent.heartbeat", 80*time.Second)
	box := a.left("omoios-lost", simulated.Sandbox{})
	a.cloud.Change(box, func(s *simulated.Sandbox) { s.Gone, s.State = true, reconcile.SandboxEnded })
	return id
}

// restsStill demands that nothing was asked of what is inside these.
func (a *agentuityArena) restsStill(ids ...string) {
	a.Helper()
	for _, id := range ids {
		for _, kind := range a.asked(id) {
			if kind != simulated.Get {
				a.Errorf("%s was asked for %s", id, kind)
			}
		}
	}
	if b, _ := a.cloud.Sandbox(ids[0]); b.State != reconcile.SandboxSuspended {
		a.Errorf("the paused sandbox is %s", b.State)
	}
}

// TestAgentuityQueue: what a sandbox was asked to run stays queued while it says idle.
func TestAgentuityQueue(t *testing.T) {
	a := newAgentuityArena(t, settings{rules: "{idle-broken: off, executions-stuck: {after: 1m}}",
		probe: `{path: "/", exec: "", every: 10m, timeout: 20s, budget: 1000/m}`})
	ws := a.working(4)
	a.cloud.Change(ws[0].sandbox, func(s *simulated.Sandbox) { s.Queued = []time.Time{time.Now()} })
	a.once(0)
	if status, why := a.state(ws[0].task); status != "running" {
		t.Fatalf("the task is %s at the first look: %s", status, why)
	}
	for range 3 {
		a.laterQueued(61*time.Second, ws...)
		a.once(0)
	}
	if status, why := a.state(ws[0].task); status != "failed" || !strings.Contains(why, "queued") || !a.ended(ws[0].sandbox) {
		t.Errorf("the task is %s: %s, its sandbox ended %t; want it failed, and ended", status, why, a.ended(ws[0].sandbox))
	}
	a.keeps(ws[1:])
}

// laterQueued lets time pass for what is queued, and for what the ledger measured, as well.
func (a *agentuityArena) laterQueued(d time.Duration, alive ...worker) {
	a.Helper()
	a.later(d, alive...)
	a.sql(`UPDATE sandkeeper.sandboxes SET vitals = (
			SELECT jsonb_agg(jsonb_set(v, '{at}', to_jsonb((v->>'at')::timestamptz - $1::interval)) ORDER BY n)
			FROM jsonb_array_elements(vitals) WITH ORDINALITY AS e (v, n))
		WHERE jsonb_typeof(vitals) = 'array' AND vitals <> '[]'`, ago(d))
	for _, s := range a.cloud.Sandboxes() {
		a.cloud.Change(s.ID, func(s *simulated.Sandbox) {
			queued := make([]time.Time, len(s.Queued))
			for i, at := range s.Queued {
				queued[i] = at.Add(-d)
			}
			s.Queued = queued
		})
	}
}

// TestAgentuityEverywhereBroken: a platform that fails for all convicts nobody.
func TestAgentuityEverywhereBroken(t *testing.T) {
	a := newAgentuityArena(t, settings{rules: deadly})
	ws := a.working(4)
	a.once(0)
	for _, w := range ws {
		a.cloud.Change(w.sandbox, func(s *simulated.Sandbox) { s.Exec, s.Files = simulated.Dead, simulated.Dead })
	}
	for range 4 {
		a.later(61*time.Second, ws...)
		before := a.rows()
		a.run("once", "-o", "json", "--wait", patience)
		a.untouched(before)
	}
	a.keeps(ws)
}

// TestAgentuityRegionThatFails: while one region cannot be listed, nobody concludes that the
// sandboxes there are gone.
func TestAgentuityRegionThatFails(t *testing.T) {
	a := newAgentuityArena(t, settings{})
	ws := a.working(6)
	a.once(0)
	lift := a.cloud.Inject(simulated.Fault{On: simulated.List, ID: "usw", Effect: simulated.Answer,
		Status: http.StatusInternalServerError})
	a.cloud.ResetCalls()
	for range 3 {
		a.later(61*time.Second, ws...)
		before := a.rows()
		_, out, _ := a.run("once", "-o", "json", "--wait", patience)
		if !distrusts(a.report(out), "listing:cloud") {
			t.Errorf("the listing is trusted without usw: %s", out)
		}
		a.untouched(before)
	}
	lift()
	orphan := a.left("omoios-left-behind", simulated.Sandbox{Region: "usw"})
	for range 8 { // an outage does not count as time in which nobody explained it
		a.later(61*time.Second, ws...)
		a.once(0)
	}
	if !a.ended(orphan) {
		t.Error("the orphan lives on when all regions are listed again")
	}
	a.keeps(ws)
}

// TestAgentuityCheck: one line each, with what mends it.
func TestAgentuityCheck(t *testing.T) {
	for name, tt := range map[string]struct {
		settings settings
		world    func(*agentuityArena)
		code     int
		want     []string
	}{
		"all is well": {settings{}, nil, 0, []string{"ok    provider cloud: credential: accepted", "regions: usc, usw",
			"listing usc: first page: 2 sandboxes, 2 owned", "listing usw: first page: 1 sandboxes, 1 owned",
			"totals: the organization counts 3 active sandboxes", "template ai-agent-dev-light: active"}},
		"probes keep sandboxes alive": {settings{probe: `{exec: "true", path: "/", every: 10m, timeout: 1s, budget: 1000/m}`}, nil, 0,
			[]string{"warn  provider cloud: probes", "let probe.every be longer"}},
		"a wrong key": {settings{token: "other"}, nil, 1, []string{"FAIL  provider cloud: credential", "create an SDK key"}},
		"a region is down": {settings{}, func(a *agentuityArena) {
			a.cloud.Inject(simulated.Fault{On: simulated.List, ID: "usw", Effect: simulated.Answer, Status: 500})
		}, 1, []string{"FAIL  provider cloud: listing usw"}},
		"a template that is not there": {settings{}, func(a *agentuityArena) { a.cloud.RemoveTemplate("ai-agent-dev-light") }, 1,
			[]string{"FAIL  provider cloud: template ai-agent-dev-light: is not there"}},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAgentuityArena(t, tt.settings)
			a.working(3)
			a.must("migrate")
			if tt.world != nil {
				tt.world(a)
			}
			code, out, errs := a.run("check")
			if code != tt.code {
				t.Errorf("exit code %d, want %d\n%s%s", code, tt.code, out, errs)
			}
			for _, want := range tt.want {
				if !strings.Contains(out, want) {
					t.Errorf("no line says %q:\n%s", want, out)
				}
			}
		})
	}
}
