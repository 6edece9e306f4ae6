package store

import (
	"fmt"
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A guard is what write and look share: how the row is found, and what must hold.
type guard struct {
	Table, ID, Status, Sandbox, Live, Alive string
}

func (s *statements) guard(w *reconcile.Write) guard {
	id := s.plan.columns["id"]
	g := guard{
		Table: s.plan.table, ID: id + " = " + s.cat.fields["id"].value("id"), Status: s.plan.columns["status"],
		Sandbox: "''", Live: s.alive(),
	}
	if t := s.cat.fields["id"]; !t.keyed() && !t.text() {
		g.ID = "(" + id + ")::text = @id::text"
	}
	if sandbox := s.plan.columns["sandbox"]; sandbox != "" {
		g.Sandbox = "coalesce((" + sandbox + ")::text, '')"
	}
	if w.Refutable {
		g.Alive = s.newerSign(w.Active)
	}
	return g
}

// newerSign is the condition that the worker gave a life sign after @life_sign, or one that
// is no heartbeat: in its row or by an event. "" when neither is mapped.
func (s *statements) newerSign(active bool) string {
	var signs []string
	fields, other := []string{"heartbeat_at", "activity_at"}, ""
	if active {
		fields, other = fields[1:], " AND (%[3]s)::text <> ALL (@heartbeat::text[])"
	}
	for _, field := range fields {
		if sql := s.plan.columns[field]; sql != "" {
			at := "(" + sql + ")::timestamptz"
			signs = append(signs, "coalesce(isfinite("+at+") AND "+at+" > @life_sign::timestamptz, false)")
		}
	}
	if e := s.plan.events; e != nil {
		signs = append(
			signs,
			fmt.Sprintf("EXISTS (SELECT FROM %[1]s AS e WHERE %[2]s AND (%[3]s)::text NOT LIKE 'sandkeeper.%%' "+
				"AND isfinite((%[4]s)::timestamptz) AND (%[4]s)::timestamptz > @life_sign::timestamptz"+other+")",
				e.table, s.sandboxIs(), e.columns["type"], e.columns["at"]),
		)
	}
	return strings.Join(signs, " OR ")
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

// write is the guarded update.
func (s *statements) write(w *reconcile.Write) (string, error) {
	ch, ok := s.plan.changes[w.Step]
	if !ok {
		return "", fmt.Errorf("tasks.%s is not configured: there is nothing to set", w.Step)
	}
	newStatus := "@new_status::text"
	if t := s.cat.fields["status"]; t.enum() {
		newStatus += "::" + t.name
	}
	return render("tasks_write", struct {
		guard
		NewStatus, State string
		Sets             []assignment
		Version          bool
	}{s.guard(w), newStatus, s.stateSQL(), ch.sets, !w.Lock})
}

// stateSQL is the state of a row in the config's words.
func (s *statements) stateSQL() string {
	return "(" + first(s.plan.columns["state"], s.plan.columns["status"]) + ")::text"
}

// look is the statement that says why a write did nothing, or that locks the row. It also
// reads the columns that the write sets.
func (s *statements) look(w *reconcile.Write, lock bool, columns []string) (string, error) {
	texts := make([]string, len(columns))
	for i, name := range columns {
		texts[i] = quoted(name) + "::text"
	}
	return render("tasks_state", struct {
		guard
		Lock   bool
		Before string
	}{s.guard(w), lock, strings.Join(texts, ", ")})
}

// event is the statement that adds an event.
func (s *statements) event() (string, error) {
	e, types := s.plan.events, s.cat.events
	with := map[string]string{
		"Table": e.table, "Sandbox": quoted(e.plain["sandbox"]), "Type": quoted(e.plain["type"]), "At": quoted(e.plain["at"]),
		"SandboxValue": types["sandbox"].value(
			"sandbox",
		), "TypeValue": types["type"].value("type"), "Data": "", "DataValue": "",
	}
	if data := e.plain["data"]; data != "" {
		with["Data"], with["DataValue"] = quoted(data), "@data::text::"+types["data"].name
	}
	return render("tasks_event", with)
}
