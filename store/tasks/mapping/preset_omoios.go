package mapping

import (
	"fmt"
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store"
)

// omoios is the platform with tasks and sandbox_events, whose sandbox ids are its own names.
//
// deadline_at is not mapped: it is a date that orders the queue, and nothing ends for it.
// Events have the id of their task in event_data too. It is not mapped (events.columns.task):
// only the rows of the orchestrator inside the API have no sandbox, which is off by default,
// and without an index on that expression each pass would read the whole table of events for
// every pending row.
func omoios() Mapping {
	return Mapping{
		Table: "public.tasks",
		Columns: map[string]string{
			"id": "id", "status": "status", "sandbox": "sandbox_id", "session": "conversation_id",
			"created_at": "created_at", "started_at": "started_at", "updated_at": "updated_at",
			"timeout": "(timeout_seconds * interval '1 second')", "error": "error_message",
			"attempts": "retry_count", "max_attempts": "max_retries",
		},
		Statuses: map[string][]string{
			"pending": {"pending"}, "assigned": {"assigned", "claiming"},
			// The worker waits in its sandbox while its work is looked at, and goes on with what is found.
			"running":   append([]string{"running"}, OmoiosValidating...),
			"completed": {"completed", "done"}, "failed": {"failed"}, "stopped": {"cancelled"},
		},
		Fail: RowChange{Status: "failed", Set: map[string]string{"error_message": "@reason", "completed_at": "@now"}},
		Requeue: RowChange{Status: "pending", Set: map[string]string{
			"sandbox_id": "NULL", "conversation_id": "NULL", "retry_count": "retry_count + 1", "error_message": "@reason",
		}},
		Events: EventMapping{
			Table:   "public.sandbox_events",
			Columns: map[string]string{"sandbox": "sandbox_id", "type": "event_type", "at": "created_at", "data": "event_data"},
			Started: EventTypes("agent.started"), Heartbeat: EventTypes("agent.heartbeat"), Waiting: EventTypes("agent.waiting"),
			// agent.completed ends one iteration of many.
			Finished: []EventType{{Type: "continuous.completed", Where: "data->>'validation_passed' = 'true'"}},
			// The platform's own code gives these; its monitor takes what says `agent` for work.
			Set: map[string]string{"id": "gen_random_uuid()::text", "source": "'system'"},
		},
		// One sandbox works through all phases of a spec, and has no task.
		ExplainedBy: []Explainer{{Table: "public.specs", Key: "id", Label: "spec_id"}},
	}
}

// OmoiosValidating are the statuses of a task whose work is looked at, in a sandbox beside
// its own, or goes on after that.
var OmoiosValidating = []string{
	"pending_validation", "validating", "needs_revision", "needs_work", "under_review", "validation_in_progress",
}

// deriveOmoios maps what the platform has no columns for, by the names and statuses that hold
// in the end.
func (m *Mapping) deriveOmoios(given map[string]string) {
	set := func(field, sql string) {
		if _, own := given[field]; !own && sql != "" {
			m.Columns[field] = sql
		}
	}
	status, attempts := operand(m.Columns["status"]), operand(m.Columns["attempts"])
	if started := operand(m.Columns["started_at"]); started != "" && attempts != "" {
		// A retry keeps the time when the first attempt started.
		set("started_at", fmt.Sprintf("(CASE WHEN coalesce(%s, 0) = 0 THEN %s END)", attempts, started))
	}
	if status == "" {
		return // what is wrong with it is said when it is compiled
	}
	set("sandboxes", "(CASE WHEN validation_enabled OR validation_iteration > 0 OR "+among(status, OmoiosValidating)+
		" THEN 2 ELSE 1 END)")
	if m.Where = strings.TrimSpace(m.Where); m.Where == "" {
		m.Where, m.Optional = m.autonomous(status), append(m.Optional, "where")
	}
	if _, own := given["state"]; !own {
		m.splitCancelled(status)
	}
}

// splitCancelled tells who was cancelled from who failed: the platform stores one status for
// both. Live rows are not touched by it, so an index on the status can still be used.
func (m *Mapping) splitCancelled(status string) {
	reason := operand(m.Columns["error"])
	if reason == "" || len(m.Statuses["failed"]) == 0 {
		return
	}
	m.Columns["state"], m.Split = m.stateOfStatus(status, special{
		Words: m.Statuses["failed"],
		where: "(" + reason + " LIKE 'Task cancelled:%' OR " + reason + " LIKE 'EMERGENCY CANCELLATION:%')",
		state: reconcile.TaskStopped,
	}), true
}

// autonomous is the condition that somebody means the task to be worked at: a project without
// autonomous execution leaves its tasks pending for as long as it likes. The other tables are
// looked up for pending rows only.
func (m *Mapping) autonomous(status string) string {
	pending := m.Statuses["pending"]
	if len(pending) == 0 {
		return ""
	}
	return fmt.Sprintf("CASE WHEN %s THEN NOT EXISTS (SELECT FROM %s AS k JOIN %s AS p ON p.id = k.project_id "+
		"WHERE k.id = %s AND NOT p.autonomous_execution_enabled) ELSE true END",
		among(status, pending), m.Beside("tickets"), m.Beside("projects"), m.ofTask(store.Quoted("ticket_id")))
}
