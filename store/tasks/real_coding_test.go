package tasks

import (
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/tasks/mapping"
)

// realCoding are the columns that matter of the template's tables, as its own migrations
// leave them: nothing but the keys is indexed.
const realCoding = `
CREATE TABLE tasks (id text PRIMARY KEY, prompt text NOT NULL, status text NOT NULL DEFAULT 'pending', progress integer DEFAULT 0,
	error text, sandbox_url text, created_at timestamp NOT NULL DEFAULT now(), updated_at timestamp NOT NULL DEFAULT now(),
	completed_at timestamp, logs jsonb, max_duration integer DEFAULT 5, user_id text NOT NULL, deleted_at timestamp,
	keep_alive boolean DEFAULT false, sandbox_id text, agent_session_id text);
CREATE TABLE task_messages (id text PRIMARY KEY, task_id text NOT NULL REFERENCES tasks ON DELETE CASCADE, role text NOT NULL,
	content text NOT NULL, created_at timestamp NOT NULL DEFAULT now());
INSERT INTO tasks (id, prompt, user_id, status, sandbox_id, sandbox_url, logs) VALUES ('a', '', 'u', 'processing', 'sbx_1', 'https://a', '[]'),
	('b', '', 'u', 'processing', NULL, NULL, NULL), ('c', '', 'u', 'pending', NULL, NULL, NULL), ('d', '', 'u', 'completed', 'sbx_2', NULL, '{}');
INSERT INTO task_messages (id, task_id, role, content) VALUES ('m', 'a', 'agent', 'I begin');
`

// TestCodingAgentMark: an agent at work moves no time of its row; what it says grows.
func TestCodingAgentMark(t *testing.T) {
	w := newWorld(t, realCoding, mapping.Mapping{Preset: mapping.CodingAgentName})
	for id, marked := range map[string]bool{"a": true, "b": true, "c": false, "d": false} {
		if got := w.one(id).Mark; (got != "") != marked {
			t.Errorf("mark of %s = %q, want one: %v", id, got, marked)
		}
	}
	for _, work := range []string{
		"UPDATE task_messages SET content = content || '.' WHERE id = 'm'",
		"INSERT INTO task_messages (id, task_id, role, content) VALUES ('n', 'a', 'agent', '')",
		`UPDATE tasks SET logs = logs || '[{"message": "installed"}]' WHERE id = 'a'`,
	} {
		before, other := w.one("a"), w.one("b").Mark
		w.exec(work)
		if w.one("a").Mark == before.Mark || w.one("b").Mark != other {
			t.Errorf("%s: the mark of its task alone must change", work)
		}
		write := reconcile.Write{Step: reconcile.StepFail, Task: before, Reason: reason, Refutable: true, Active: true, Lock: true}
		if got := w.write(write); got != reconcile.WriteAlive {
			t.Errorf("%s: Write = %s, want alive", work, got)
		}
	}
	before := w.one("a").Mark
	w.exec("UPDATE task_messages SET role = 'assistant'; UPDATE tasks SET progress = 50, updated_at = updated_at + interval '1 second'")
	if w.one("a").Mark != before || !w.one("a").ActivityAt.IsZero() {
		t.Error("what is no work changes the mark")
	}
}

// TestCodingAgentGoesOn: a user's message begins the task anew, an agent's does not.
func TestCodingAgentGoesOn(t *testing.T) {
	w := newWorld(t, realCoding, mapping.Mapping{Preset: mapping.CodingAgentName})
	before := w.one("a")
	w.exec("INSERT INTO task_messages (id, task_id, role, content) VALUES ('n', 'a', 'agent', 'done')")
	if now := w.one("a"); now.EntrySum() != before.EntrySum() {
		t.Error("an agent's message begins its task anew")
	}
	w.exec("INSERT INTO task_messages (id, task_id, role, content) VALUES ('o', 'a', 'user', 'now the tests')")
	if now := w.one("a"); now.EntrySum() == before.EntrySum() || reconcile.EntryAttempts(now.EntrySum()) != 0 {
		t.Error("a user's message must begin its task anew, and is no failed attempt")
	}
	if other := w.one("b"); other.AttemptMark != "" && other.AttemptMark == w.one("a").AttemptMark {
		t.Error("it is of its own task alone")
	}
}

// TestCodingAgentTellsItsUser: of a failed task its user sees the logs only.
func TestCodingAgentTellsItsUser(t *testing.T) {
	w := newWorld(t, realCoding, mapping.Mapping{Preset: mapping.CodingAgentName})
	if wrong := bad(w.tasks.Check(t.Context())); len(wrong) > 0 {
		t.Errorf("Check:\n%s", strings.Join(wrong, "\n"))
	}
	for _, id := range []string{"a", "b"} {
		if got := w.fail(w.one(id), reason); got != reconcile.WriteDone {
			t.Fatalf("Write = %s, want done", got)
		}
		got := w.text(`SELECT concat_ws('|', jsonb_array_length(logs), logs->-1->>'type', logs->-1->>'message', coalesce(sandbox_url, '-'),
			(logs->-1->>'timestamp') ~ '^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$',
			abs(extract(epoch FROM (logs->-1->>'timestamp')::timestamptz - now())) < 60) FROM tasks WHERE id = $1`, id)
		if want := "1|error|" + reason + "|-|t|t"; got != want {
			t.Errorf("%s: %s, want %s", id, got, want)
		}
	}
}
