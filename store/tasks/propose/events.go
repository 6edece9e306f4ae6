package propose

import (
	"slices"
	"strings"
)

// eventsOf maps a table of the workers' events, where one refers to the tasks or to their sandboxes.
func (p *Proposal) eventsOf(cat *Catalog, tasks *candidate) {
	for i := range cat.Tables {
		t := &cat.Tables[i]
		if !t.likeEvents() || t.Table(tasks.Table) {
			continue
		}
		if lines := p.eventLines(t, tasks); lines != nil {
			p.Events = lines
			return
		}
	}
}

// Table reports whether both are one.
func (t *Table) Table(other *Table) bool { return t.Schema == other.Schema && t.Name == other.Name }

// eventLines are the lines of a table of events, nil when it is none.
func (p *Proposal) eventLines(t *Table, tasks *candidate) []Line {
	kind, at := t.typeColumn(), t.timeColumn()
	by, column := t.subject(tasks, p.has("sandbox") != "")
	if kind == nil || at == "" || by == "" {
		return nil
	}
	lines := []Line{{"table", t.SQL(), "events that refer to " + map[string]string{"sandbox": "sandboxes", "task": "tasks"}[by], false},
		{"columns." + by, named(column), "whose event it is", false}, {"columns.type", named(kind.Name), "what happened", false},
		{"columns.at", named(at), "when", false}}
	if data := t.dataColumn(); data != "" {
		lines = append(lines, Line{"columns.data", named(data), "what it says besides", false})
	}
	if !slices.Contains(t.Indexed, column) && t.Rows > 10_000 {
		p.doubt("no index begins with %s of %s: each pass reads all events", column, t.SQL())
	}
	return append(lines, p.types(t, kind)...)
}

// types are the types of events whose names say what they are. What an event means is the platform's to say, so each
// is unsure.
func (p *Proposal) types(t *Table, kind *Column) (out []Line) {
	is := map[string][]string{}
	for _, word := range t.words(kind) {
		last := tokens(word)
		if len(last) == 0 {
			continue
		}
		switch last[len(last)-1] {
		case "started":
			is["started"] = append(is["started"], word)
		case "heartbeat":
			is["heartbeat"] = append(is["heartbeat"], word)
		case "waiting":
			is["waiting"] = append(is["waiting"], word)
		}
	}
	for _, name := range []string{"started", "heartbeat", "waiting"} {
		if len(is[name]) > 0 {
			out = append(out, Line{name, "[" + strings.Join(quoted(is[name]), ", ") + "]", "by their names", true})
		}
	}
	if len(is["heartbeat"]) == 0 {
		p.doubt("no type of event in %s is called a heartbeat: every event counts as work", t.SQL())
	}
	p.doubt("which events of %s say that a worker is done is not known: name them in events.finished", t.SQL())
	return out
}

func (t *Table) typeColumn() *Column {
	for _, name := range typeNames {
		if c := t.first(name); c != nil && (isText(c.Type) || len(c.Labels) > 0) {
			return c
		}
	}
	return nil
}

func (t *Table) timeColumn() string {
	for _, name := range []string{"createdat", "at", "occurredat", "occurred", "timestamp", "ts", "time", "insertedat", "created"} {
		if c := t.first(name); c != nil && isMoment(c.Type) {
			return c.Name
		}
	}
	return ""
}

func (t *Table) dataColumn() string {
	for _, name := range []string{"eventdata", "data", "payload", "details", "metadata"} {
		if c := t.first(name); c != nil && (c.Type == "jsonb" || c.Type == "json") {
			return c.Name
		}
	}
	return ""
}

// subject is whose the events are: of a sandbox that rows name, else of a task that they refer to.
func (t *Table) subject(tasks *candidate, sandboxes bool) (by, column string) {
	sandbox := &fieldRules[0]
	if c, weak := sandbox.match(t, nil); c != nil && !weak && sandboxes {
		return "sandbox", c.Name
	}
	for _, f := range t.Foreign {
		if f.Schema == tasks.Schema && f.Table == tasks.Name {
			return "task", f.Column
		}
	}
	if c := t.first("taskid"); c != nil && isKey(c.Type) {
		return "task", c.Name
	}
	return "", ""
}
