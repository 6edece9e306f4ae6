package platforms

import (
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestCheckMeasures: each thing that check measures of a mapping is told with its number, a row that shows it and the
// line to write, of rows that are made for it. Of healthy rows nothing is.
func TestCheckMeasures(t *testing.T) {
	p := labOf(t, labTasks+labFail+labEngine, engine)
	worlds := stories{}
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
			[]string{"warn", "clock heartbeat_at", "1 in 20 is older than", "without one is called silent", "rules: {heartbeat-lost: {after: "}},
		"a status means nothing": {"UPDATE jobs SET status = 'odd' WHERE id = 'j-well-3'",
			[]string{"FAIL", "tasks.statuses", `values that mean no state: ["odd"]`, "add each to the state that it means"}},
		"a link leads nowhere": {"UPDATE jobs SET id = 'x-3', box = NULL WHERE id = 'j-well-3'",
			[]string{"warn", "links: rows explain 11 of 12", `"j-well-3"`, "tasks.explained_by, owns.except, owns.spares"}},
	} {
		worlds[name] = func(w *world) {
			labCompany(w)
			w.facts.asks = nil
			w.finally(func(w *world) {
				for _, do := range w.lives {
					do()
				}
				w.sql("UPDATE jobs SET written = now() - interval '20 minutes' - (now() - beat) WHERE beat IS NOT NULL")
				w.sql(c.rows)
				_, out, _ := w.run("check")
				w.says(out, c.says...)
			})
		}
	}
	p.gaps = []time.Duration{61 * time.Second}
	p.play(t, worlds)
}

// says demands that one line of check's about rows is not ok, with all of the texts; without any, that there is none.
func (w *world) says(out string, texts ...string) {
	w.Helper()
	var ill []string
	for line := range strings.Lines(out) {
		measures := regexp.MustCompile("clock |tasks.statuses|links|exclusive").MatchString(line)
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
