package main

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestRetryOfWhatAnIncidentAffected: an operator has the tasks of an incident run again once its cause is fixed: after
// the list was shown, no earlier than their sandboxes are gone, each once, and none that moved meanwhile.
func TestRetryOfWhatAnIncidentAffected(t *testing.T) {
	a := newArena(t, settings{})
	ws := a.working(3)
	a.beat(ws)
	var stale []string
	for range 8 {
		stale = append(stale, a.task(row{status: "assigned", created: time.Hour, updated: 4 * time.Minute}))
		a.box(stale[len(stale)-1], 4*time.Minute) // its worker never speaks
	}
	a.must("migrate")
	a.must("once", "--wait", patience)
	incident := a.incidents()[0].ID
	target := "incident:" + incident
	a.refuses("holds it", "retry", target)
	a.refuses("not on record", "retry", "incident:i-nobody")
	a.refuses("has not marked it failed", "retry", ws[0].task)
	a.must("release", target, "--reason", "the template is active again")
	a.once(0)
	a.reaches("the sandboxes of the failed attempts are gone", func() bool {
		a.once(0)
		return a.count("SELECT count(*) FROM sandkeeper.actions WHERE step = 'terminate' AND outcome = 'confirmed'") == 8
	})
	a.sql("UPDATE tasks SET status = 'completed' WHERE id = $1", stale[0]) // somebody was quicker

	before := a.rows()
	same := func(before map[string]string) {
		t.Helper()
		if diff := cmp.Diff(before, a.rows()); diff != "" {
			t.Errorf("rows were changed (-before +after):\n%s", diff)
		}
	}
	shown := a.must("retry", target)
	hash := regexp.MustCompile(`--hash (\S+)`).FindStringSubmatch(shown)
	if hash == nil || !strings.Contains(shown, "8 tasks to be run again") {
		t.Fatalf("retry without a hash shows:\n%s", shown)
	}
	a.refuses("the list has changed", "retry", target, "--hash", "none", "--reason", "x")
	a.refuses("--reason is required", "retry", target, "--hash", hash[1])
	same(before)
	a.must("retry", target, "--hash", hash[1], "--reason", "the snapshot is active again", "--author", "ana")
	same(before) // it is recorded, and done by who keeps the platform
	a.once(0)
	for i, task := range stale {
		want := "pending"
		if i == 0 {
			want = "completed"
		}
		status, why := a.state(task)
		if status != want || i > 0 && !strings.Contains(why, "retried by ana: the snapshot is active again [sandkeeper ") {
			t.Errorf("task %s is %s (%s), want %s", task, status, why, want)
		}
	}
	if n := a.count("SELECT count(*) FROM sandkeeper.actions WHERE step = 'requeue' AND author = 'ana' AND outcome = 'done'"); n != 7 {
		t.Errorf("%d retries are done, want 7: the one that moved is withdrawn", n)
	}
	a.refuses("requeued once already", "retry", stale[1])
	a.later(time.Second, ws...)
	if r := a.once(0); len(r.Steps) > 0 {
		t.Errorf("tasks that wait are dealt with again: %+v", r.Steps)
	}
	if n := a.count("SELECT count(*) FROM sandkeeper.verdicts WHERE regret_at IS NOT NULL AND task <> $1", stale[0]); n != 0 {
		t.Errorf("%d false positives, though an operator had them run again", n)
	}
	a.keeps(ws)
}
