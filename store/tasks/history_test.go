package tasks

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/pgtest"
	"github.com/sandkeeper/sandkeeper/store/tasks/mapping"
)

// history reads all that was over since a moment, each task in a line, by id.
func (w *world) history(ask HistoryRead) (lines []string, seen HistorySeen) {
	w.t.Helper()
	ask.Seen = func(s HistorySeen) { seen = s }
	err := w.tasks.History(w.t.Context(), ask, func(p *reconcile.PastTask) {
		line := fmt.Sprintf("%s %s ended %s class %q:", p.Task.ID, p.Task.State, clockText(p.Ended), p.Class)
		for _, s := range p.Signs {
			line += fmt.Sprintf(" %s/%d", clockText(s.At), s.Kind)
		}
		lines = append(lines, line)
	})
	if err != nil {
		w.t.Fatal(err)
	}
	slices.Sort(lines)
	return lines, seen
}

func clockText(at time.Time) string {
	if at.IsZero() {
		return "-"
	}
	return at.Format("15:04")
}

func (w *world) wantHistory(ask HistoryRead, want ...string) {
	w.t.Helper()
	got, _ := w.history(ask)
	if !slices.Equal(got, want) {
		w.t.Errorf("history:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestHistoryOfOmoios: finished tasks come with all events of their workers and none of ours, those at work without an
// end, and older ones not at all.
func TestHistoryOfOmoios(t *testing.T) {
	w := realWorld(t, mapping.Mapping{})
	w.enqueued("a", "t-free", `status = 'completed', sandbox_id = 'box-a', started_at = '2026-02-01 09:10Z',
		completed_at = '2026-02-01 09:40Z', updated_at = '2026-02-01 18:00Z'`)
	w.enqueued("b", "t-free", `status = 'failed', error_message = 'Task cancelled: by ana', completed_at = '2026-02-01 09:50Z'`)
	w.enqueued("c", "t-free", `status = 'running', sandbox_id = 'box-c'`)
	w.enqueued("d", "t-free", `status = 'completed', completed_at = '2026-01-01 09:00Z'`)
	w.enqueued("e", "t-free", `status = 'odd'`)
	for _, e := range [][2]string{{"agent.started", "09:10Z"}, {"agent.heartbeat", "09:11Z"}, {"agent.waiting", "09:12Z"},
		{"agent.tool_use", "09:13Z"}, {"sandkeeper.failed", "09:14Z"}, {"agent.tool_use", "08:00Z"}} {
		w.event("box-a", e[0], "2026-02-01 "+e[1], "{}")
	}
	w.event("box-a", "continuous.completed", "2026-02-01 09:39Z", `{"validation_passed": true}`)
	w.event("box-a", "continuous.completed", "2026-02-01 09:38Z", `{"validation_passed": false}`)
	w.event("box-c", "agent.heartbeat", "2026-02-01 09:20Z", "{}")
	w.wantHistory(HistoryRead{Since: utc("2026-01-15 00:00:00")},
		`a completed ended 09:40 class "task.task_type=implement": 09:10/1 09:11/2 09:12/4 09:13/0 09:38/0 09:39/8`,
		`b stopped ended 09:50 class "task.task_type=implement":`,
		`c running ended - class "task.task_type=implement": 09:20/2`)
}

// TestHistoryOfCodingAgent: no events, and that a user deleted a task later is not its end.
func TestHistoryOfCodingAgent(t *testing.T) {
	w := newWorld(t, pgtest.CodingAgent+pgtest.CodingAgentUser, mapping.Mapping{Preset: mapping.CodingAgentName})
	w.exec(`INSERT INTO tasks (id, prompt, user_id, status, selected_agent, created_at, updated_at, completed_at, deleted_at, max_duration)
		VALUES ('a', '', 'u', 'completed', 'codex', '2026-02-01 09:00', '2026-02-01 19:00', '2026-02-01 09:30', '2026-02-01 19:00', 60),
			('b', '', 'u', 'error', 'claude', '2026-02-01 09:00', '2026-02-01 10:00', NULL, NULL, 60),
			('c', '', 'u', 'processing', 'claude', '2026-02-01 09:00', '2026-02-01 10:00', NULL, '2026-02-01 10:00', 60)`)
	w.wantHistory(HistoryRead{Since: utc("2026-01-15 00:00:00")},
		`a completed ended 09:30 class "task.selected_agent=codex":`,
		`b failed ended 10:00 class "task.selected_agent=claude":`,
		`c stopped ended 10:00 class "task.selected_agent=claude":`)
}

// TestHistoryOfOwnMapping: ids that are numbers, events that name their task, one row that cannot be read.
func TestHistoryOfOwnMapping(t *testing.T) {
	w := newWorld(t, `CREATE TABLE jobs (id bigint PRIMARY KEY, status text, made timestamptz, over timestamptz, odd text);
		CREATE TABLE said (job bigint, what text, at timestamptz);
		INSERT INTO jobs SELECT n, 'ok', '2026-02-01 09:00Z', '2026-02-01 09:30Z', '1' FROM generate_series(1, 13) AS n;
		UPDATE jobs SET odd = 'none' WHERE id = 7;
		INSERT INTO said SELECT n, 'beat', '2026-02-01 09:10Z' FROM generate_series(1, 12) AS n`, mapping.Mapping{
		Table: "jobs", Columns: map[string]string{"id": "id", "status": "status", "created_at": "made", "ended_at": "over",
			"attempts": "(odd::int)"},
		Where: "id <> 13", Statuses: map[string][]string{"running": {"busy"}, "completed": {"ok"}},
		Events: mapping.EventMapping{Table: "said", Columns: map[string]string{"task": "job", "type": "what", "at": "at"},
			Heartbeat: mapping.EventTypes("beat")},
	})
	got, seen := w.history(HistoryRead{Since: utc("2026-01-15 00:00:00")})
	if len(got) != 11 || seen.Tasks != 11 || seen.Events != 11 || seen.LeftOut != 1 {
		t.Errorf("%d tasks, %+v; want 11 and one left out", len(got), seen)
	}
	if want := `1 completed ended 09:30 class "": 09:10/2`; !slices.Contains(got, want) {
		t.Errorf("no line %s in %q", want, got)
	}
	if got, _ := w.history(HistoryRead{Since: utc("2026-01-15 00:00:00"), After: "9"}); len(got) != 3 {
		t.Errorf("after 9: %q, want the last three", got)
	}
	if got, _ := w.history(HistoryRead{Since: utc("2026-02-01 09:31:00")}); len(got) != 0 {
		t.Errorf("since later: %q, want none", got)
	}
}

// TestHistoryByPages: each task once, whatever the pages.
func TestHistoryByPages(t *testing.T) {
	w := newWorld(t, realOmoios, mapping.Mapping{Preset: mapping.OmoiosName})
	w.exec(`INSERT INTO tasks (id, ticket_id, phase_id, task_type, priority, status, created_at, completed_at, updated_at)
		SELECT 'task-' || n, 't-free', 'PHASE', 'implement', 'HIGH', 'completed', '2026-02-01 09:00Z', '2026-02-01 10:00Z',
			'2026-02-01 10:00Z' FROM generate_series(1, 1234) AS n`)
	pages := 0
	seen := map[string]int{}
	err := w.tasks.History(t.Context(), HistoryRead{Since: utc("2026-01-01 00:00:00"), Share: .9, Seen: func(HistorySeen) { pages++ }},
		func(p *reconcile.PastTask) { seen[p.Task.ID]++ })
	if err != nil || len(seen) != 1234 || pages < 3 {
		t.Errorf("%d tasks in %d pages, %v; want 1234 in some", len(seen), pages, err)
	}
	for id, n := range seen {
		if n != 1 {
			t.Errorf("%s was read %d times", id, n)
		}
	}
}
