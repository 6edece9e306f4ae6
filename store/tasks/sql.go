package tasks

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"text/template"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/store"
	"github.com/sandkeeper/sandkeeper/store/tasks/mapping"
)

// Statements are a compiled mapping made SQL for the columns' types as they are.
type statements struct {
	plan *Compiled
	cat  catalog
	live string // the statement that reads the live tasks
	log  *slog.Logger

	apart apart
	again again
}

func newStatements(c *Compiled, cat catalog, log *slog.Logger) (*statements, error) {
	s := &statements{plan: c.less(cat.without), cat: cat, log: log}
	var err error
	if s.live, err = s.read(s.liveWhere()); err != nil {
		return nil, err
	}
	if s.apart, err = s.readApart(); err != nil {
		return nil, err
	}
	s.again, err = s.readAgain()
	return s, err
}

// liveWhere is the condition that a row is live and may be judged.
func (s *statements) liveWhere() string {
	if s.plan.where == "" {
		return s.alive()
	}
	return s.alive() + " AND (" + s.plan.where + ")"
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
	with := map[string]any{"Fields": s.selection(), "Table": s.plan.from.SQL, "Where": where, "Events": nil,
		"Since": false}
	if s.plan.events != nil {
		src := s.eventSource()
		if s.fromTypeToType(src) {
			src.loosely(s.plan.events)
		}
		with["Events"] = src
	}
	return render("read", with)
}

// selection is what is read of a row, in the order in which it is scanned.
func (s *statements) selection() []selected {
	out := []selected{{"sk_version", s.plan.from.Version}, {"sk_outside", s.outside()}}
	for _, f := range mapping.TaskFields {
		out = append(out, selected{"sk_" + f.Name, s.fieldSQL(f)})
	}
	for i, name := range s.plan.mapping.Attrs {
		out = append(out, selected{fmt.Sprintf("sk_attr_%d", i), store.Quoted(name) + "::text"})
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

var sqlTypes = map[mapping.Kind]string{
	mapping.Textual: "text", mapping.Moment: "timestamptz", mapping.Span: "interval", mapping.Number: "bigint",
}

func (s *statements) fieldSQL(f mapping.Field) string {
	sql, mapped := s.plan.columns[f.Name]
	switch {
	case !mapped:
		return "NULL::" + sqlTypes[f.Kind]
	case f.Name == "error":
		return clipped("(" + sql + ")::text")
	case f.Name == "activity_mark", f.Name == "attempt_mark":
		return hashed(sql)
	}
	return "(" + sql + ")::" + sqlTypes[f.Kind]
}

// clipped keeps both ends of a long text: what went wrong, and a mark of ours.
func clipped(text string) string {
	return fmt.Sprintf(
		"CASE WHEN length(%[1]s) > 4000 THEN left(%[1]s, 3000) || ' … ' || right(%[1]s, 900) ELSE %[1]s END",
		text,
	)
}

// hashed is what stands for a value of any type and length: only whether it changed matters.
func hashed(sql string) string { return "md5((" + sql + ")::text)" }

type eventSource struct {
	Table, Sandbox, At, Type              string
	Key                                   string // of the task row, comparable with Sandbox
	Indexed                               bool
	Started, Heartbeat, Waiting, Finished string // whether an event is of that kind
	Task                                  string // the id of an event's task; "" when not mapped
	Created                               bool   // rows have the time when they were made

	Loose               bool          // they are read from type to type
	TypeColumn, Columns string        // the names of Type, and of Type and At
	Narrowed            []eventSource // types that mean something under a condition: Only the type, and If the whole of it
	Only, If            string
}

func (s *statements) eventSource() *eventSource {
	e := s.plan.events
	src := &eventSource{
		Table: e.source, Sandbox: e.columns["sandbox"], At: e.columns["at"], Type: e.columns["type"],
		Key: s.plan.columns["sandbox"], Indexed: s.cat.eventIndex,
		Started: e.is("started"), Heartbeat: e.is("heartbeat"), Waiting: e.is("waiting"), Finished: e.is("finished"),
		Task: e.columns["task"], Created: s.plan.columns["created_at"] != "",
	}
	row, event := s.cat.fields["sandbox"], s.cat.events["sandbox"]
	if e.byTask {
		src.Sandbox, src.Key, src.Task = e.columns["task"], s.plan.columns["id"], ""
		row, event = s.cat.fields["id"], s.cat.events["task"]
	}
	if !row.like(event) {
		src.Sandbox, src.Key = "("+src.Sandbox+")::text", "("+src.Key+")::text"
		src.Indexed = false
	}
	return src
}

// alive is the condition that a row is live. It needs the parameters of [statements.withLive].
func (s *statements) alive() string {
	if deleted := s.plan.columns["deleted_at"]; deleted != "" {
		return "(" + s.inLiveState() + " AND " + s.plan.notDeleted(deleted) + ")"
	}
	return s.inLiveState()
}

// notDeleted is the condition that a row has no time of its deletion.
func (c *Compiled) notDeleted(deleted string) string {
	return "coalesce((" + deleted + ")::timestamptz < " + firstMomentSQL + ", true)"
}

func (s *statements) inLiveState() string {
	state, status := s.plan.columns["state"], s.plan.columns["status"]
	if state == "" {
		return s.cat.fields["status"].among(status, "live")
	}
	alive := "(" + state + ")::text = ANY (@live::text[])"
	if s.plan.mapping.Split { // an index on the status can be used for this half
		return "(" + s.cat.fields["status"].among(status, "words") + " AND " + alive + ")"
	}
	return alive
}

// withLive adds what alive compares with.
func (s *statements) withLive(args pgx.StrictNamedArgs) pgx.StrictNamedArgs {
	if s.plan.columns["state"] == "" {
		args["live"] = list(s.labelled(s.plan.live))
		return args
	}
	args["live"] = list(s.plan.live)
	if s.plan.mapping.Split {
		args["words"] = list(s.labelled(s.plan.Words))
	}
	return args
}

// labelled are the given statuses; of an enum only those that are labels of it.
func (s *statements) labelled(statuses []string) []string {
	t := s.cat.fields["status"]
	if !t.enum() {
		return statuses
	}
	unknown := func(status string) bool { return !slices.Contains(t.labels, status) }
	return slices.DeleteFunc(slices.Clone(statuses), unknown)
}

// readArgs are the parameters of every read.
func (s *statements) readArgs() pgx.StrictNamedArgs {
	args := pgx.StrictNamedArgs{}
	if s.plan.events != nil {
		for _, kind := range eventKinds {
			args[kind] = s.plan.mapping.Events.PlainTypes(kind)
		}
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
