package tasks

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store"
	"github.com/sandkeeper/sandkeeper/store/tasks/sqltext"
)

// A Grant is a privilege that a login needs on a table of the platform for this mapping.
type Grant struct {
	Privilege string
	Table     string   // as SQL has it
	Columns   []string // as SQL has them; nil for the whole table
	Why       string

	named string // the SQL that names it
}

// Grants are the privileges that the mapping needs. A table beside that of the tasks is granted as a whole: which of
// its columns an expression names, only the database knows.
func (c *Compiled) Grants() []Grant {
	var out []Grant
	if c.table != "" {
		out = append(out, Grant{Privilege: "SELECT", Table: c.table,
			Why: "all columns: the version of a row, which guards each write, can be had in no other way"})
	}
	out = append(out, c.beside()...)
	if written := c.writtenNames(); c.table != "" && len(written) > 0 {
		out = append(out, Grant{Privilege: "UPDATE", Table: c.table, Columns: quotedAll(written),
			Why: "what fail and requeue set"})
	}
	if e := c.events; e != nil && e.table != "" && c.mapping.Events.Write {
		out = append(out, Grant{Privilege: "INSERT", Table: e.table, Columns: quotedAll(e.written()), Why: "events.write"})
	}
	return out
}

// beside are the tables that are read besides that of the tasks, each with the SQL that names it.
func (c *Compiled) beside() (out []Grant) {
	add := func(table, sql, why string) {
		i := slices.IndexFunc(out, func(g Grant) bool { return g.Table == table })
		switch {
		case table == c.table:
		case i >= 0:
			out[i].named += "\n" + sql
		default:
			out = append(out, Grant{Privilege: "SELECT", Table: table, Why: why, named: sql})
		}
	}
	if e := c.events; e != nil && e.table != "" {
		add(e.table, e.read(), "the workers' events")
	}
	for i := range c.explainers {
		e := &c.explainers[i]
		add(e.table, e.key+"\n"+e.where, "rows that explain sandboxes")
	}
	for _, sql := range c.read() {
		for _, named := range relationsIn(sql) {
			if parts, problem := sqltext.Identifier(named); problem == "" {
				add(parts.Sanitize(), sql, "read beside the tasks")
			}
		}
	}
	return out
}

// read is the SQL that tasks are read with, piece by piece, and a query of events.
func (c *Compiled) read() []string {
	out := []string{c.from.SQL, c.where}
	for _, name := range reconcile.SortedKeys(c.columns) {
		out = append(out, c.columns[name])
	}
	if c.events != nil && c.events.source != c.events.table {
		out = append(out, c.events.source)
	}
	return out
}

// read is the SQL of the events' columns and conditions.
func (e *compiledEvents) read() string {
	var out []string
	for _, name := range reconcile.SortedKeys(e.columns) {
		out = append(out, e.columns[name])
	}
	for _, kind := range reconcile.SortedKeys(e.narrowed) {
		for _, t := range e.narrowed[kind] {
			out = append(out, fmt.Sprint(t))
		}
	}
	return strings.Join(out, "\n")
}

var (
	sqlText    = regexp.MustCompile(`'(?:[^']|'')*'`)
	otherFrom  = regexp.MustCompile(`(?i)\bextract\s*\(\s*\w+\s+FROM\b|\bDISTINCT\s+FROM\b`)
	namedAfter = regexp.MustCompile(`(?i)\b(?:FROM|JOIN)\s+(?:ONLY\s+)?` +
		`((?:"[^"]+"|[a-z_][\w$]*)(?:\.(?:"[^"]+"|[a-z_][\w$]*))*)(\s*\()?`)
	ownName = regexp.MustCompile(`(?i)\b([a-z_][\w$]*)\s+AS\s+(?:MATERIALIZED\s+)?\(\s*(?:SELECT|WITH)\b`)
	anyWord = regexp.MustCompile(`"[^"]+"|[A-Za-z_][\w$]*`)
)

// relationsIn are the names that stand behind FROM and JOIN, but for functions and the query's own names.
func relationsIn(sql string) (out []string) {
	sql = otherFrom.ReplaceAllString(sqlText.ReplaceAllString(sql, "''"), "(")
	own := map[string]bool{"lateral": true}
	for _, m := range ownName.FindAllStringSubmatch(sql, -1) {
		own[strings.ToLower(m[1])] = true
	}
	for _, m := range namedAfter.FindAllStringSubmatch(sql, -1) {
		if m[2] == "" && !own[strings.ToLower(m[1])] {
			out = reconcile.AppendNew(out, m[1])
		}
	}
	return out
}

// wordsIn are all names in it, as the catalog has them.
func wordsIn(sql string) map[string]bool {
	out := map[string]bool{}
	for _, w := range anyWord.FindAllString(sqlText.ReplaceAllString(sql, "''"), -1) {
		if bare, quoted := strings.CutPrefix(w, `"`); quoted {
			out[strings.TrimSuffix(bare, `"`)] = true
		} else {
			out[strings.ToLower(w)] = true
		}
	}
	return out
}

// Grants are the privileges that the mapping needs, those of further tables narrowed to the columns that the mapping
// may name: those of the catalog whose names stand in it.
func (t *Tasks) Grants(ctx context.Context) ([]Grant, error) {
	out := t.plan.Grants()
	there := map[string]bool{}
	err := t.begin(ctx, taskRead, func(tx pgx.Tx, _ time.Time) error {
		for i := range out {
			found, err := readRelation(ctx, tx, out[i].Table)
			if err != nil {
				return err
			}
			if there[out[i].Table] = found != nil; found != nil {
				out[i].narrow(t.plan.table, found.Columns)
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the columns that the mapping names: %w", err)
	}
	return slices.DeleteFunc(out, func(g Grant) bool { return !there[g.Table] }), nil
}

// narrow leaves a further table's columns that the mapping may name.
func (g *Grant) narrow(tasks string, columns []string) {
	words := wordsIn(g.named)
	if g.Privilege != "SELECT" || g.Table == tasks {
		return
	}
	for _, column := range columns {
		if words[column] {
			g.Columns = append(g.Columns, store.Quoted(column))
		}
	}
}

func quotedAll(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = store.Quoted(name)
	}
	return out
}
