package tasks

import (
	"context"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store"
	"github.com/sandkeeper/sandkeeper/store/tasks/mapping"
	"github.com/sandkeeper/sandkeeper/store/tasks/sqltext"
)

// A strange mapping has one text of somebody in each place that takes one.
type strange struct {
	coding                             bool // the preset coding-agent, else omoios
	table, where, column, event, value string
	set, status, attr                  string // names of a column, of a status, of a column
}

// innocent is what stands in each place for comparison.
var innocent = strange{
	table: "sk_table", where: "sk_where", column: "(sk_column)", event: "(sk_event)",
	value: "sk_value", set: "sk_set", status: "sk_status", attr: "sk_attr",
}

func (s strange) mapping() mapping.Mapping {
	m := mapping.Mapping{
		Preset: "omoios", Table: s.table, Where: s.where, Attrs: []string{s.attr},
		Columns:  map[string]string{"heartbeat_at": s.column, "deleted_at": s.column},
		Statuses: map[string][]string{"running": {"running", s.status}},
		Fail:     mapping.RowChange{Set: map[string]string{}},
		Events:   mapping.EventMapping{Columns: map[string]string{"sandbox": s.event, "at": s.event}},
	}
	if sqltext.InParentheses(s.column) { // a column would be set by the name that it has
		m.Columns["sandbox"], m.Columns["updated_at"] = s.column, s.column
	}
	if s.coding {
		m.Preset, m.Statuses["running"], m.Events = "coding-agent", []string{"processing", s.status}, mapping.EventMapping{}
	}
	for name := range mapping.Preset(m.Preset).Fail.Set {
		m.Fail.Set[name] = ""
	}
	m.Fail.Set[s.set], m.Fail.Set["sk_why"] = s.value, "@reason"
	return m.WithPreset()
}

// FuzzMapping: every statement of a mapping that compiles is the statement of an innocent
// one with the given texts in their places: names quoted, expressions in parentheses,
// statuses as strings. All mistakes are reported together, each with its key.
func FuzzMapping(f *testing.F) {
	for _, text := range append(slices.Clone(smuggled), `public."Task Table"`, `a"b`, `a'b`, `a\`, "@reason", "a)b", "sk_table") {
		f.Add(false, "public.tasks", text, "(a)", "(b)", "'x'", "done_by", "running", "kind")
		f.Add(true, text, "true", "("+text+")", text, text, text, text, text)
		f.Add(false, text, text, text, "("+text+")", text, text, text, text)
	}
	f.Fuzz(func(t *testing.T, coding bool, table, where, column, event, value, set, status, attr string) {
		s := strange{coding, table, where, column, event, value, set, status, attr}
		if coding { // without events
			s.event = innocent.event
		}
		c, err := Compile(s.mapping())
		if err != nil {
			explained(t, err)
			return
		}
		got := s.statements(t, c)
		plain := s.innocent()
		reference, err := Compile(plain.mapping())
		if err != nil {
			t.Fatalf("the innocent mapping: %v", err)
		}
		for name, sql := range plain.statements(t, reference) {
			want, err := lex(sql)
			if err != nil {
				t.Fatalf("the innocent %s: %v", name, err)
			}
			tokens, err := lex(got[name])
			if err != nil {
				t.Fatalf("%s has %v\n%s", name, err, got[name])
			}
			if want = s.placed(t, want); !slices.Equal(want, tokens) {
				t.Fatalf("%s has more than the texts in their places (-want +got):\n%s\n%s", name,
					cmp.Diff(texts(want), texts(tokens)), got[name])
			}
		}
	})
}

func texts(tokens []token) []string {
	var out []string
	for _, at := range tokens {
		out = append(out, at.text)
	}
	return out
}

// innocent is the same mapping with an innocent text for each strange one, unless that
// decides which parts the statements have, and in which order.
func (s strange) innocent() strange {
	plain := innocent
	plain.coding = s.coding
	if strings.TrimSpace(s.where) == "" {
		plain.where = ""
	}
	if s.set >= "sk_why" {
		plain.set = "sk_z"
	}
	if s.set == "sk_why" || s.value == "" {
		plain.set, plain.value = s.set, s.value
	}
	if s.column == "" {
		plain.column = ""
	} else if !sqltext.InParentheses(s.column) {
		plain.column = "sk_column"
	}
	if !sqltext.InParentheses(s.event) {
		plain.event = "sk_event"
	}
	if states := s.mapping().Statuses["running"]; s.status == states[0] {
		plain.status = s.status
	}
	return plain
}

// explained: each mistake has a key and a problem, and none is said twice of one key.
func explained(t *testing.T, err error) {
	t.Helper()
	found := mistakes(err)
	if len(found) == 0 {
		t.Fatalf("Compile = %v, want mistakes", err)
	}
	said := map[string]bool{}
	for _, m := range found {
		if m.Key == "" || m.Problem == "" || said[m.Error()] {
			t.Fatalf("mistake %q has no key or problem, or is said twice", m.Error())
		}
		said[m.Error()] = true
	}
}

// statements are all that a mapping is made into, for columns of type text.
func (s strange) statements(t *testing.T, c *Compiled) map[string]string {
	t.Helper()
	text := columnType{oid: 25, name: "text"}
	cat := catalog{fields: map[string]columnType{}, sets: map[string]columnType{}, events: map[string]columnType{}}
	for _, field := range mapping.TaskFields {
		cat.fields[field.Name] = text
	}
	for _, field := range mapping.EventFields {
		cat.events[field.Name] = text
	}
	all, err := newStatements(c, cat, nil)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{"live": all.live}
	add := func(name, sql string, err error) {
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		out[name] = sql
	}
	byKey, err := all.read(cat.fields["id"].among(c.columns["id"], "keys"))
	add("by key", byKey, err)
	for _, step := range []reconcile.Step{reconcile.StepFail, reconcile.StepRequeue} {
		if _, has := c.changes[step]; has {
			sql, err := all.write(&reconcile.Write{Step: step, Refutable: true})
			add(string(step), sql, err)
		}
	}
	look, err := all.look(&reconcile.Write{Step: reconcile.StepFail, Refutable: true}, true,
		c.columnsOf(c.changes[reconcile.StepFail]))
	add("look", look, err)
	for name, sql := range out {
		singleStatement(t, name, sql)
	}
	return out
}

// singleStatement: one statement, of valid text, whose parameters the driver all finds.
func singleStatement(t *testing.T, name, sql string) {
	t.Helper()
	numbered, _, err := pgx.NamedArgs{}.RewriteQuery(context.Background(), nil, sql, nil)
	if err != nil || !utf8.ValidString(sql) || strings.ContainsRune(sql, 0) {
		t.Fatalf("%s is no statement: %v\n%s", name, err, sql)
	}
	tokens, err := lex(numbered)
	if err != nil {
		t.Fatalf("%s has %v\n%s", name, err, sql)
	}
	for i, at := range tokens {
		switch {
		case at.text == ";":
			t.Fatalf("%s is two statements\n%s", name, sql)
		case at.kind == "comment" && (strings.HasPrefix(at.text, "-- guard:") || i == 0 || tokens[i-1].kind == "comment"):
			continue // of the query's own file
		case at.kind == "dollar", at.kind == "escapes", at.kind == "comment":
			t.Fatalf("%s has a %s\n%s", name, at, sql)
		}
	}
}

// placed are the tokens of an innocent statement with the strange texts in their places.
func (s strange) placed(t *testing.T, tokens []token) []token {
	t.Helper()
	parts, _ := sqltext.Identifier(s.mapping().Table)
	words := map[string][]token{
		"sk_where": lexed(t, sqltext.Scan(s.where).SQL()), "sk_value": lexed(t, sqltext.Scan(s.value).SQL()),
		`"sk_table"`: lexed(t, parts.Sanitize()), `"sk_attr"`: {{"name", store.Quoted(s.attr)}},
		`"sk_set"`: {{"name", store.Quoted(setName(s.set))}}, `"sk_z"`: {{"name", store.Quoted(setName(s.set))}},
		"'sk_status'": {{"string", "'" + strings.ReplaceAll(s.status, "'", "''") + "'"}},
	}
	m := s.mapping()
	for _, name := range []string{"tickets", "projects", "task_messages"} {
		words[store.Quoted(name)] = lexed(t, m.Beside(name))
	}
	for name, text := range map[string]string{"sk_column": s.column, "sk_event": s.event} {
		words[name], words[`"`+name+`"`] = tokensOf(t, text), tokensOf(t, text)
	}
	var out []token
	for i := 0; i < len(tokens); i++ {
		// A whole expression stands for its innocent one with the parentheses.
		if i+2 < len(tokens) && (tokens[i+1].text == "sk_column" || tokens[i+1].text == "sk_event") {
			i++
			out = append(out, words[tokens[i].text]...)
			i++
			continue
		}
		if strange, is := words[tokens[i].text]; is {
			out = append(out, strange...)
			continue
		}
		out = append(out, tokens[i])
	}
	return out
}

// setName is a column of fail.set: one in quotes is read as columns has it.
func setName(column string) string {
	if strings.HasPrefix(column, `"`) {
		return mapping.PlainName(column)
	}
	return column
}

// tokensOf are those of what columns.* has: an expression, or the name of a column.
func tokensOf(t *testing.T, text string) []token {
	t.Helper()
	if text == "" { // not mapped
		return nil
	}
	if sqltext.InParentheses(text) {
		return lexed(t, sqltext.Scan(text).Whole())
	}
	parts, problem := sqltext.Identifier(text)
	if problem != "" {
		t.Fatalf("%q is let through: %s", text, problem)
	}
	return []token{{"name", parts.Sanitize()}}
}

func lexed(t *testing.T, sql string) []token {
	t.Helper()
	tokens, err := lex(sql)
	if err != nil {
		t.Fatal(err)
	}
	return tokens
}

// FuzzIdentifier: a name of the config becomes one quoted name of the server, or is refused;
// what a person quotes comes back as he quoted it.
func FuzzIdentifier(f *testing.F) {
	for _, text := range append(slices.Clone(smuggled), `public."order"`, `"a.b"."c""d"`, `"`, `""`, `"a"b`, "createdAt", "Täsk", `a"b`) {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		parts, problem := sqltext.Identifier(text)
		if problem != "" {
			return
		}
		tokens := lexed(t, parts.Sanitize())
		for i, at := range tokens {
			if dot := i%2 == 1; dot && at.text != "." || !dot && at.kind != "name" {
				t.Fatalf("identifier(%q) becomes %s", text, parts.Sanitize())
			}
		}
		again, problem := sqltext.Identifier(parts.Sanitize())
		if problem != "" || !slices.Equal(again, parts) || len(tokens) != 2*len(parts)-1 {
			t.Fatalf("identifier(%q) = %q, and of its own SQL %s %q, %s", text, parts, parts.Sanitize(), again, problem)
		}
	})
}

// FuzzReason: a reason fits its column, is text that the server takes, and keeps its mark.
func FuzzReason(f *testing.F) {
	f.Add("worker never started [sandkeeper k1x2]", 120)
	f.Add("a\x00b\xff", 0)
	f.Add("[sandkeeper ", 3)
	f.Fuzz(func(t *testing.T, reason string, limit int) {
		got := fit(reason, limit)
		if !utf8.ValidString(got) || strings.ContainsRune(got, 0) {
			t.Fatalf("fit(%q) = %q, which no column takes", reason, got)
		}
		if limit > 0 && utf8.RuneCountInString(got) > limit {
			t.Fatalf("fit(%q, %d) = %q, which is longer", reason, limit, got)
		}
		_, mark := reconcile.SplitMark(strings.ReplaceAll(strings.ToValidUTF8(reason, "?"), "\x00", ""))
		if limit <= 0 || utf8.RuneCountInString(mark) <= limit {
			if !strings.HasSuffix(got, mark) {
				t.Fatalf("fit(%q, %d) = %q, which lost the mark %q", reason, limit, got, mark)
			}
		}
		if again := fit(got, limit); again != got {
			t.Fatalf("fit(%q, %d) = %q, and again %q", reason, limit, got, again)
		}
	})
}
