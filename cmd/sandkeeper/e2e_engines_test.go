package main

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/daytona/daytonatest"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
)

// newEngines is an arena with two engines, eu and us, of one entry in the config: rows name pools of theirs.
// The first is the arena's own cloud; the switch takes the other one's API away.
func newEngines(t *testing.T) (a *arena, us *simulated.World, down *atomic.Bool) {
	t.Helper()
	a = newArena(t, settings{tasks: ", columns: {provider: engine}"})
	a.sql("ALTER TABLE public.tasks ADD COLUMN engine text")
	us, down = simulated.New(simulated.Options{}), &atomic.Bool{}
	us.PutTemplate(simulated.Template{Name: "ai-agent-dev-light", LastUsedAt: time.Now()})
	other := daytonatest.New(us, daytonatest.Options{TaskLabel: "task_id"})
	mux := http.NewServeMux()
	mux.Handle("/eu/", http.StripPrefix("/eu", daytonatest.New(a.cloud, daytonatest.Options{TaskLabel: "task_id"})))
	mux.Handle("/us/", http.StripPrefix("/us", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if down.Load() {
			http.Error(w, "no engine", http.StatusServiceUnavailable)
			return
		}
		other.ServeHTTP(w, r)
	})))
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	text, err := os.ReadFile(a.config)
	if err != nil {
		t.Fatal(err)
	}
	config := strings.NewReplacer("name: daytona", "name: daytona-{each}\n    each: [eu, us]\n    rows: [\"pool-{each}-*\"]",
		a.url, server.URL+"/{each}/api").Replace(string(text))
	if err := os.WriteFile(a.config, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return a, us, down
}

// at puts n tasks to work at an engine, in its cloud.
func (a *arena) at(engine string, cloud *simulated.World, n int) []worker {
	a.Helper()
	own := a.cloud
	a.cloud = cloud
	ws := a.working(n)
	a.cloud = own
	for i := range ws {
		w := &ws[i]
		key := engine + w.key
		a.sql("UPDATE tasks SET engine = $1, sandbox_id = $2 WHERE id = $3", engine, key, w.task)
		a.sql("UPDATE sandbox_events SET sandbox_id = $1 WHERE sandbox_id = $2", key, w.key)
		w.key = key
	}
	return ws
}

// TestEngines: each row is judged by the engine that it names. One whose listing is down freezes its own rows; of
// rows that name an engine without an entry nothing is done, and check says which they are.
func TestEngines(t *testing.T) {
	a, us, down := newEngines(t)
	eus, uss := a.at("pool-eu-1", a.cloud, 4), a.at("pool-us-7", us, 4)
	moon := a.at("pool-moon-1", simulated.New(simulated.Options{}), 4) // heard all the time, at an engine nobody can see
	stale := row{status: "assigned", created: 2 * time.Hour, updated: 2 * time.Hour}
	lost := a.task(stale)
	a.sql("UPDATE tasks SET engine = 'pool-moon-1' WHERE id = $1", lost)
	a.once(0)
	all := append(append(append([]worker{}, eus...), uss...), moon...)
	out := a.must("check")
	for _, want := range []string{`warn  tasks: tasks.columns.provider: no entry is for "pool-moon-1" (5, as `,
		"write `rows: [\"pool-moon-1\"]`", "provider daytona-eu: links: rows explain 4 of 4",
		"provider daytona-us: links: rows explain 4 of 4"} {
		if !strings.Contains(out, want) {
			t.Errorf("check does not say %q:\n%s", want, out)
		}
	}
	before := a.rows()[lost]
	gone := func(cloud *simulated.World, w worker) {
		cloud.Change(w.sandbox, func(s *simulated.Sandbox) { s.Gone = true })
	}
	gone(a.cloud, eus[0])
	gone(us, uss[0])
	down.Store(true)
	alive := append(append(append([]worker{}, eus[1:]...), uss[1:]...), moon...)
	for range 3 {
		a.later(2*time.Minute, alive...)
		a.doubting()
	}
	if status, _ := a.state(eus[0].task); status != "failed" {
		t.Errorf("the task whose sandbox is gone at eu is %s, want failed: us alone is down\n%s", status,
			a.must("explain", "task:"+eus[0].task))
	}
	if status, why := a.state(uss[0].task); status != "running" {
		t.Errorf("the task at us, whose listing is down, is %s: %s", status, why)
	}
	down.Store(false)
	for range 3 {
		a.later(2*time.Minute, alive...)
		a.once(0)
	}
	if status, _ := a.state(uss[0].task); status != "failed" {
		t.Errorf("the task whose sandbox is gone at us is %s, want failed once us is back", status)
	}
	if status, why := a.state(lost); status != "assigned" {
		t.Errorf("the task at an engine without an entry is %s: %s (was %s)", status, why, before)
	}
	for _, w := range all {
		if status, why := a.state(w.task); status != "running" && w.task != eus[0].task && w.task != uss[0].task {
			t.Errorf("healthy task %s is %s: %s", w.key, status, why)
		}
	}
	if calls := append(a.cloud.Destructive(), us.Destructive()...); len(calls) > 0 {
		t.Errorf("an engine was asked to end something: %v", calls)
	}
	if said := a.must("explain", "task:"+lost); !strings.Contains(said, "pool-moon-1") {
		t.Errorf("explain does not say that the engine has no entry:\n%s", said)
	}
}
