package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/result"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/store/pgtest"
)

// A codingArena is the coding-agent template with its sandboxes at a provider that knows
// them by the ids in the rows, and by nothing else.
type codingArena struct{ *arena }

func newCodingArena(t *testing.T, s settings) *codingArena {
	t.Helper()
	s.owns = "{referenced: true}"
	a := &codingArena{newArena(t, s)}
	a.sql("DROP SCHEMA program CASCADE; DROP TABLE sandbox_events, tasks, agents, tickets, specs, projects")
	a.sql(pgtest.CodingAgent + pgtest.CodingAgentUser)
	text, err := os.ReadFile(a.config)
	if err != nil {
		t.Fatal(err)
	}
	config := strings.NewReplacer("preset: omoios", "preset: coding-agent", "{task_label: task_id}", "{sandbox: id}").
		Replace(string(text))
	if err := os.WriteFile(a.config, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	return a
}

// utcNow is what the template writes: the time in UTC, without its zone.
const utcNow = "timezone('UTC', clock_timestamp())"

// add inserts a task, as the template's API does, that began and last moved so long ago, and
// sets columns.
func (a *codingArena) add(id string, began, moved time.Duration, set string) {
	a.Helper()
	a.sql(`INSERT INTO tasks (id, user_id, prompt, logs, progress, max_duration, created_at, updated_at)
		VALUES ($1, 'u', 'fix it', '[]', 0, 300, `+utcNow+` - $2::interval, `+utcNow+` - $3::interval)`, id, ago(began), ago(moved))
	a.set(id, set)
}

func (a *codingArena) set(id, set string) {
	a.Helper()
	a.sql("UPDATE tasks SET "+set+" WHERE id = $1", id)
}

// touch is the worker writing a line of its log.
func (a *codingArena) touch(ids ...string) {
	a.Helper()
	a.sql(`UPDATE tasks SET logs = logs || '[{"type": "info", "message": "npm install goes on"}]', updated_at = `+utcNow+`
		WHERE id = ANY ($1::text[])`, ids)
}

// sandbox is a running one without a mark.
func (a *codingArena) sandbox(age time.Duration) string {
	return a.cloud.Put(simulated.Sandbox{CreatedAt: time.Now().Add(-age)}).ID
}

// later lets time pass for the template's times as well.
func (a *codingArena) later(d time.Duration) {
	a.Helper()
	a.arena.later(d)
	a.sql(`UPDATE tasks SET created_at = created_at - $1::interval, updated_at = updated_at - $1::interval,
		completed_at = completed_at - $1::interval, deleted_at = deleted_at - $1::interval`, ago(d))
}

// row is what of a task matters here.
func (a *codingArena) row(id string) string {
	a.Helper()
	var out string
	err := a.db.QueryRow(a.Context(), `SELECT concat_ws('|', status, coalesce(sandbox_id, '-'),
		coalesce(agent_session_id, '-'), coalesce(error, '')) FROM tasks WHERE id = $1`, id).Scan(&out)
	if err != nil {
		a.Fatal(err)
	}
	return out
}

func (a *codingArena) raw(id string) string {
	a.Helper()
	var out string
	if err := a.db.QueryRow(a.Context(), "SELECT t.xmin::text || t::text FROM tasks AS t WHERE id = $1", id).Scan(&out); err != nil {
		a.Fatal(err)
	}
	return out
}

// TestCodingAgentLife: one task from its queue to a stop. Its sandbox is gone in between, so
// it is failed and what cannot be used again is cleared; then its user goes on with it.
func TestCodingAgentLife(t *testing.T) {
	a := newCodingArena(t, settings{rules: "{inactive: off, deadline-exceeded: off, " + patiently + "}", more: slow})
	a.add("a", 10*time.Second, 10*time.Second, "status = 'pending'")
	quiet := func(what string) {
		t.Helper()
		before := a.raw("a")
		if r := a.once(0); len(r.Steps) > 0 || a.raw("a") != before {
			t.Errorf("%s: steps %+v, row %s", what, r.Steps, a.row("a"))
		}
	}
	quiet("pending")
	a.set("a", "status = 'processing', updated_at = "+utcNow)
	quiet("taken, without a sandbox")
	first := a.sandbox(time.Second)
	a.set("a", "sandbox_id = '"+first+"', agent_session_id = 's-1', updated_at = "+utcNow)
	quiet("at work")
	if _, err := a.cloud.Destroy(first); err != nil { // it answers 410, or 404
		t.Fatal(err)
	}
	a.later(91 * time.Second)
	quiet("its sandbox is gone, at the first look")
	a.later(31 * time.Second)
	a.once(0)
	status, rest, _ := strings.Cut(a.row("a"), "|")
	if status != "error" || !strings.HasPrefix(rest, "-|-|") || !strings.Contains(rest, first) ||
		!strings.Contains(rest, "gone") || !strings.Contains(rest, "[sandkeeper ") {
		t.Fatalf("row = %s|%s, want an error that names the sandbox, and its columns cleared", status, rest)
	}
	quiet("failed")
	a.set("a", "status = 'processing', completed_at = NULL, updated_at = "+utcNow) // the user goes on with it
	quiet("continued")
	second := a.sandbox(time.Second)
	a.set("a", "sandbox_id = '"+second+"', updated_at = "+utcNow)
	quiet("continued, in a new sandbox")
	a.set("a", "status = 'stopped', completed_at = "+utcNow+", updated_at = "+utcNow)
	quiet("stopped just now")
	a.later(2 * time.Minute)
	a.once(0)
	if !a.ended(second) {
		t.Error("the stopped task's sandbox lives on")
	}
	if got, want := a.row("a"), "stopped|"+second+"|-|"+rest[len("-|-|"):]; got != want {
		t.Errorf("a stopped row became %s, was %s", got, want)
	}
	quiet("stopped and gone")
}

// patiently gives a stop so long that a busy machine has judged what was stopped just now before that.
const patiently = "stop-ignored: {after: 2m}"

// slow is a schedule in which one jump of a test is no outage of ours.
const slow = "log: {level: warn}\nschedule: {quick: \"@every 1m\", full: \"@every 10m\"}"

// TestCodingAgentSandboxesThatLiveOn: of stopped, deleted and finished tasks. What is kept for
// its user and what no row names is left alone.
func TestCodingAgentSandboxesThatLiveOn(t *testing.T) {
	a := newCodingArena(t, settings{rules: "{" + patiently + "}"})
	end, stay := map[string]string{}, map[string]string{}
	put := func(into map[string]string, name, set string, moved time.Duration) {
		id := a.sandbox(5 * time.Hour)
		into[name] = id
		a.add(name, 5*time.Hour, moved, set+", sandbox_id = '"+id+"'")
	}
	for i := range 5 {
		put(end, fmt.Sprintf("stopped-%d", i), "status = 'stopped'", 5*time.Minute)
	}
	put(end, "stopped, and was to be kept", "status = 'stopped', keep_alive = true", 5*time.Minute)
	put(end, "finished long ago", "status = 'completed'", 11*time.Minute)
	put(end, "failed long ago", "status = 'error'", 11*time.Minute)
	put(end, "kept until it expired", "status = 'completed', keep_alive = true, max_duration = 60", 2*time.Hour)
	put(stay, "stopped just now", "status = 'stopped'", 0)
	put(stay, "finished just now", "status = 'completed'", 5*time.Minute)
	put(stay, "kept", "status = 'completed', keep_alive = true", 2*time.Hour)
	put(stay, "kept for as long as the template says", "status = 'error', keep_alive = true, max_duration = NULL", 2*time.Hour)
	for what, set := range map[string]string{
		"stopped": "status = 'stopped'", "at work": "status = 'processing'", "kept": "status = 'completed', keep_alive = true",
	} {
		put(end, "deleted by its user, "+what, set+", deleted_at = "+utcNow+" - interval '5 minutes'", 2*time.Hour)
	}
	put(stay, "deleted just now", "status = 'stopped', deleted_at = "+utcNow, 2*time.Hour)
	put(stay, "at work", "status = 'processing'", 0)
	stay["of nobody"] = a.sandbox(5 * time.Hour)
	before := a.rows()
	a.once(0)
	for name, id := range end {
		if !a.ended(id) {
			t.Errorf("the sandbox of the task that is %s lives on", name)
		}
	}
	for name, id := range stay {
		if a.ended(id) {
			t.Errorf("the sandbox that is %s was ended", name)
		}
	}
	if after := a.rows(); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("rows were written:\n%v\n%v", before, after)
	}
}

// TestCodingAgentSetUp: three tasks whose sandboxes are being made write their logs meanwhile.
// They are left alone for as long as they do, and no source is doubted because of them. One that
// stands still has fifteen minutes from when it was taken, and is failed then; one that stops
// later has them from its last line.
func TestCodingAgentSetUp(t *testing.T) {
	a := newCodingArena(t, settings{more: slow})
	ids := []string{"a", "b", "c", "still"}
	for _, id := range ids {
		a.add(id, 0, 0, "status = 'processing'")
	}
	passes := func(n int, write []string, each func(result.Pass)) {
		for range n {
			a.touch(write...)
			each(a.once(0))
			a.later(50 * time.Second)
		}
	}
	failed := func(want ...string) {
		t.Helper()
		for _, id := range ids {
			if has := strings.HasPrefix(a.row(id), "error|-|-|worker never started"); has != slices.Contains(want, id) {
				t.Errorf("%s is failed: %t: %s; want %v", id, has, a.row(id), want)
			}
		}
	}
	passes(17, ids[:3], func(r result.Pass) { // 14m10s
		if len(r.Steps) > 0 || len(untrusted(r)) > 0 {
			t.Fatalf("being set up: steps %+v, untrusted %v", r.Steps, untrusted(r))
		}
	})
	passes(4, ids[:3], func(result.Pass) {})
	failed("still")
	passes(14, ids[1:3], func(result.Pass) {}) // 12m30s since the last line of a
	failed("still")
	passes(6, ids[1:3], func(result.Pass) {})
	failed("still", "a")
}

// untrusted are the sources that a pass did not trust.
func untrusted(r result.Pass) (names []string) {
	for _, s := range r.Sources {
		if !s.Trusted {
			names = append(names, s.Name+": "+s.Reason)
		}
	}
	return names
}

// TestCodingAgentDeadlines: max_duration is the time-out; five minutes where a row has none, or
// what the table gives it. One of thousands of years never comes.
func TestCodingAgentDeadlines(t *testing.T) {
	a := newCodingArena(t, settings{rules: "{inactive: off}", more: slow})
	boxes := map[string]string{}
	for id, minutes := range map[string]string{"five": "5", "none": "NULL", "the table's": "DEFAULT", "the API's": "300", "seven": "7", "for ever": "2147483647"} {
		boxes[id] = a.sandbox(time.Minute)
		a.add(id, time.Minute, 0, "status = 'processing', agent_session_id = 's', sandbox_id = '"+boxes[id]+"', max_duration = "+minutes)
	}
	a.once(0)
	a.later(6 * time.Minute)
	a.touch("five", "none", "the table's", "the API's", "seven", "for ever") // all are busy, which no deadline minds
	a.once(0)
	for id, over := range map[string]bool{"five": true, "none": true, "the table's": true, "the API's": false, "seven": false, "for ever": false} {
		row := a.row(id)
		if over != strings.HasPrefix(row, "error|-|-|deadline exceeded") || over != a.ended(boxes[id]) {
			t.Errorf("%s: over its deadline %v, row %s, sandbox ended %v", id, over, row, a.ended(boxes[id]))
		}
	}
}

// TestCodingAgentCheck: the template as it ships is in order.
func TestCodingAgentCheck(t *testing.T) {
	a := newCodingArena(t, settings{})
	a.must("migrate")
	if out := a.must("check"); strings.Contains(out, "FAIL") || !strings.Contains(out, "index on the status") {
		t.Errorf("check says\n%s", out)
	}
}

// One row with an absurd time stops no pass: the others are judged, and it is shown.
func TestCodingAgentAbsurdTime(t *testing.T) {
	a := newCodingArena(t, settings{more: slow})
	box := a.sandbox(time.Minute)
	a.add("sound", time.Minute, 0, "status = 'processing', agent_session_id = 's', sandbox_id = '"+box+"', max_duration = 5")
	a.once(0)
	a.later(6 * time.Minute)
	for _, at := range []string{"4713-01-01 00:00:00 BC", "4714-11-24 00:00:00 BC", "294276-12-31 23:59:59", "-infinity"} {
		box := a.sandbox(time.Minute)
		a.add(at, time.Minute, 0, "status = 'processing', agent_session_id = 's', sandbox_id = '"+box+"', updated_at = '"+at+
			"', created_at = '"+at+"'")
	}
	a.once(0)
	if row := a.row("sound"); !strings.HasPrefix(row, "error|-|-|deadline exceeded") {
		t.Errorf("beside absurd times a task is not judged: %s", row)
	}
}
