package store

import (
	"fmt"
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
		m.derive(given)
	}
	m.Fail = m.Fail.over(p.Fail.renamed(p.Columns, m.Columns))
	m.Requeue = m.Requeue.over(p.Requeue.renamed(p.Columns, m.Columns))
	m.Events = m.Events.over(p.Events)
	return m
}

func (c RowChange) over(p RowChange) RowChange {
	return RowChange{Status: first(c.Status, p.Status), Set: over(p.Set, c.Set)}
}

// renamed is a preset's change for a table whose columns have other names than the preset's.
func (c RowChange) renamed(preset, columns map[string]string) RowChange {
	set := maps.Clone(c.Set)
	for field, was := range preset {
		value, sets := c.Set[was]
		is := columns[field]
		if own := is != "" && is != was && is != columns["status"] && !inParentheses(is); sets && own {
			delete(set, was)
			set[plainName(is)] = strings.ReplaceAll(value, was, operand(is))
		}
	}
	return RowChange{Status: c.Status, Set: set}
}

// plainName is a mapped column as fail.set and requeue.set name it.
func plainName(column string) string {
	parts, problem := identifier(column)
	if problem != "" || len(parts) != 1 {
		return column // what is wrong with it is said when it is compiled
	}
	return parts[0]
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
// a sandbox column that the provider knows. Rows that a user deleted stay, with deleted_at:
// that is how a user of the template most often stops a task.
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
			"sandbox_id": "NULL", "agent_session_id": "NULL",
		}},
	}
}

// keptAlive is until when the sandbox of a finished task is its user's. A kept sandbox expires
// by itself max_duration after it was made, which was before the row last moved. What is added
// to a time out of this world would stop the whole statement.
const keptAlive = "(CASE WHEN keep_alive THEN CASE WHEN %[1]s < timestamp '9999-01-01' " +
	"THEN %[1]s + coalesce(max_duration, 300) * interval '1 minute' ELSE %[1]s END END)"

// derive maps what the template has no columns for, by the names and statuses that hold in
// the end. Who works at a task, and who sets it up, moves updated_at with all that is done,
// so that is the activity; while it is in no hands, it only tells that somebody changed the
// row. A task that runs by its status and names no sandbox yet is only assigned.
func (m *Mapping) derive(given map[string]string) {
	set := func(field, sql string) {
		if _, own := given[field]; !own {
			m.Columns[field] = sql
		}
	}
	updated := operand(m.Columns["updated_at"])
	set("keep_alive_until", fmt.Sprintf(keptAlive, first(updated, "updated_at")))
	status, sandbox := operand(m.Columns["status"]), operand(m.Columns["sandbox"])
	running := m.Statuses["running"]
	if status == "" || sandbox == "" || len(running) == 0 {
		return // what is wrong with them is said when they are compiled
	}
	if updated != "" {
		set("activity_at", "(CASE WHEN "+among(status, running)+" THEN "+updated+" END)")
	}
	if _, own := given["state"]; !own {
		m.Columns["state"], m.Split = m.split(status, sandbox), true
	}
}

// split is the state of a row: what statuses.running means is only assigned without a sandbox.
func (m *Mapping) split(status, sandbox string) string {
	cases := " WHEN " + among(status, m.Statuses["running"]) +
		" AND coalesce(" + sandbox + "::text, '') <> '' THEN 'running'"
	for _, state := range taskStates {
		as := state
		if state == reconcile.TaskRunning {
			as = reconcile.TaskAssigned
		}
		if words := m.Statuses[string(state)]; len(words) > 0 {
			cases += " WHEN " + among(status, words) + " THEN '" + string(as) + "'"
		}
	}
	return "(CASE" + cases + " END)"
}

// operand is a mapped column or expression as it stands in another expression; "" when it
// is neither.
func operand(text string) string {
	if inParentheses(text) {
		return whole(text)
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
