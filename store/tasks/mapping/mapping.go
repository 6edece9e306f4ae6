package mapping

import (
	"maps"
	"slices"

	"github.com/sandkeeper/sandkeeper/reconcile"
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

// An Error is one mistake in a mapping, with the config key that it belongs to.
type Error struct {
	Key     string // "tasks.columns.started_at"
	Problem string
	Fix     string // what to write instead; "" when the problem says it
}

// Error is the key, the problem and the fix on one line.
func (e *Error) Error() string {
	if e.Fix == "" {
		return e.Key + ": " + e.Problem
	}
	return e.Key + ": " + e.Problem + "; " + e.Fix
}

// A Kind is what values of a field are, whatever the column's own type.
type Kind int

// The kinds: texts, times, lengths of time, whole numbers.
const (
	Textual Kind = iota
	Moment
	Span
	Number
)

// A Field is one canonical field of a task.
type Field struct {
	Name string
	Kind Kind
}

// TaskFields are the fields that a task row may be mapped to, in the order in which they
// are read.
var TaskFields = []Field{
	{"id", Textual}, {"status", Textual}, {"state", Textual}, {"sandbox", Textual}, {"provider", Textual},
	{"template", Textual}, {"session", Textual}, {"worker", Textual}, {"error", Textual}, {"activity_mark", Textual},
	{"attempt_mark", Textual}, {"tenant", Textual}, {"trace", Textual},
	{"created_at", Moment}, {"assigned_at", Moment}, {"started_at", Moment}, {"heartbeat_at", Moment},
	{"activity_at", Moment}, {"updated_at", Moment}, {"deadline_at", Moment}, {"keep_alive_until", Moment},
	{"deleted_at", Moment}, {"fails_at", Moment}, {"state_since", Moment}, {"ended_at", Moment}, {"due_at", Moment},
	{"sleeps_at", Moment}, {"timeout", Span}, {"attempts", Number}, {"max_attempts", Number},
	{"sandboxes", Number},
}

// EventFields are the fields that an event may be mapped to.
var EventFields = []Field{{"sandbox", Textual}, {"type", Textual}, {"at", Moment}, {"data", Textual}, {"task", Textual}}

// IsField reports whether one of the fields has the name.
func IsField(fields []Field, name string) bool {
	return slices.ContainsFunc(fields, func(f Field) bool { return f.Name == name })
}

// Names are the names of the fields, in their order.
func Names(fields []Field) []string {
	out := make([]string, 0, len(fields))
	for _, f := range fields {
		out = append(out, f.Name)
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

// Of are the types that mean a kind.
func (e *EventMapping) Of(kind string) []EventType {
	switch kind {
	case "started":
		return e.Started
	case "heartbeat":
		return e.Heartbeat
	case "waiting":
		return e.Waiting
	}
	return e.Finished
}

// PlainTypes are the types that mean a kind whatever else the event holds.
func (e *EventMapping) PlainTypes(kind string) []string {
	out := []string{}
	for _, t := range e.Of(kind) {
		if t.Where == "" {
			out = append(out, t.Type)
		}
	}
	return out
}

// Clashes reports whether an event could be of both.
func (t EventType) Clashes(other EventType) bool {
	return t.Type == other.Type && (t.Where == "" || other.Where == "")
}

// TaskStates are the canonical states in the order of a task's life.
var TaskStates = []reconcile.TaskState{
	reconcile.TaskPending, reconcile.TaskAssigned, reconcile.TaskRunning,
	reconcile.TaskCompleted, reconcile.TaskFailed, reconcile.TaskStopped, reconcile.TaskParked, reconcile.TaskWaiting,
}
