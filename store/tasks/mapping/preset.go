package mapping

import (
	"maps"
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/tasks/sqltext"
)

// noEvents as events.table turns a preset's events off.
const noEvents = "none"

// Presets are the names that `tasks.preset` may have.
func Presets() []string {
	return append([]string{OmoiosName, CodingAgentName}, append(slices.Sorted(maps.Keys(further)), "none")...)
}

// PresetShape is the class of a preset's platform, "" where nothing is said.
func PresetShape(name string) string { return further[name].shape }

// WorkerCommand is a command that tells whether a preset's worker is in its sandbox (`probe.worker`), "" where
// nobody knows what it runs. Each pattern has a letter in brackets, so that it does not find its own shell. The
// agents of coding-agent are command lines, and the platform's own last steps are git and npm.
func WorkerCommand(preset string) string {
	switch preset {
	case OmoiosName:
		return "pgrep -f '[c]laude_sandbox_worker.py'"
	case CodingAgentName:
		return "pgrep -f '[c]laude|[c]odex|[c]opilot|[c]ursor-agent|[g]emini|[o]pencode|[g]it |[n]pm '"
	}
	return ""
}

// The presets that other code has to know by name.
const (
	OmoiosName      = "omoios"
	CodingAgentName = "coding-agent"
)

// WithPreset fills in what the mapping leaves open from its preset. What the mapping
// gives wins key by key; an explicit "" unmaps a column.
func (m Mapping) WithPreset() Mapping {
	p := Preset(m.Preset)
	given := m.Columns
	m.Preset = reconcile.FirstOf(m.Preset, "none")
	if m.Table == "" && m.From == "" {
		m.Table, m.From, m.Key = p.Table, p.From, p.Key
	}
	m.Where = reconcile.FirstOf(m.Where, p.Where)
	m.Timezone = reconcile.FirstOf(m.Timezone, "UTC")
	m.Columns = over(p.Columns, m.Columns)
	statuses := maps.Clone(p.Statuses)
	if statuses == nil {
		statuses = map[string][]string{}
	}
	maps.Copy(statuses, m.Statuses)
	m.Statuses = statuses
	switch m.Preset {
	case CodingAgentName:
		m.deriveCodingAgent(given)
	case OmoiosName:
		m.deriveOmoios(given)
	}
	m.Fail = m.Fail.over(p.Fail.renamed(p.Columns, m.Columns))
	m.Requeue = m.Requeue.over(p.Requeue.renamed(p.Columns, m.Columns))
	m.Events = m.Events.over(p.Events)
	m.ExplainedBy = listed(m.ExplainedBy, p.ExplainedBy)
	return m
}

func (c RowChange) over(p RowChange) RowChange {
	if c.Call {
		return c // what the platform does is all that is done
	}
	if c.None || p.None && c.Status == "" && len(c.Set)+len(c.SQL) == 0 {
		return RowChange{None: true}
	}
	if len(c.SQL) > 0 && c.Status == "" {
		p = RowChange{} // what the statements do is all that is done
	}
	return RowChange{Status: reconcile.FirstOf(c.Status, p.Status), Set: over(p.Set, c.Set), SQL: listed(c.SQL, p.SQL)}
}

// renamed is a preset's change for a table whose columns have other names than the preset's.
func (c RowChange) renamed(preset, columns map[string]string) RowChange {
	set := maps.Clone(c.Set)
	for field, was := range preset {
		value, sets := c.Set[was]
		is := columns[field]
		if own := is != "" && is != was && is != columns["status"] && !sqltext.InParentheses(is); sets && own {
			delete(set, was)
			set[plainName(is)] = strings.ReplaceAll(value, was, operand(is))
		}
	}
	return RowChange{None: c.None, Status: c.Status, Set: set, SQL: c.SQL}
}

// plainName is a mapped column as fail.set and requeue.set name it.
func plainName(column string) string {
	parts, problem := sqltext.Identifier(column)
	if problem != "" || len(parts) != 1 {
		return column // what is wrong with it is said when it is compiled
	}
	return parts[0]
}

func (e EventMapping) over(p EventMapping) EventMapping {
	if e.From == "" {
		e.Table = reconcile.FirstOf(e.Table, p.Table)
	}
	if e.Table == noEvents {
		return EventMapping{}
	}
	if !e.Mapped() {
		return e
	}
	e.Columns = over(p.Columns, e.Columns)
	e.Started = listed(e.Started, p.Started)
	e.Heartbeat = listed(e.Heartbeat, p.Heartbeat)
	e.Waiting = listed(e.Waiting, p.Waiting)
	e.Finished = listed(e.Finished, p.Finished)
	e.Set = over(p.Set, e.Set)
	return e
}

// listed is the config's list, also an empty one, else the preset's.
func listed[T any](config, preset []T) []T {
	if config != nil {
		return config
	}
	return slices.Clone(preset)
}

// Preset is a preset's mapping as it is before a config changes it; empty for a name that is none.
func Preset(name string) Mapping {
	switch name {
	case OmoiosName:
		return omoios()
	case CodingAgentName:
		return codingAgent()
	}
	if p, known := further[name]; known {
		return p.mapping()
	}
	return Mapping{}
}
