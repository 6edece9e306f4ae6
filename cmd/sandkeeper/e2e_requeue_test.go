package main

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// requeueing is assigned-stale with the remedy that gives the platform another try.
const requeueing = "{assigned-stale: {after: 3m, remedy: requeue}, looping: %s}"

// tries is what of a task's row requeue changes.
func (a *arena) tries(task string) string {
	a.Helper()
	var out string
	err := a.db.QueryRow(a.Context(), `SELECT concat_ws('|', status, coalesce(sandbox_id, '-'), coalesce(conversation_id, '-'),
		retry_count) FROM tasks WHERE id = $1`, task).Scan(&out)
	if err != nil {
		a.Fatal(err)
	}
	return out
}

// handOut is the platform giving the task to a worker that never starts, long ago.
func (a *arena) handOut(task string, turn int) {
	a.Helper()
	a.sql(`UPDATE tasks SET status = 'assigned', sandbox_id = $2, conversation_id = 'c', updated_at = now() - interval '4 minutes'
		WHERE id = $1`, task, fmt.Sprintf("omoios-turn-%d", turn))
}

// waiting is a task that a worker was given, of so many tries.
func (a *arena) waiting(most int) string {
	a.Helper()
	task := a.task(row{status: "assigned", key: "omoios-turn-0", created: time.Hour, updated: 4 * time.Minute})
	a.sql("UPDATE tasks SET max_retries = $2, conversation_id = 'c' WHERE id = $1", task, most)
	return task
}

// TestRequeueToTheLimit: the task goes back to the queue, cleared and counted, as often as it
// may, and is failed then.
func TestRequeueToTheLimit(t *testing.T) {
	a := newArena(t, settings{rules: fmt.Sprintf(requeueing, "{}")})
	ws := a.working(3)
	task := a.waiting(2)
	for turn := range 2 {
		a.once(0)
		if got, want := a.tries(task), fmt.Sprintf("pending|-|-|%d", turn+1); got != want {
			t.Fatalf("after try %d the row is %s, want %s", turn, got, want)
		}
		if _, why := a.state(task); !strings.Contains(why, "[sandkeeper ") || !strings.Contains(why, "never started") {
			t.Errorf("requeued for %q, want the reason and the mark", why)
		}
		if r := a.once(0); len(r.Steps) > 0 {
			t.Errorf("a task that waits is dealt with again: %+v", r.Steps)
		}
		a.later(time.Second, ws...)
		a.handOut(task, turn+1)
	}
	a.once(0)
	if got, want := a.tries(task), "failed|omoios-turn-2|c|2"; got != want {
		t.Errorf("at the limit the row is %s, want %s", got, want)
	}
	a.keeps(ws)
}

// TestNoRequeueUnderAnInactiveTemplate: the next try would fail as well, so the task is
// failed, and its reason says why.
func TestNoRequeueUnderAnInactiveTemplate(t *testing.T) {
	a := newArena(t, settings{rules: fmt.Sprintf(requeueing, "{}")})
	ws := a.working(3)
	task := a.waiting(3)
	a.deactivate()
	a.once(0)
	if got, want := a.tries(task), "failed|omoios-turn-0|c|0"; got != want {
		t.Errorf("the row is %s, want %s", got, want)
	}
	if _, why := a.state(task); !strings.Contains(why, `snapshot "ai-agent-dev-light" is inactive`) {
		t.Errorf("failed for %q, want the template", why)
	}
	a.keeps(ws)
}

// TestNoRequeueOfATaskThatLoops: three tries in an hour came to nothing. It is reported, and
// failed though tries are left. With the rule off it goes on.
func TestNoRequeueOfATaskThatLoops(t *testing.T) {
	for rule, want := range map[string]string{"{count: 3, window: 1h}": "failed|omoios-turn-3|c|3", "off": "pending|-|-|4"} {
		t.Run(rule, func(t *testing.T) {
			a := newArena(t, settings{rules: fmt.Sprintf(requeueing, rule)})
			ws := a.working(3)
			task := a.waiting(10)
			for turn := range 3 {
				a.once(0)
				if got, want := a.tries(task), fmt.Sprintf("pending|-|-|%d", turn+1); got != want {
					t.Fatalf("after try %d the row is %s, want %s", turn, got, want)
				}
				a.once(0)
				a.later(time.Second, ws...)
				a.handOut(task, turn+1)
			}
			r := a.once(0)
			if got := a.tries(task); got != want {
				t.Errorf("after three tries the row is %s, want %s", got, want)
			}
			found := false
			for _, f := range r.Findings {
				found = found || f.Rule == "looping" && f.Task == task && strings.Contains(f.Reason, "not requeued again")
			}
			if found != (rule != "off") {
				t.Errorf("looping is reported: %v; findings %+v", found, r.Findings)
			}
			a.keeps(ws)
		})
	}
}
