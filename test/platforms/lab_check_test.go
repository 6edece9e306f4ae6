package platforms

import (
	"regexp"
	"strings"
	"testing"
)

// TestCheckMeasures: each thing that check measures of a mapping is told with its number, a row that shows it and the
// line to write, of rows that are made for it. Of healthy rows nothing is.
func TestCheckMeasures(t *testing.T) {
	w := labOf(t, labTasks+labFail+labEngine, engine).world(t)
	labCompany(w)
	w.configure(w.config)
	for _, hear := range w.lives {
		hear()
	}
	w.look("once", "--wait", "20s") // that the sandboxes had a task is seen by a pass
	for name, c := range map[string]struct {
		rows string // what is done to them
		says []string
	}{
		"healthy rows": {rows: "SELECT"},
		"no row has one": {"UPDATE jobs SET beat = NULL",
			[]string{"warn", "clock heartbeat_at", "none of the 12 live tasks", "as j-well-", "remove tasks.columns.heartbeat_at"}},
		"it stands still": {"UPDATE jobs SET beat = began",
			[]string{"warn", "clock heartbeat_at", "stands still since the start in all 12, as j-well-", "it does not beat, and is not used",
				"map what the worker itself writes"}},
		"all move together": {"UPDATE jobs SET beat = now() - interval '4 seconds'",
			[]string{"warn", "clock heartbeat_at", "all 12 are of one moment: a loop of the platform writes them", "map what the worker itself"}},
		"others' writes move it": {"UPDATE jobs SET written = beat",
			[]string{"warn", "clock heartbeat_at", "it is updated_at in all 12: whoever writes to a row moves it", "map what the worker itself"}},
		"one lies in the future": {"UPDATE jobs SET beat = now() + interval '1 hour' WHERE id = 'j-well-3'",
			[]string{"FAIL", "clock heartbeat_at", "ahead of the database's now in 1 of 12, as j-well-3", "tasks.timezone"}},
		"beats are far apart": {"UPDATE jobs SET beat = now() - 14 * (now() - beat)",
			[]string{"warn", "clock heartbeat_at", "old or older, and", "without one is called silent", "rules: {heartbeat-lost: {after: "}},
		"a status means nothing": {"UPDATE jobs SET status = 'odd' WHERE id = 'j-well-3'",
			[]string{"FAIL", "tasks.statuses", `values that mean no state: ["odd"]`, "add each to the state that it means"}},
		"a link leads nowhere": {"UPDATE jobs SET id = 'x-3', box = NULL WHERE id = 'j-well-3'",
			[]string{"warn", "links: rows explain 11 of 12", `"j-well-3"`, "tasks.explained_by, owns.except, owns.spares"}},
	} {
		t.Run(name, func(t *testing.T) {
			w.T = t
			w.sql("UPDATE jobs SET id = 'j-well-3', box = 'lab-well-3' WHERE id = 'x-3'")
			w.sql("UPDATE jobs SET status = 'running'")
			for _, hear := range w.lives {
				hear()
			}
			w.sql("UPDATE jobs SET written = now() - interval '20 minutes' - (now() - beat)")
			w.sql(c.rows)
			_, out, _ := w.run("check")
			w.says(out, c.says...)
		})
	}
}

// TestCheckWatches: what several looks tell of a clock and one cannot: who writes it, and how far apart.
func TestCheckWatches(t *testing.T) {
	w := labOf(t, labTasks+labFail+labEngine, engine).world(t)
	labCompany(w)
	w.configure(w.config)
	for name, c := range map[string]struct {
		write string // again and again
		says  []string
	}{
		"workers": {"UPDATE jobs SET beat = clock_timestamp() FROM pg_sleep(0.01) WHERE id = (SELECT id FROM jobs ORDER BY beat LIMIT 1)", nil},
		"a loop": {"UPDATE jobs SET beat = now()", []string{"warn", "watched heartbeat_at", "in 12 of 12 running tasks, in all of them to " +
			"one moment: a loop of the platform writes it", "map what the worker itself writes"}},
		"nothing": {"SELECT pg_sleep(0.05)", []string{"warn", "watched heartbeat_at", "it moved in 0 of 12 running tasks",
			"watch for longer than it should take"}},
	} {
		t.Run(name, func(t *testing.T) {
			w.T = t
			for _, hear := range w.lives {
				hear()
			}
			w.sql("UPDATE jobs SET written = now() - interval '20 minutes' - (now() - beat)")
			over, out := make(chan struct{}), ""
			go func() {
				defer close(over)
				_, out, _ = w.run("check", "--watch", "2s")
			}()
			for writes := true; writes; {
				select {
				case <-over:
					writes = false
				default:
					w.sql(c.write)
				}
			}
			line := regexp.MustCompile(".*watched heartbeat_at.*").FindString(out)
			if line == "" {
				t.Fatalf("check does not say what it watched:\n%s", out)
			}
			w.says(line, c.says...)
		})
	}
}

// says demands that one line of check's about rows is not ok, with all of the texts; without any, that there is none.
func (w *world) says(out string, texts ...string) {
	w.Helper()
	var ill []string
	for line := range strings.Lines(out) {
		measures := regexp.MustCompile("clock |watched |tasks.statuses|links|exclusive").MatchString(line)
		if measures && !strings.HasPrefix(line, "ok") {
			ill = append(ill, line)
		}
	}
	if len(ill) != min(len(texts), 1) {
		w.Fatalf("check says %q, want %q", ill, texts)
	}
	for _, text := range texts {
		if !strings.Contains(ill[0], text) {
			w.Errorf("check says %q, want %q", ill[0], text)
		}
	}
}
