package main

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
)

// TestThePlatformFailsItsTask: where an UPDATE is no transition of the platform, its own API is asked, once for each
// try and always with the same key. The sandbox ends only when the row shows that the platform did it.
func TestThePlatformFailsItsTask(t *testing.T) {
	var a *arena
	var does atomic.Bool
	var keys []string
	platform := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		keys = append(keys, r.Header.Get("Idempotency-Key"))
		id := strings.TrimSuffix(strings.TrimPrefix(r.URL.Path, "/tasks/"), "/fail")
		if r.Header.Get("Authorization") != "Bearer p-token" || r.Method != http.MethodPost {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		if does.Load() {
			a.sql("UPDATE tasks SET status = 'failed', error_message = 'stopped by the platform' WHERE id = $1", id)
		}
		w.WriteHeader(http.StatusAccepted)
	}))
	defer platform.Close()
	a = newArena(t, settings{
		tasks: `, fail: {call: {url: "` + platform.URL + `/tasks/{id}/fail", token: p-token}}`})
	task, sandbox := a.lost()
	a.once(0)
	if status, _ := a.state(task); status != "assigned" || a.ended(sandbox) {
		t.Errorf("the platform did nothing yet: task %s, sandbox ended %t; want assigned, and its sandbox kept", status, a.ended(sandbox))
	}
	does.Store(true)
	a.sql("UPDATE sandkeeper.actions SET next_attempt = now() WHERE closed_at IS NULL")
	a.once(0)
	a.once(0)
	if status, why := a.state(task); status != "failed" || why != "stopped by the platform" || !a.ended(sandbox) {
		t.Errorf("task %s: %s, sandbox ended %t; want it failed by the platform, and its sandbox ended", status, why, a.ended(sandbox))
	}
	if len(keys) != 2 || keys[0] == "" || keys[0] != keys[1] {
		t.Errorf("the platform was asked with the keys %q, want the same one twice", keys)
	}
	if n := a.count("SELECT count(*) FROM sandkeeper.actions WHERE step = 'fail' AND outcome = 'done'"); n != 1 {
		t.Errorf("%d fails are done, want 1", n)
	}
}
