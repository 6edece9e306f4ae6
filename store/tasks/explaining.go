package tasks

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
)

// An explainer is a compiled [Explainer].
type explainer struct {
	config string // its key in the config
	table  string
	name   string // of the key's column
	key    string // the same, quoted
	where  string // "" for every row
}

// explainers compiles the further tables that explain sandboxes.
func (c *compiler) explainers() {
	for i, e := range c.m.ExplainedBy {
		key := fmt.Sprintf("tasks.explained_by[%d]", i)
		out := explainer{config: key, table: c.relation(key+".table", e.Table)}
		if c.mustBeColumn(key+".key", e.Key) {
			out.key, out.name = c.value(key+".key", e.Key)
		}
		if e.Where != "" {
			out.where = c.sql(key+".where", e.Where).SQL()
		}
		if (e.Label != "") == e.Name {
			c.wrong(key, "says not which value of a sandbox is compared with the key", "give either label, or name: true")
		}
		c.out.explainers = append(c.out.explainers, out)
	}
}

// Explaining returns those of the values that a further table holds which explains sandboxes,
// as they were asked for. One that is no value of the key's type is held by no row.
func (t *Tasks) Explaining(ctx context.Context, by int, values []string) ([]string, error) {
	if by < 0 || by >= len(t.plan.explainers) {
		return nil, fmt.Errorf("no tasks.explained_by[%d] is configured", by)
	}
	e := &t.plan.explainers[by]
	var out []string
	err := t.begin(ctx, taskRead, func(tx pgx.Tx, _ time.Time) error {
		var err error
		out, err = e.explaining(ctx, tx, values)
		return err
	})
	if err != nil {
		return nil, t.plain("read "+e.config+", which explains sandboxes", err)
	}
	return out, nil
}

// explaining also reads the type of the key, which is asked for seldom enough: so a table
// that is not there disturbs nothing else.
func (e *explainer) explaining(ctx context.Context, tx pgx.Tx, values []string) ([]string, error) {
	types, err := describe(ctx, tx, e.table, map[string]string{"key": e.key})
	if err != nil {
		return nil, err
	}
	found := types["key"].parse(values)
	if found.keys == nil {
		found.keys = []string{}
	}
	where := ""
	if e.where != "" {
		where = " AND (" + e.where + ")"
	}
	sql, err := render("explaining", map[string]string{
		"Key": e.key, "Table": e.table, "Among": types["key"].among(e.key, "keys"), "Where": where,
	})
	if err != nil {
		return nil, err
	}
	rows, err := tx.Query(ctx, sql, pgx.StrictNamedArgs{"keys": found.keys})
	if err != nil {
		return nil, err
	}
	keys, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return nil, err
	}
	return found.asked(values, keys), nil
}

// asked are those of the texts that were asked for which mean one of the keys.
func (l *lookup) asked(texts, keys []string) []string {
	held := map[string]bool{}
	for _, key := range keys {
		held[key] = true
		for _, spelling := range l.spellings[key] {
			held[spelling] = true
		}
	}
	var out []string
	for _, text := range texts {
		if held[text] {
			out = append(out, text)
			held[text] = false // each once
		}
	}
	return out
}
