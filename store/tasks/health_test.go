package tasks

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/tasks/mapping"
)

// beating are running tasks that began minutes apart, the first an hour ago, with the given age of each one's heartbeat.
func beating(ages ...time.Duration) *reconcile.Rows {
	rows := &reconcile.Rows{Now: utc("2026-02-01 12:00:00")}
	for i, age := range ages {
		t := reconcile.Task{ID: fmt.Sprint("t", i+1), State: reconcile.TaskRunning,
			StartedAt: rows.Now.Add(-time.Hour + time.Duration(i)*time.Minute)}
		if age >= 0 {
			t.HeartbeatAt = rows.Now.Add(-age)
		}
		t.UpdatedAt = rows.Now.Add(-time.Duration(i) * time.Second)
		rows.Tasks = append(rows.Tasks, t)
	}
	return rows
}

// TestHealthOfAClock: what one look at the rows shows of a mapped heartbeat, with the line to write.
func TestHealthOfAClock(t *testing.T) {
	const none = time.Duration(-1)
	starts := beating(none, none)
	for i := range starts.Tasks {
		starts.Tasks[i].HeartbeatAt = starts.Tasks[i].StartedAt
	}
	touched := beating(2*time.Second, 9*time.Second, 15*time.Second)
	for i := range touched.Tasks {
		touched.Tasks[i].UpdatedAt = touched.Tasks[i].HeartbeatAt
	}
	pending := beating(none)
	pending.Tasks[0].State = reconcile.TaskPending
	for name, c := range map[string]struct {
		rows *reconcile.Rows
		ill  string
		fix  string
		said string
	}{
		"it beats": {rows: beating(time.Second, 5*time.Second, 12*time.Second, 20*time.Second),
			said: "4 of 4 live tasks have it: half within 12s, 19 of 20 within 20s, the oldest 20s ago (t4)"},
		"one of many has none": {rows: beating(time.Second, none), said: "1 of 2 live tasks have it"},
		"none has one":         {rows: beating(none, none), ill: "none of the 2 live tasks that should has one, as t1: it is not used", fix: "remove tasks.columns.heartbeat_at"},
		"nothing runs":         {rows: pending},
		"it stands still":      {rows: starts, ill: "stands still since the start in all 2, as t1", fix: "map what the worker itself writes"},
		"a loop writes it":     {rows: beating(4*time.Second, 4*time.Second, 4*time.Second), ill: "all 3 are of one moment", fix: "remove tasks.columns.heartbeat_at"},
		"two of one moment":    {rows: beating(4*time.Second, 4*time.Second)},
		"it is updated_at":     {rows: touched, ill: "it is updated_at in all 3", fix: "map what the worker itself writes"},
		"it comes seldom": {rows: beating(10*time.Second, 80*time.Second, 170*time.Second), ill: "2 of 3 are 1m20s old or older, and 1m30s without one is called silent",
			fix: "rules: {heartbeat-lost: {after: 4m}}"},
		"one worker is dead": {rows: beating(time.Second, 5*time.Second, 12*time.Second, time.Hour)},
	} {
		t.Run(name, func(t *testing.T) {
			clock := taskClocks[5]
			h := healthOf(clock, c.rows)
			ill, fix := h.ill(90 * time.Second)
			if !strings.Contains(ill, c.ill) || (c.ill == "") != (ill == "") || !strings.Contains(fix, c.fix) || (fix == "") != (ill == "") {
				t.Errorf("ill = %q, fix %q", ill, fix)
			}
			if !strings.Contains(h.said(), c.said) {
				t.Errorf("said %q, want %q", h.said(), c.said)
			}
		})
	}
}

// TestStartedAtBirth: a start that is written with the row is none; one of an earlier attempt is later.
func TestStartedAtBirth(t *testing.T) {
	born := func(state reconcile.TaskState, began time.Duration) reconcile.Task {
		at := time.Date(2026, 2, 1, 9, 0, 0, 0, time.UTC)
		task := reconcile.Task{ID: string(state), State: state, CreatedAt: at, StartedAt: at.Add(began)}
		if began < 0 {
			task.StartedAt = time.Time{}
		}
		return task
	}
	for name, c := range map[string]struct {
		tasks []reconcile.Task
		want  int
	}{
		"each as its row":       {[]reconcile.Task{born(reconcile.TaskAssigned, 0), born(reconcile.TaskAssigned, time.Millisecond)}, 2},
		"one has none":          {[]reconcile.Task{born(reconcile.TaskAssigned, 0), born(reconcile.TaskAssigned, -1)}, 0},
		"of an earlier attempt": {[]reconcile.Task{born(reconcile.TaskAssigned, 0), born(reconcile.TaskAssigned, time.Minute)}, 0},
		"what runs may":         {[]reconcile.Task{born(reconcile.TaskRunning, 0), born(reconcile.TaskPending, 0)}, 0},
	} {
		if got := startedAtBirth(&reconcile.Rows{Tasks: c.tasks}); len(got) != c.want {
			t.Errorf("%s: %v, want %d", name, got, c.want)
		}
	}
}

// TestWatch looks at real rows while something writes them.
func TestWatch(t *testing.T) {
	const schema = `CREATE TABLE jobs (id text PRIMARY KEY, status text, began timestamptz, beat timestamptz);
		INSERT INTO jobs SELECT 'j' || n, 'running', now() - n * interval '2 hours', now() - n * interval '1 hour' FROM generate_series(1, 4) AS n`
	for name, c := range map[string]struct {
		write string
		says  string
		fix   string
	}{
		// An hour apart: far more than the time between two looks, however late these come.
		"workers beat": {"UPDATE jobs SET beat = clock_timestamp() - right(id, 1)::integer * interval '1 hour'",
			"; half came within ", ""},
		"a loop":  {"UPDATE jobs SET beat = now()", "in 4 of 4 running tasks, in all of them to one moment", "map what the worker itself writes"},
		"nothing": {"SELECT", "it moved in 0 of 4 running tasks", "watch for longer"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, schema, mapping.Mapping{Table: "jobs", Columns: map[string]string{"id": "id", "status": "status",
				"started_at": "began", "heartbeat_at": "beat"}, Statuses: map[string][]string{"running": {"running"}}})
			w.tasks.SilentAfter(time.Hour)
			stop := make(chan struct{})
			began, done := make(chan struct{}), make(chan struct{})
			go func() {
				defer close(done)
				w.exec(c.write)
				close(began)
				for {
					select {
					case <-stop:
						return
					default:
						w.exec(c.write)
					}
				}
			}()
			<-began
			lines := w.tasks.Watch(t.Context(), 2*time.Second)
			close(stop)
			<-done
			if len(lines) != 1 || lines[0].What != "watched heartbeat_at" || !strings.Contains(lines[0].Said, c.says) ||
				!strings.Contains(lines[0].Fix, c.fix) || (c.fix == "") != (lines[0].Fix == "") {
				t.Errorf("lines = %+v", lines)
			}
		})
	}
}
