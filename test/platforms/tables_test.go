package platforms

import (
	"embed"
	"fmt"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
)

// files have the platforms' tables as their own migrations leave them, a line a fact: table,
// "column", name, type, nullability, default; table, "constraint", text; table, "index", unique
// or not, text; name, "enum", values. Those of platforms that were read later are statements.
//
//go:embed testdata/*.tables.tsv testdata/*.tables.sql
var files embed.FS

// tablesOf is the SQL that makes a platform's tables. It is the one place that says where the
// tables come from.
func tablesOf(t *testing.T, platform string) string {
	t.Helper()
	if text, err := files.ReadFile("testdata/" + platform + ".tables.sql"); err == nil {
		return string(text)
	}
	text, err := files.ReadFile("testdata/" + platform + ".tables.tsv")
	if err != nil {
		t.Fatal(err)
	}
	d := &drafted{columns: map[string][]string{}}
	for line := range strings.Lines(string(text)) {
		d.read(strings.Split(strings.TrimRight(line, "\n"), "\t"))
	}
	return d.sql()
}

// A drafted is the tables that a list of facts describes.
type drafted struct {
	before, after  []string // statements
	order          []string // tables
	columns        map[string][]string
	relations, own []relation
}

// A relation is a constraint or an index of a table.
type relation struct{ table, text string }

func (d *drafted) read(fields []string) {
	name, kind := fields[0], fields[1]
	if schema, _, dotted := strings.Cut(name, "."); dotted {
		d.first(fmt.Sprintf("CREATE SCHEMA IF NOT EXISTS %s", quoted(schema)))
	}
	switch kind {
	case "enum":
		d.first(fmt.Sprintf("CREATE TYPE %s AS ENUM ('%s')", quoted(name), strings.ReplaceAll(fields[2], ",", "', '")))
	case "column":
		if d.columns[name] == nil {
			d.order = append(d.order, name)
		}
		d.columns[name] = append(d.columns[name], d.column(fields[2], fields[3], fields[4], fields[5]))
	case "constraint":
		if strings.HasPrefix(fields[2], "FOREIGN KEY") {
			d.relations = append(d.relations, relation{name, fields[2]})
			return
		}
		d.own = append(d.own, relation{name, fields[2]})
	case "index":
		d.after = append(d.after, fmt.Sprintf("CREATE %s INDEX ON %s %s", fields[2], quoted(name), fields[3]))
	}
}

func (d *drafted) column(name, kind, null, value string) string {
	line := quoted(name) + " " + kind + " " + null
	switch {
	case strings.HasPrefix(value, "generated always as "):
		made := strings.TrimSuffix(strings.TrimPrefix(value, "generated always as "), " stored")
		line += " GENERATED ALWAYS AS (" + made + ") STORED"
	case strings.HasPrefix(value, "nextval('"):
		sequence, _, _ := strings.Cut(strings.TrimPrefix(value, "nextval('"), "'")
		d.first("CREATE SEQUENCE " + sequence)
		line += " DEFAULT " + value
	case value != "":
		line += " DEFAULT " + value
	}
	return line
}

// first is a statement that the tables need.
func (d *drafted) first(statement string) { d.before = append(d.before, statement) }

// sql leaves out references to tables that the facts do not have.
func (d *drafted) sql() string {
	all := d.before
	for _, table := range d.order {
		all = append(all, fmt.Sprintf("CREATE TABLE %s (\n\t%s\n)", quoted(table), strings.Join(d.columns[table], ",\n\t")))
	}
	for _, r := range d.own {
		all = append(all, fmt.Sprintf("ALTER TABLE %s ADD %s", quoted(r.table), r.text))
	}
	for _, r := range d.relations {
		_, to, _ := strings.Cut(r.text, "REFERENCES ")
		to, _, _ = strings.Cut(to, "(")
		if d.columns[strings.ReplaceAll(to, `"`, "")] != nil {
			all = append(all, fmt.Sprintf("ALTER TABLE %s ADD %s", quoted(r.table), r.text))
		}
	}
	return strings.Join(append(all, d.after...), ";\n")
}

// quoted is a name with its schema, if it has one.
func quoted(name string) string { return pgx.Identifier(strings.Split(name, ".")).Sanitize() }
