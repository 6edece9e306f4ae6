package store

import (
	"fmt"
	"slices"
	"strings"
	"text/template"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Statements are a compiled mapping made SQL for the columns' types as they are.
type statements struct {
	plan *Compiled
	cat  catalog
	live string // the statement that reads the live tasks
}

func newStatements(c *Compiled, cat catalog) (*statements, error) {
	s := &statements{plan: c, cat: cat}
	where := s.alive()
	if c.where != "" {
		where += " AND (" + c.where + ")"
	}
	var err error
	s.live, err = s.read(where)
	return s, err
}

// render fills one of the embedded statements.
func render(name string, with any) (string, error) {
	t, err := template.New(name).Option("missingkey=error").Parse(queries[name])
	if err != nil {
		return "", fmt.Errorf("parse query %s: %w", name, err)
	}
	var out strings.Builder
	if err := t.Execute(&out, with); err != nil {
		return "", fmt.Errorf("fill query %s: %w", name, err)
	}
	return out.String(), nil
}

// A selected is one value of a row that is read.
type selected struct{ Name, SQL string }

// read is the statement that reads rows, with the given condition.
func (s *statements) read(where string) (string, error) {
	with := map[string]any{"Fields": s.selection(), "Table": s.plan.table, "Where": where, "Events": nil}
	if s.plan.events != nil {
		with["Events"] = s.eventSource()
	}
	return render("tasks_read", with)
}

// selection is what is read of a row, in the order in which it is scanned.
func (s *statements) selection() []selected {
	out := []selected{{"sk_xmin", "xmin::text"}, {"sk_outside", s.outside()}}
	for _, f := range taskFields {
		out = append(out, selected{"sk_" + f.name, s.fieldSQL(f)})
	}
	for i, name := range s.plan.mapping.Attrs {
		out = append(out, selected{fmt.Sprintf("sk_attr_%d", i), quoted(name) + "::text"})
	}
	return out
}

// outside is whether `where` excludes a row that is read by key.
func (s *statements) outside() string {
	if s.plan.where == "" {
		return "false"
	}
	return "NOT coalesce((" + s.plan.where + "), false)"
}

var sqlTypes = map[kind]string{textual: "text", moment: "timestamptz", span: "interval", number: "bigint"}

func (s *statements) fieldSQL(f field) string {
	sql, mapped := s.plan.columns[f.name]
	switch {
	case !mapped:
		return "NULL::" + sqlTypes[f.kind]
	case f.name == "error":
		return clipped("(" + sql + ")::text")
	}
	return "(" + sql + ")::" + sqlTypes[f.kind]
}

// clipped keeps both ends of a long text: what went wrong, and a mark of ours.
func clipped(text string) string {
	return fmt.Sprintf(
		"CASE WHEN length(%[1]s) > 4000 THEN left(%[1]s, 3000) || ' … ' || right(%[1]s, 900) ELSE %[1]s END",
		text,
	)
}

type eventSource struct {
	Table, Sandbox, At, Type string
	Key                      string // of the task row, comparable with Sandbox
	Indexed                  bool
}

func (s *statements) eventSource() *eventSource {
	e := s.plan.events
	src := &eventSource{
		Table: e.table, Sandbox: e.columns["sandbox"], At: e.columns["at"], Type: e.columns["type"],
		Key: s.plan.columns["sandbox"], Indexed: s.cat.eventIndex,
	}
	if !s.cat.fields["sandbox"].like(s.cat.events["sandbox"]) {
		src.Sandbox, src.Key = "("+src.Sandbox+")::text", "("+src.Key+")::text"
		src.Indexed = false
	}
	return src
}

// alive is the condition that a row's status is a live one. It needs @live.
func (s *statements) alive() string {
	if state := s.plan.columns["state"]; state != "" {
		return "(" + state + ")::text = ANY (@live::text[])"
	}
	return s.cat.fields["status"].among(s.plan.columns["status"], "live")
}

// liveStatuses is what alive compares with: of an enum only the labels that it has.
func (s *statements) liveStatuses() []string {
	t := s.cat.fields["status"]
	if s.plan.columns["state"] != "" || !t.enum() {
		return s.plan.live
	}
	return slices.DeleteFunc(
		slices.Clone(s.plan.live),
		func(status string) bool { return !slices.Contains(t.labels, status) },
	)
}

// readArgs are the parameters of every read.
func (s *statements) readArgs() pgx.StrictNamedArgs {
	args := pgx.StrictNamedArgs{}
	if e := s.plan.mapping.Events; s.plan.events != nil {
		args["started"], args["heartbeat"] = list(e.Started), list(e.Heartbeat)
		args["waiting"], args["finished"] = list(e.Waiting), list(e.Finished)
	}
	return args
}

// list is never nil: a null array would match nothing, also not by <> ALL.
func list(texts []string) []string {
	if texts == nil {
		return []string{}
	}
	return texts
}

// A guard is what write and look share: how the row is found, and what must hold.
type guard struct {
	Table, ID, Status, Sandbox, Live, Alive string
}

func (s *statements) guard(refutable bool) guard {
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
	if refutable {
		g.Alive = s.newerSign()
	}
	return g
}

// newerSign is the condition that the worker gave a life sign after @life_sign: in its
// row or by an event. "" when neither is mapped.
func (s *statements) newerSign() string {
	var signs []string
	for _, field := range []string{"heartbeat_at", "activity_at"} {
		if sql := s.plan.columns[field]; sql != "" {
			at := "(" + sql + ")::timestamptz"
			signs = append(signs, "coalesce(isfinite("+at+") AND "+at+" > @life_sign::timestamptz, false)")
		}
	}
	if e := s.plan.events; e != nil {
		signs = append(
			signs,
			fmt.Sprintf("EXISTS (SELECT FROM %[1]s AS e WHERE %[2]s AND (%[3]s)::text NOT LIKE 'sandkeeper.%%' "+
				"AND isfinite((%[4]s)::timestamptz) AND (%[4]s)::timestamptz > @life_sign::timestamptz)",
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
func (s *statements) write(step reconcile.Step, refutable, lock bool) (string, error) {
	ch, ok := s.plan.changes[step]
	if !ok {
		return "", fmt.Errorf("tasks.%s is not configured: there is nothing to set", step)
	}
	state := first(s.plan.columns["state"], s.plan.columns["status"])
	newStatus := "@new_status::text"
	if t := s.cat.fields["status"]; t.enum() {
		newStatus += "::" + t.name
	}
	return render("tasks_write", struct {
		guard
		NewStatus, State string
		Sets             []assignment
		Version          bool
	}{s.guard(refutable), newStatus, "(" + state + ")::text", ch.sets, !lock})
}

// look is the statement that says why a write did nothing, or that locks the row.
func (s *statements) look(refutable, lock bool) (string, error) {
	return render("tasks_state", struct {
		guard
		Lock bool
	}{s.guard(refutable), lock})
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
