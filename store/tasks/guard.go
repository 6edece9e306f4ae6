package tasks

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store"
)

// A guard is what write and look share: how the row is found, and what must hold.
type guard struct {
	Table, ID, Status, Sandbox, Live, Alive, Version string
}

func (s *statements) guard(w *reconcile.Write) guard {
	id := s.plan.columns["id"]
	g := guard{
		Table: s.plan.from.SQL, Version: s.plan.from.Version,
		ID: id + " = " + s.cat.fields["id"].value("id"), Status: s.plan.columns["status"],
		Sandbox: "''", Live: s.alive(),
	}
	if t := s.cat.fields["id"]; !t.keyed() && !t.text() {
		g.ID = "(" + id + ")::text = @id::text"
	}
	if sandbox := s.plan.columns["sandbox"]; sandbox != "" {
		g.Sandbox = "coalesce((" + sandbox + ")::text, '')"
	}
	if w.Refutable {
		g.Alive, _ = s.newerSign(w)
	}
	return g
}

// lifeSign is the newest sign of life that is known. What is before all tasks is none.
const lifeSign = "greatest(@life_sign::timestamptz, " + firstMomentSQL + ")"

// newerSign is the condition that the worker gave a sign of life after the one that is known,
// or one that is no heartbeat: in its row or by an event. So is a mark that changed, which
// is activity. "" when none of them is mapped. The arguments are what it compares with.
func (s *statements) newerSign(w *reconcile.Write) (string, pgx.StrictNamedArgs) {
	args := pgx.StrictNamedArgs{}
	var signs []string
	fields := []string{"heartbeat_at", "activity_at"}
	if w.Active {
		fields = fields[1:]
	}
	for _, field := range fields {
		if sql := s.plan.columns[field]; sql != "" {
			at := "(" + sql + ")::timestamptz"
			signs = append(signs, "coalesce(isfinite("+at+") AND "+at+" > "+lifeSign+", false)")
		}
	}
	if s.plan.events != nil {
		signs = append(signs, s.newerEvents(w.Active)...)
	}
	if len(signs) > 0 {
		args["life_sign"] = w.LastSeen
	}
	if s.plan.events != nil && w.Active {
		args["heartbeat"] = s.plan.mapping.Events.PlainTypes("heartbeat")
	}
	if mark := s.plan.columns["activity_mark"]; mark != "" {
		args["mark"] = w.Task.Mark
		signs = append(signs, "coalesce("+hashed(mark)+", '') <> @mark::text")
	}
	return strings.Join(signs, " OR "), args
}

// newerEvents are the conditions that there is an event after the known sign of life: of the
// sandbox, and for a row without one of the task, where events name it.
func (s *statements) newerEvents(active bool) []string {
	e := s.plan.events
	newer := fmt.Sprintf(" AND (%[1]s)::text NOT LIKE 'sandkeeper.%%' AND isfinite((%[2]s)::timestamptz) "+
		"AND (%[2]s)::timestamptz > %[3]s", e.columns["type"], e.columns["at"], lifeSign)
	if active {
		newer += " AND NOT (" + e.is("heartbeat") + ")"
	}
	if e.byTask {
		return []string{"EXISTS (SELECT FROM " + e.source + " AS e WHERE " + s.taskIs() + newer + ")"}
	}
	signs := []string{"EXISTS (SELECT FROM " + e.source + " AS e WHERE " + s.sandboxIs() + newer + ")"}
	if task := e.columns["task"]; task != "" {
		signs = append(signs, "@sandbox::text = '' AND EXISTS (SELECT FROM "+e.source+" AS e WHERE ("+task+
			")::text = @id::text"+newer+")")
	}
	return signs
}

// sandboxIs is the condition that an event is of the sandbox that the guard proves the
// row to have.
func (s *statements) sandboxIs() string {
	column, t := s.plan.events.columns["sandbox"], s.cat.events["sandbox"]
	if !t.like(s.cat.fields["sandbox"]) {
		return "(" + column + ")::text = NULLIF(@sandbox::text, '')"
	}
	return column + " = " + t.value("sandbox")
}

// taskIs is the condition that an event is of the row's task.
func (s *statements) taskIs() string {
	column, t := s.plan.events.columns["task"], s.cat.events["task"]
	if !t.like(s.cat.fields["id"]) || !t.keyed() && !t.text() {
		return "(" + column + ")::text = @id::text"
	}
	return column + " = " + t.value("id")
}

// write is the guarded update.
func (s *statements) write(w *reconcile.Write) (string, error) {
	ch, ok := s.plan.changes[w.Step]
	if !ok {
		return "", fmt.Errorf("tasks.%s is not configured: there is nothing to set", w.Step)
	}
	return render("write", struct {
		guard
		NewStatus, State, Written, Key string
		Sets                           []assignment
		Judged                         bool // the version is the one that was judged
	}{s.guard(w), s.newStatus(ch), s.stateSQL(), s.plan.table, s.keyIs(), ch.sets, !w.Lock})
}

// newStatus is the status that a change sets, as the statement has it; "" where it sets none.
func (s *statements) newStatus(ch change) string {
	t := s.cat.fields["status"]
	switch {
	case ch.status == "":
		return ""
	case t.enum():
		return "@new_status::text::" + t.name
	}
	return "@new_status::text"
}

// keyIs is the condition that a row of the written table is the task's; "" where the table itself is read.
func (s *statements) keyIs() string {
	key, t := s.plan.key, s.cat.key
	switch {
	case key == "":
		return ""
	case !t.keyed() && !t.text():
		return "(" + key + ")::text = @id::text"
	}
	return key + " = " + t.value("id")
}

// lock locks the row that is written, where another one is read, and reports whether there is one. wait says what is to
// happen where somebody else has locked it.
func (s *statements) lock(ctx context.Context, tx pgx.Tx, id, wait string) (bool, error) {
	key := s.keyIs()
	if key == "" {
		return true, nil
	}
	sql, err := render("lock", map[string]any{"Table": s.plan.table, "Key": key, "Wait": wait})
	if err != nil {
		return false, err
	}
	rows, err := tx.Query(ctx, sql, pgx.StrictNamedArgs{"id": id})
	if err != nil {
		return false, err
	}
	found, err := pgx.CollectRows(rows, pgx.RowTo[bool])
	if len(found) > 1 {
		return false, fmt.Errorf("%d rows of %s have the key %s: tasks.key must be unique; nothing was written",
			len(found), s.plan.table, id)
	}
	return len(found) == 1, err
}

// now is the statement that reads what a locked row is.
func (s *statements) now(w *reconcile.Write) (string, error) {
	return render("became", struct {
		guard
		State string
	}{s.guard(w), s.stateSQL()})
}

// stateSQL is the state of a row in the config's words.
func (s *statements) stateSQL() string {
	return "(" + store.First(s.plan.columns["state"], s.plan.columns["status"]) + ")::text"
}

// look is the statement that says why a write did nothing, or that locks the row. It also
// reads the columns that the write sets.
func (s *statements) look(w *reconcile.Write, lock bool, columns []string) (string, error) {
	if s.plan.from.apart {
		lock, columns = false, nil // the row that is written was locked, and there is no way back
	}
	texts := make([]string, len(columns))
	for i, name := range columns {
		texts[i] = store.Quoted(name) + "::text"
	}
	return render("state", struct {
		guard
		Lock, NoWait bool
		Before       string
	}{s.guard(w), lock, s.plan.several(s.plan.changes[w.Step]), strings.Join(texts, ", ")})
}

// event is the statement that adds an event.
func (s *statements) event() (string, error) {
	e, types := s.plan.events, s.cat.events
	with := struct {
		Table, At string
		Sets      []assignment
	}{Table: e.table, At: store.Quoted(e.plain["at"])}
	add := func(field, value string) {
		if column := e.plain[field]; column != "" {
			with.Sets = append(with.Sets, assignment{Column: store.Quoted(column), SQL: value})
		}
	}
	add("sandbox", types["sandbox"].value("sandbox"))
	add("type", types["type"].value("type"))
	add("data", "@data::text::"+types["data"].name)
	add("task", types["task"].value("task"))
	with.Sets = append(with.Sets, e.sets...)
	return render("event", with)
}
