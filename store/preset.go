package store

import (
	"maps"
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// noEvents as events.table turns a preset's events off.
const noEvents = "none"

// Presets are the names that `tasks.preset` may have.
func Presets() []string { return []string{"omoios", codingAgentName, "none"} }

const codingAgentName = "coding-agent"

// WithPreset fills in what the mapping leaves open from its preset. What the mapping
// gives wins key by key; an explicit "" unmaps a column.
func (m Mapping) WithPreset() Mapping {
	p := preset(m.Preset)
	given := m.Columns
	m.Preset = first(m.Preset, "none")
	m.Table = first(m.Table, p.Table)
	m.Where = first(m.Where, p.Where)
	m.Timezone = first(m.Timezone, "UTC")
	m.Columns = over(p.Columns, m.Columns)
	statuses := maps.Clone(p.Statuses)
	if statuses == nil {
		statuses = map[string][]string{}
	}
	maps.Copy(statuses, m.Statuses)
	m.Statuses = statuses
	if m.Preset == codingAgentName {
		m.splitRunning(given)
	}
	m.Fail = m.Fail.over(p.Fail)
	m.Requeue = m.Requeue.over(p.Requeue)
	m.Events = m.Events.over(p.Events)
	return m
}

func (c RowChange) over(p RowChange) RowChange {
	return RowChange{Status: first(c.Status, p.Status), Set: over(p.Set, c.Set)}
}

func (e EventMapping) over(p EventMapping) EventMapping {
	e.Table = first(e.Table, p.Table)
	if e.Table == noEvents {
		return EventMapping{}
	}
	if e.Table == "" {
		return e
	}
	e.Columns = over(p.Columns, e.Columns)
	e.Started = given(e.Started, p.Started)
	e.Heartbeat = given(e.Heartbeat, p.Heartbeat)
	e.Waiting = given(e.Waiting, p.Waiting)
	e.Finished = given(e.Finished, p.Finished)
	return e
}

// given is the config's list, also an empty one, else the preset's.
func given(config, preset []string) []string {
	if config != nil {
		return config
	}
	return slices.Clone(preset)
}

func first(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}

func preset(name string) Mapping {
	switch name {
	case "omoios":
		return omoios()
	case codingAgentName:
		return codingAgent()
	}
	return Mapping{}
}

// omoios is the platform with tasks and sandbox_events, whose sandbox ids are its own.
func omoios() Mapping {
	return Mapping{
		Table: "public.tasks",
		Columns: map[string]string{
			"id": "id", "status": "status", "sandbox": "sandbox_id", "session": "conversation_id",
			"created_at": "created_at", "started_at": "started_at", "updated_at": "updated_at", "deadline_at": "deadline_at",
			"timeout": "(timeout_seconds * interval '1 second')", "error": "error_message",
			"attempts": "retry_count", "max_attempts": "max_retries",
		},
		Statuses: map[string][]string{
			"pending": {"pending"}, "assigned": {"assigned", "claiming"}, "running": {"running"},
			"completed": {"completed"}, "failed": {"failed"}, "stopped": {"cancelled"},
		},
		Fail: RowChange{Status: "failed", Set: map[string]string{"error_message": "@reason", "completed_at": "@now"}},
		Requeue: RowChange{Status: "pending", Set: map[string]string{
			"sandbox_id": "NULL", "conversation_id": "NULL", "retry_count": "retry_count + 1", "error_message": "@reason",
		}},
		Events: EventMapping{
			Table:   "public.sandbox_events",
			Columns: map[string]string{"sandbox": "sandbox_id", "type": "event_type", "at": "created_at", "data": "event_data"},
			Started: []string{"agent.started"}, Heartbeat: []string{"agent.heartbeat"},
			Waiting: []string{"agent.waiting"}, Finished: []string{"agent.completed"},
		},
	}
}

// codingAgent is the coding-agent template: one table, no events, times without time zone,
// a sandbox column that the provider knows. Rows that a user deleted stay, with deleted_at.
//
// A kept sandbox expires by itself max_duration after it was made, which was before the row
// last moved: until then it is the user's.
func codingAgent() Mapping {
	return Mapping{
		Table: "public.tasks",
		Where: "deleted_at IS NULL",
		Columns: map[string]string{
			"id": "id", "status": "status", "sandbox": "sandbox_id", "session": "agent_session_id",
			"created_at": "created_at", "updated_at": "updated_at", "error": "error",
			"timeout":          "(max_duration * interval '1 minute')",
			"keep_alive_until": "(CASE WHEN keep_alive THEN updated_at + coalesce(max_duration, 300) * interval '1 minute' END)",
		},
		Statuses: map[string][]string{
			"pending": {"pending"}, "running": {"processing"},
			"completed": {"completed"}, "failed": {"error"}, "stopped": {"stopped"},
		},
		Fail: RowChange{Status: "error", Set: map[string]string{
			"error": "@reason", "completed_at": "@now", "updated_at": "@now",
			"sandbox_id": "NULL", "agent_session_id": "NULL",
		}},
	}
}

// splitRunning maps what the template has no columns for, by the names and statuses that
// hold in the end. A task that runs by its status and names no sandbox yet is only assigned.
// A worker moves updated_at with all it does, so that is the activity; while no worker is at
// the row, it only tells that somebody changed it.
func (m *Mapping) splitRunning(given map[string]string) {
	status, sandbox := operand(m.Columns["status"]), operand(m.Columns["sandbox"])
	running := m.Statuses["running"]
	if status == "" || sandbox == "" || len(running) == 0 {
		return // what is wrong with them is said when they are compiled
	}
	working := among(status, running) + " AND coalesce(" + sandbox + "::text, '') <> ''"
	if _, own := given["activity_at"]; !own && m.Columns["updated_at"] != "" {
		m.Columns["activity_at"] = "(CASE WHEN " + working + " THEN " + operand(m.Columns["updated_at"]) + " END)"
	}
	if _, own := given["state"]; own {
		return
	}
	cases := " WHEN " + working + " THEN 'running'"
	for _, state := range taskStates {
		as := state
		if state == reconcile.TaskRunning {
			as = reconcile.TaskAssigned
		}
		if words := m.Statuses[string(state)]; len(words) > 0 {
			cases += " WHEN " + among(status, words) + " THEN '" + string(as) + "'"
		}
	}
	m.Columns["state"], m.Split = "(CASE"+cases+" END)", true
}

// operand is a mapped column or expression as it stands in another expression; "" when it
// is neither.
func operand(text string) string {
	if inParentheses(text) {
		return text
	}
	parts, problem := identifier(text)
	if problem != "" {
		return ""
	}
	return parts.Sanitize()
}

// among is SQL that looks for a status among words.
func among(status string, words []string) string {
	out := make([]string, len(words))
	for i, word := range words {
		out[i] = "'" + strings.ReplaceAll(word, "'", "''") + "'"
	}
	return status + "::text IN (" + strings.Join(out, ", ") + ")"
}
