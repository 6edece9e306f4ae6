package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// pushSecret is that of Daytona's endpoint, of Svix's own example.
const pushSecret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"

// seldom are passes that nobody waits for: what is found is found for another reason.
const seldom = "schedule: {quick: \"@every 24h\", full: \"@every 24h\"}\nweb: {listen: \"127.0.0.1:0\"}\nlog: {level: info}"

// pushes sends what Daytona would, signed with a secret, and returns the status of the answer.
func (d *daemonChild) pushes(secret, id string, at time.Time, body string) int {
	d.a.Helper()
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(secret, "whsec_"))
	if err != nil {
		d.a.Fatal(err)
	}
	h := hmac.New(sha256.New, key)
	fmt.Fprintf(h, "%s.%d.%s", id, at.Unix(), body)
	status, _ := programClient{d.a.T, http.DefaultClient, strings.TrimSuffix(d.url(), "/")}.ask("POST", "/push/daytona", body,
		"svix-id", id, "svix-timestamp", fmt.Sprint(at.Unix()),
		"svix-signature", "v1,"+base64.StdEncoding.EncodeToString(h.Sum(nil)))
	return status
}

// destroyed is what Daytona says of the end of a sandbox.
func destroyed(id string) string {
	return fmt.Sprintf(`{"event":"sandbox.state.updated","id":%q,"oldState":"started","newState":"destroyed"}`, id)
}

// TestPushes: of passes that come once a day none finds what ended; a push has it looked at, and its task is failed at
// once. One that lies harms nothing, and one that is forged, stale, replayed or too large is no reason to look.
func TestPushes(t *testing.T) {
	a := newArena(t, settings{token: "key\n    push_secret_file: push.key", more: seldom, rules: "{heartbeat-lost: {mode: off}}"})
	if err := os.WriteFile(filepath.Join(filepath.Dir(a.config), "push.key"), []byte(pushSecret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ws := a.working(3)
	dead, healthy := ws[0], ws[1]
	a.beat(ws[1:])
	d := a.daemon("run", "--migrate")
	defer d.stop()
	passes := func() int {
		return a.count("SELECT count(*) FROM sandkeeper.passes WHERE ended_at IS NOT NULL AND complete")
	}
	idle := func() bool {
		return a.count("SELECT count(*) FROM sandkeeper.river_job WHERE queue = 'passes' AND state IN ('available', 'running', 'scheduled')") == 0
	}
	a.reaches("the first passes", func() bool {
		return a.passes("full") > 0 && passes() > 0 && a.count("SELECT count(*) FROM sandkeeper.sandboxes") == 3 && idle()
	})
	before := passes()

	now := time.Now()
	for name, c := range map[string]struct{ got, want int }{
		"forged":    {d.pushes("whsec_AAAA9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "m1", now, destroyed(dead.sandbox)), 401},
		"stale":     {d.pushes(pushSecret, "m2", now.Add(-6*time.Minute), destroyed(dead.sandbox)), 400},
		"ahead":     {d.pushes(pushSecret, "m3", now.Add(6*time.Minute), destroyed(dead.sandbox)), 400},
		"too large": {d.pushes(pushSecret, "m4", now, destroyed(strings.Repeat("x", 20<<10))), 413},
		"no JSON":   {d.pushes(pushSecret, "m5", now, "ended"), 400},
		"of a life": {d.pushes(pushSecret, "m6", now, `{"id":"`+dead.sandbox+`","newState":"started"}`), 202},
	} {
		if c.got != c.want {
			t.Errorf("a push that is %s is answered with %d, want %d", name, c.got, c.want)
		}
	}
	if status, _ := d.get("/push/other"); status == 200 {
		t.Error("somebody answers for a provider that takes no pushes")
	}
	a.reaches("nobody is to look", idle)
	if n := passes() - before; n != 0 {
		t.Errorf("%d passes came of what is no reason to look", n)
	}

	if got := d.pushes(pushSecret, "lie", time.Now(), destroyed(healthy.sandbox)); got != 202 {
		t.Errorf("a push that lies is answered with %d", got)
	}
	a.reaches("the pass that it asked for", func() bool { return passes() == before+1 && idle() })
	for i := range 3 {
		if got := d.pushes(pushSecret, "lie", time.Now(), destroyed(healthy.sandbox)); got != 409 {
			t.Errorf("replay %d is answered with %d", i, got)
		}
	}
	if got := d.pushes(pushSecret, "unknown", time.Now(), destroyed("sb-of-nobody")); got != 202 {
		t.Errorf("a push of a sandbox that nobody knows is answered with %d", got)
	}
	a.reaches("the pass after that", func() bool { return passes() == before+2 && idle() })
	for _, w := range ws {
		if status, why := a.state(w.task); status != "running" {
			t.Errorf("%s is %s after a push that lies: %s", w.task, status, why)
		}
	}

	a.sql("UPDATE program.sandbox_events SET created_at = created_at - interval '5 minutes' WHERE sandbox_id = $1", dead.key)
	a.cloud.Change(dead.sandbox, func(s *simulated.Sandbox) {
		s.Gone, s.State, s.EndedAt, s.EndedFor, s.UpdatedAt = true, reconcile.SandboxEnded, time.Now(), "oom", time.Now()
	})
	if got := d.pushes(pushSecret, "true", time.Now(), destroyed(dead.sandbox)); got != 202 {
		t.Errorf("a push is answered with %d", got)
	}
	a.reaches("the task of the dead one is failed", func() bool { status, _ := a.state(dead.task); return status == "failed" })
	if n := passes() - before; n != 3 {
		t.Errorf("%d passes, want one for each push that was taken", n)
	}
	for _, w := range ws[1:] {
		if status, why := a.state(w.task); status != "running" {
			t.Errorf("%s is %s: %s", w.task, status, why)
		}
	}
	if calls := a.destroys(now.Add(-time.Hour)); len(calls) > 0 {
		t.Errorf("sandboxes were ended: %v", calls)
	}
	if out := a.must("check"); !strings.Contains(out, "web: pushes of daytona: taken at POST /push/daytona, by their signature; only this machine") {
		t.Errorf("check says nothing of where pushes are taken:\n%s", out)
	}
	_, metrics := d.read("/metrics")
	for series, want := range map[string]string{"looked": "3", "nothing-ended": "1", "forged": "1", "stale": "2", "replayed": "3",
		"too-large": "1", "unreadable": "1"} {
		line := fmt.Sprintf("sandkeeper_pushes_total{installation=\"test\",outcome=%q,provider=\"daytona\"} %s\n", series, want)
		if !strings.Contains(metrics, line) {
			t.Errorf("the metrics lack %s", line)
		}
	}
	if told := d.logged("pushes were refused"); len(told) == 0 || len(told) > 7 {
		t.Errorf("the log tells %d times of 8 refused pushes, want seldom", len(told))
	}
}

// TestStreams: an engine's event that a container died has it looked at, and its task is failed, of passes that come once
// a day.
func TestStreams(t *testing.T) {
	a := newDockerArena(t, false)
	text := strings.NewReplacer("kind: docker\n", "kind: docker\n    stream: on\n", "log: {level: warn}", seldom).Replace(a.configText())
	a.rewrite(text)
	ws := a.working(2)
	dead := ws[0]
	a.beat(ws[1:])
	d := a.daemon("run", "--migrate")
	defer d.stop()
	a.reaches("the first pass", func() bool { return a.passes("full") > 0 && a.count("SELECT count(*) FROM sandkeeper.sandboxes") == 2 })
	open := func() bool {
		_, metrics := d.read("/metrics")
		return strings.Contains(metrics, `sandkeeper_provider_stream_open{installation="test",provider="engine"} 1`)
	}
	a.reaches("the stream is open", open)
	a.sql("UPDATE program.sandbox_events SET created_at = created_at - interval '5 minutes' WHERE sandbox_id = $1", dead.key)
	a.cloud.Change(dead.sandbox, func(s *simulated.Sandbox) {
		s.State, s.EndedAt, s.EndedFor, s.UpdatedAt = reconcile.SandboxStopped, time.Now(), "oom", time.Now()
	})
	a.reaches("the task of the dead one is failed", func() bool { status, _ := a.state(dead.task); return status == "failed" })
	if status, why := a.state(ws[1].task); status != "running" {
		t.Errorf("the other one is %s: %s", status, why)
	}
}

// TestE2BPushes: what E2B signs has a sandbox looked at, of passes that come once a day; what somebody else signs does not.
func TestE2BPushes(t *testing.T) {
	const secret = "4a1f7ac0c5b94ae4"
	a := newE2BArena(t, settings{token: "key\n    push_secret_file: push.key", more: seldom, rules: "{heartbeat-lost: {mode: off}}"})
	if err := os.WriteFile(filepath.Join(filepath.Dir(a.config), "push.key"), []byte(secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ws := a.working(3)
	dead := ws[0]
	a.beat(ws[1:])
	d := a.daemon("run", "--migrate")
	defer d.stop()
	a.reaches("the first passes", func() bool {
		return a.passes("full") > 0 && a.count("SELECT count(*) FROM sandkeeper.sandboxes") == 3
	})
	a.sql("UPDATE program.sandbox_events SET created_at = created_at - interval '5 minutes' WHERE sandbox_id = $1", dead.key)
	a.cloud.Change(dead.sandbox, func(s *simulated.Sandbox) {
		s.Gone, s.State, s.EndedAt, s.EndedFor, s.UpdatedAt = true, reconcile.SandboxEnded, time.Now(), "request", time.Now()
	})
	push := func(secret, id string) int {
		body := fmt.Sprintf(`{"id":%q,"type":"sandbox.lifecycle.killed","timestamp":%q,"sandbox_id":%q}`, id,
			time.Now().UTC().Format(time.RFC3339Nano), dead.sandbox)
		sum := sha256.Sum256([]byte(secret + body))
		status, _ := programClient{t, http.DefaultClient, strings.TrimSuffix(d.url(), "/")}.ask("POST", "/push/cloud", body,
			"e2b-signature", base64.RawStdEncoding.EncodeToString(sum[:]), "e2b-signature-version", "v1")
		return status
	}
	if got := push("of somebody else", "m1"); got != 401 {
		t.Errorf("a forged push is answered with %d", got)
	}
	if got := push(secret, "m2"); got != 202 {
		t.Errorf("a push is answered with %d", got)
	}
	a.reaches("the dead one was looked at", func() bool { // that it is gone needs a second look, which the schedule takes
		return a.count("SELECT count(*) FROM sandkeeper.findings WHERE rule = 'sandbox-missing' AND task = $1", dead.task) == 1
	})
	a.keeps(ws[1:])
}
