package tasks

import (
	"slices"

	"github.com/sandkeeper/sandkeeper/store/tasks/mapping"
	"github.com/sandkeeper/sandkeeper/store/tasks/sqltext"
)

// A PresetTable is a table that a preset rests on, with the columns that it names plainly.
type PresetTable struct {
	Schema, Name string
	Columns      []string
}

// PresetTables are the tables by which a preset's platform is recognised; none for a preset that is none.
func PresetTables(name string) []PresetTable {
	c, err := Compile(mapping.Mapping{Preset: name}.WithPreset())
	if name == "none" || err != nil {
		return nil
	}
	var out []PresetTable
	for _, g := range c.Grants() {
		optional := c.from.apart || g.Table == c.table || c.events != nil && g.Table == c.events.table
		parts, problem := sqltext.Identifier(g.Table)
		if g.Privilege != "SELECT" || !optional || problem != "" || len(parts) != 2 {
			continue
		}
		t := PresetTable{Schema: parts[0], Name: parts[1]}
		switch {
		case g.Table == c.table && !c.from.apart:
			t.Columns = c.plainNames()
		case c.events != nil && g.Table == c.events.table:
			t.Columns = c.events.written()
		}
		out = append(out, t)
	}
	return out
}

// plainNames are the columns of the task table that the mapping reads or writes by name.
func (c *Compiled) plainNames() []string {
	out := c.writtenNames()
	for _, name := range mapping.Names(mapping.TaskFields) {
		if column := c.plain[name]; column != "" && !slices.Contains(out, column) {
			out = append(out, column)
		}
	}
	return out
}

// PresetSandbox is the column by which rows of a preset's platform name what its provider knows; "" where none does.
// What OmoiOS has there are names of its own.
func PresetSandbox(name string) string {
	column := mapping.Preset(name).Columns["sandbox"]
	if name == mapping.OmoiosName || sqltext.InParentheses(column) {
		return ""
	}
	return column
}
