package tasks

import (
	"maps"
	"slices"
)

// A Mapping says where the tasks are and what their columns and statuses mean: the
// sections `tasks` and `events` of the config, with a preset's defaults filled in by
// [Mapping.WithPreset].
type Mapping struct {
	Preset   string            // omoios, coding-agent or none
	Table    string            // schema.table; what repairs write to
	From     string            // a view, or a query, that is read in its place; "" to read the table
	Key      string            // with From: what in Table is the task's id; columns.id when it is not given
	Where    string            // SQL that narrows what may be judged, never what explains a sandbox
	Timezone string            // of columns without time zone
	Columns  map[string]string // canonical field: column, or an SQL expression in parentheses; "" when not mapped
	Statuses map[string][]string
	Fail     RowChange
	Requeue  RowChange
	Many     bool // several sandboxes at once are usual for a task, however many
	Notify   string
	Attrs    []string // further columns that overrides ask for (task.NAME), read as text
	Events   EventMapping

	ExplainedBy []Explainer // further tables whose rows explain sandboxes
	Entries     []Entry     // what rows call the entries of the config

	// Optional are the parts that a preset adds for a better judgement, and that are left out where this
	// role cannot read them, or the table is not there: "where", "activity_mark", "attempt_mark".
	Optional []string

	// Split says that the state expression is the preset's own: it splits what
	// statuses.running means in two, so a live row still has a live status.
	Split bool
}

// A RowChange is what fail or requeue sets on the row. Values are SQL expressions, which
// may name @reason and @now. A column whose value is "" is not set.
type RowChange struct {
	None   bool // nothing is written, whatever the preset says
	Status string
	Set    map[string]string
	SQL    []string // statements after that, in the same transaction; they may also name @id
	Call   bool     // the platform is asked instead, by its own API; nothing else is given then
}

// Whole reports whether it is said what a row becomes: a column alone makes no state.
func (c *RowChange) Whole() bool { return c.Status != "" || len(c.SQL) > 0 || c.Call }

// An EventMapping says where the workers' events are. The zero value is no events.
type EventMapping struct {
	Table                                 string            // "none" turns a preset's events off
	From                                  string            // a query that is read in its place; "" to read the table
	Columns                               map[string]string // sandbox, type, at, data, task
	Started, Heartbeat, Waiting, Finished []EventType
	Write                                 bool              // add a sandkeeper.failed event with each fail
	Set                                   map[string]string // further columns of what is written: column, SQL expression
}

// Mapped reports whether there are events.
func (e *EventMapping) Mapped() bool { return e.Table != "" || e.From != "" }

// An EventType is a type of event that means something: always, or where an SQL condition
// over the event holds, in which `data` is the mapped data column as jsonb.
type EventType struct{ Type, Where string }

// EventTypes are types that mean something always.
func EventTypes(types ...string) []EventType {
	out := make([]EventType, len(types))
	for i, t := range types {
		out[i].Type = t
	}
	return out
}

// An Explainer is a further table whose rows explain sandboxes that no task does.
type Explainer struct {
	Table string // schema.table
	Key   string // the column that holds what the sandbox shows
	Where string // SQL condition of the rows that explain; "" for every row
	Label string // the sandbox's label that is the key
	Name  bool   // the sandbox's name or id is the key, and no label
}

// An Entry is what columns.provider holds in the rows of one entry of the config.
type Entry struct {
	Name string   // of the entry
	Rows []string // besides the name; * is any text
}

// A MappingError is one mistake in a mapping, with the config key that it belongs to.
type MappingError struct {
	Key     string // "tasks.columns.started_at"
	Problem string
	Fix     string // what to write instead; "" when the problem says it
}

// Error is the key, the problem and the fix on one line.
func (e *MappingError) Error() string {
	if e.Fix == "" {
		return e.Key + ": " + e.Problem
	}
	return e.Key + ": " + e.Problem + "; " + e.Fix
}

// A kind is what values of a field are, whatever the column's own type.
type kind int

const (
	textual kind = iota
	moment
	span
	number
)

// A field is one canonical field of a task.
type field struct {
	name string
	kind kind
}

// taskFields are the fields that a task row may be mapped to, in the order in which they
// are read.
var taskFields = []field{
	{"id", textual}, {"status", textual}, {"state", textual}, {"sandbox", textual}, {"provider", textual},
	{"template", textual}, {"session", textual}, {"worker", textual}, {"error", textual}, {"activity_mark", textual},
	{"attempt_mark", textual}, {"tenant", textual}, {"trace", textual},
	{"created_at", moment}, {"assigned_at", moment}, {"started_at", moment}, {"heartbeat_at", moment},
	{"activity_at", moment}, {"updated_at", moment}, {"deadline_at", moment}, {"keep_alive_until", moment},
	{"deleted_at", moment}, {"fails_at", moment}, {"state_since", moment}, {"ended_at", moment}, {"due_at", moment},
	{"sleeps_at", moment}, {"timeout", span}, {"attempts", number}, {"max_attempts", number},
	{"sandboxes", number},
}

// eventFields are the fields that an event may be mapped to.
var eventFields = []field{{"sandbox", textual}, {"type", textual}, {"at", moment}, {"data", textual}, {"task", textual}}

func isField(fields []field, name string) bool {
	return slices.ContainsFunc(fields, func(f field) bool { return f.name == name })
}

func names(fields []field) []string {
	out := make([]string, 0, len(fields))
	for _, f := range fields {
		out = append(out, f.name)
	}
	return out
}

// over is the preset's values with the config's on top, without those that the config
// unmaps with an explicit "".
func over(preset, config map[string]string) map[string]string {
	merged := maps.Clone(preset)
	if merged == nil {
		merged = map[string]string{}
	}
	maps.Copy(merged, config)
	maps.DeleteFunc(merged, func(_, value string) bool { return value == "" })
	return merged
}
