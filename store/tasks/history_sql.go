package tasks

import (
	"context"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sandkeeper/sandkeeper/store"
	"github.com/sandkeeper/sandkeeper/store/tasks/mapping"
)

// historyStatements are what a history is read by.
type historyStatements struct {
	*statements
	ended string // SQL of when a row was over
	class string // SQL of what kind of task it is
	kind  kindColumn
}

// A kindColumn is the column that tells kinds of tasks apart.
type kindColumn struct{ Name, SQL string }

// presetKinds are the columns by which the platforms of the presets tell kinds of tasks apart.
var presetKinds = map[string]string{mapping.OmoiosName: "task_type", mapping.CodingAgentName: "selected_agent"}

// PresetKind is the column by which a preset's platform tells kinds of tasks apart; "" where there is none.
func PresetKind(preset string) string { return presetKinds[preset] }

// kindColumn is the column that an override of the config asks for, else the preset's; none where it cannot be read.
func (c *Compiled) kindColumn(ctx context.Context, tx pgx.Tx) (kindColumn, error) {
	name := presetKinds[c.mapping.Preset]
	if len(c.mapping.Attrs) > 0 {
		name = c.mapping.Attrs[0]
	}
	if name == "" {
		return kindColumn{}, nil
	}
	column := kindColumn{name, store.Quoted(name)}
	err := pgx.BeginFunc(ctx, tx, func(inner pgx.Tx) error { // a savepoint
		_, err := inner.Exec(ctx, "SELECT "+column.SQL+" FROM "+c.from.SQL+" LIMIT 0")
		return err
	})
	var refused *pgconn.PgError
	if errors.As(err, &refused) {
		return kindColumn{}, nil
	}
	return column, err
}

// endedSQL is when a row was over: by its own column, by the one that fail.set sets to the time of a failure, as
// platforms do with the time of an end, else by its last change.
func (c *Compiled) endedSQL() string {
	var clocks []string
	add := func(sql string) {
		if sql != "" {
			clocks = append(clocks, "("+sql+")::timestamptz")
		}
	}
	add(c.columns["ended_at"])
	if c.from.SQL == c.table { // else the columns of the table are not those that are read
		for _, a := range c.changes[failStep].sets {
			if strings.TrimSpace(c.mapping.Fail.Set[a.name]) == "@now" && a.name != c.plain["updated_at"] {
				add(a.Column)
			}
		}
	}
	add(c.columns["updated_at"])
	add(c.columns["created_at"])
	if len(clocks) == 0 {
		return "NULL"
	}
	return "coalesce(" + strings.Join(clocks, ", ") + ")"
}

// from is the condition that a row stands behind a place of the history.
func (s *historyStatements) from(after string) string {
	if after == "" {
		return "true"
	}
	return s.compared(">", "after")
}

// compared is a comparison of ids in the column's own type and order.
func (s *historyStatements) compared(by, parameter string) string {
	id := s.plan.columns["id"]
	t := s.cat.fields["id"]
	if t.keyed() || t.enum() || t.name == "" || t.text() {
		cast := "@" + parameter + "::text"
		if t.keyed() || t.enum() {
			cast += "::" + t.name
		}
		return "(" + id + ") " + by + " " + cast
	}
	return "(" + id + ") " + by + " (@" + parameter + "::text)::" + t.name
}

// eventKey is the column that events are found by, and by which value of a row.
func (s *historyStatements) eventKey() (event, row string) {
	e := s.plan.events
	switch {
	case e == nil:
		return "", "NULL"
	case e.byTask:
		return e.columns["task"], s.plan.columns["id"]
	}
	return e.columns["sandbox"], s.plan.columns["sandbox"]
}

// eventsSQL reads the events of some keys.
func (s *historyStatements) eventsSQL() (string, error) {
	e := s.plan.events
	event, _ := s.eventKey()
	t := s.cat.events["sandbox"]
	if e.byTask {
		t = s.cat.events["task"]
	}
	return render("history_events", map[string]any{"Key": event, "At": e.columns["at"], "Type": e.columns["type"],
		"Started": e.is("started"), "Heartbeat": e.is("heartbeat"), "Waiting": e.is("waiting"), "Finished": e.is("finished"),
		"Table": e.source, "Among": t.among(event, "keys")})
}
