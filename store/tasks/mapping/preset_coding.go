package mapping

import (
	"fmt"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// codingAgent is the coding-agent template: one table, no events, times without time zone,
// a sandbox column that the provider knows. Rows that a user deleted stay, with deleted_at:
// that is how a user of the template most often stops a task. What a user sees of a task are
// its logs and messages, never its error.
func codingAgent() Mapping {
	return Mapping{
		Table: "public.tasks",
		Columns: map[string]string{
			"id": "id", "status": "status", "sandbox": "sandbox_id", "session": "agent_session_id",
			"created_at": "created_at", "updated_at": "updated_at", "deleted_at": "deleted_at", "error": "error",
			"timeout": "(max_duration * interval '1 minute')",
		},
		Statuses: map[string][]string{
			"pending": {"pending"}, "running": {"processing"},
			"completed": {"completed"}, "failed": {"error"}, "stopped": {"stopped"},
		},
		Fail: RowChange{Status: "error", Set: map[string]string{
			"error": "@reason", "completed_at": "@now", "updated_at": "@now",
			"sandbox_id": "NULL", "sandbox_url": "NULL", "agent_session_id": "NULL", "logs": logged,
		}},
	}
}

// logged adds a line to the logs as the template's own logger does.
const logged = `CASE WHEN jsonb_typeof(logs) = 'array' THEN logs ELSE '[]' END || ` +
	`jsonb_build_array(jsonb_build_object(` +
	`'type', 'error', 'message', @reason, 'timestamp', to_char(@now AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')))`

// keptAlive is until when the sandbox of a finished task is its user's. A kept sandbox expires
// by itself max_duration after it was made, which was before the row last moved. What is added
// to a time out of this world would stop the whole statement.
const keptAlive = "(CASE WHEN keep_alive THEN CASE WHEN %[1]s < timestamp '9999-01-01' " +
	"THEN %[1]s + coalesce(max_duration, 300) * interval '1 minute' ELSE %[1]s END END)"

// deriveCodingAgent maps what the template has no columns for, by the names and statuses that
// hold in the end. A task that runs by its status and names no sandbox yet is only assigned.
func (m *Mapping) deriveCodingAgent(given map[string]string) {
	set := func(field, sql string) {
		if _, own := given[field]; !own {
			m.Columns[field] = sql
		}
	}
	updated := operand(m.Columns["updated_at"])
	set("keep_alive_until", fmt.Sprintf(keptAlive, reconcile.FirstOf(updated, "updated_at")))
	status, sandbox := operand(m.Columns["status"]), operand(m.Columns["sandbox"])
	running := m.Statuses["running"]
	if status == "" || sandbox == "" || len(running) == 0 {
		return // what is wrong with them is said when they are compiled
	}
	if _, own := given["activity_mark"]; !own {
		m.Columns["activity_mark"], m.Optional = m.work(among(status, running)), append(m.Optional, "activity_mark")
	}
	if _, own := given["attempt_mark"]; !own {
		m.Columns["attempt_mark"], m.Optional = m.asked(among(status, running)), append(m.Optional, "attempt_mark")
	}
	if _, own := given["state"]; !own {
		m.Columns["state"], m.Split = m.stateOfStatus(status, special{
			Words: running, where: "coalesce(" + sandbox + "::text, '') = ''", state: reconcile.TaskAssigned,
		}), true
	}
}

// asked is what changes when a user goes on with a task: each begins with a message of the user's, and the
// status may be the same again before anybody has seen another.
func (m *Mapping) asked(running string) string {
	return fmt.Sprintf("(CASE WHEN %s THEN (SELECT count(*) FROM %s AS m WHERE m.task_id = %s AND m.role = 'user') END)",
		running, m.Beside("task_messages"), m.ofTask(reconcile.FirstOf(operand(m.Columns["id"]), `"id"`)))
}

// work is what changes with the work at a task. No time of the row moves while an agent works:
// most agents only make one message longer and longer, and whoever sets the task up writes log
// lines. The lengths in bytes are known without reading the texts.
func (m *Mapping) work(running string) string {
	return fmt.Sprintf("(CASE WHEN %s THEN concat_ws('/', "+
		"(SELECT count(*) || '/' || coalesce(sum(octet_length(m.content)), 0) "+
		"FROM %s AS m WHERE m.task_id = %s), pg_column_size(logs)) END)",
		running, m.Beside("task_messages"), m.ofTask(reconcile.FirstOf(operand(m.Columns["id"]), `"id"`)))
}
