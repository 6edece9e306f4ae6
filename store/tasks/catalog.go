package tasks

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/sandkeeper/sandkeeper/store/tasks/sqltext"
)

// A catalog is what the database says of the mapped columns. Statements depend on it, so
// it is read before the first one and again when one no longer fits.
type catalog struct {
	fields     map[string]columnType // by canonical field
	sets       map[string]columnType // by column that fail or requeue set
	key        columnType            // of tasks.key
	events     map[string]columnType // by canonical event field
	eventIndex bool                  // the events' sandbox column can be looked up
	newsIndex  bool                  // their times can be looked up, and are what they look like
	typeIndex  bool                  // one index has them by key, type and time
	eventsEach float64               // how many a key has, on average; 0 when not known
	manyEvents bool                  // one statement may not be enough for those of all live rows
	without    []string              // of [Mapping.Optional]: what this role cannot read
}

// A columnType is the type of a column or expression.
type columnType struct {
	oid    uint32
	name   string // as SQL has it
	labels []string
	limit  int // characters that fit; 0 when it does not say

	tuple tuple        // of an id of several columns
	parts []columnType // its parts
}

func readCatalog(ctx context.Context, tx pgx.Tx, c *Compiled) (catalog, error) {
	var cat catalog
	var err error
	if cat.without, err = c.unreadable(ctx, tx); err != nil {
		return catalog{}, fmt.Errorf("try what the preset reads besides the task table: %w", err)
	}
	c = c.less(cat.without)
	if cat.fields, err = describe(ctx, tx, c.from.SQL, c.columns); err != nil {
		return catalog{}, fmt.Errorf("read the types of the task table's columns: %w", err)
	}
	if cat.fields["id"], err = c.id.described(ctx, tx, c.from.SQL, cat.fields["id"]); err != nil {
		return catalog{}, fmt.Errorf("read the types of tasks.columns.id: %w", err)
	}
	if cat.sets, err = describe(ctx, tx, c.table, c.setColumns()); err != nil {
		return catalog{}, fmt.Errorf("read the types of the columns that fail and requeue set: %w", err)
	}
	if c.key != "" {
		found, err := describe(ctx, tx, c.table, map[string]string{"key": c.key})
		if err != nil {
			return catalog{}, fmt.Errorf("read the type of tasks.key: %w", err)
		}
		if cat.key, err = c.keys.described(ctx, tx, c.table, found["key"]); err != nil {
			return catalog{}, fmt.Errorf("read the types of tasks.key: %w", err)
		}
	}
	if c.events == nil {
		return cat, nil
	}
	if cat.events, err = describe(ctx, tx, c.events.source+" AS e", c.events.columns); err != nil {
		return catalog{}, fmt.Errorf("read the types of the events table's columns: %w", err)
	}
	if c.events.source != c.events.table {
		return cat, nil
	}
	if cat.eventIndex, err = indexed(ctx, tx, c.events.table, c.events.key()); err != nil {
		return cat, err
	}
	cat.newsIndex, err = hasIndex(ctx, tx, c.events.table, c.events.plain["at"], true)
	if err != nil {
		return cat, err
	}
	cat.newsIndex = cat.newsIndex && cat.events["at"].oid == pgtype.TimestamptzOID
	var rows int64
	err = tx.QueryRow(ctx, queries["rows"], pgx.StrictNamedArgs{"relation": c.events.table}).Scan(&rows)
	if cat.manyEvents = rows >= manyEvents; err != nil {
		return cat, err
	}
	return cat, cat.readKinds(ctx, tx, c.events)
}

// manyEvents are so many that live rows are read with them by and by.
const manyEvents = 5_000_000

// unreadable are the optional parts of the mapping that this role cannot read.
func (c *Compiled) unreadable(ctx context.Context, tx pgx.Tx) (without []string, err error) {
	for _, part := range c.mapping.Optional {
		sql := "SELECT (" + c.columns[part] + ") FROM " + c.from.SQL + " LIMIT 0"
		if part == "where" {
			sql = "SELECT FROM " + c.from.SQL + " WHERE " + c.where + " LIMIT 0"
		}
		var refused *pgconn.PgError
		err := pgx.BeginFunc(ctx, tx, func(inner pgx.Tx) error { // a savepoint
			_, err := inner.Exec(ctx, sql)
			return err
		})
		switch {
		case errors.As(err, &refused) && (refused.Code == "42501" || refused.Code == "42P01" || refused.Code == "42703"):
			without = append(without, part)
		case err != nil:
			return nil, err
		}
	}
	return without, nil
}

// less is the mapping without optional parts.
func (c *Compiled) less(without []string) *Compiled {
	if len(without) == 0 {
		return c
	}
	out := *c
	out.columns = maps.Clone(c.columns)
	for _, part := range without {
		delete(out.columns, part)
		if part == "where" {
			out.where = ""
		}
	}
	return &out
}

// setColumns are the columns that are written, by name.
func (c *Compiled) setColumns() map[string]string {
	columns := map[string]string{}
	for _, ch := range c.changes {
		for _, a := range ch.sets {
			columns[a.name] = a.Column
		}
	}
	return columns
}

// describe asks the server for the types of expressions over a table, reading no row.
func describe(ctx context.Context, tx pgx.Tx, from string, columns map[string]string) (map[string]columnType, error) {
	if len(columns) == 0 {
		return nil, nil
	}
	keys := slices.Sorted(maps.Keys(columns))
	list := make([]string, 0, len(keys))
	for _, k := range keys {
		list = append(list, oneValue(columns[k]))
	}
	sql := "SELECT " + strings.Join(list, ", ") + " FROM " + from + " LIMIT 0"
	rows, err := tx.Query(ctx, sql, pgx.QueryExecModeDescribeExec) // not cached: it is asked again when types change
	if err != nil {
		return nil, err
	}
	types := map[string]columnType{}
	for i, f := range rows.FieldDescriptions() {
		types[keys[i]] = columnType{oid: f.DataTypeOID, limit: lengthLimit(f.DataTypeOID, f.TypeModifier)}
	}
	rows.Close()
	if err := rows.Err(); err != nil {
		return nil, err
	}
	return types, nameTypes(ctx, tx, types)
}

// oneValue puts an expression where the server takes none that returns a set: in a select
// list it would make more rows of one, or none, and a row that is hidden looks gone.
func oneValue(sql string) string {
	if sqltext.InParentheses(sql) {
		return "CASE WHEN true THEN " + sql + " END"
	}
	return sql
}

func lengthLimit(oid uint32, modifier int32) int {
	if (oid == pgtype.VarcharOID || oid == pgtype.BPCharOID) && modifier > 4 {
		return int(modifier) - 4
	}
	return 0
}

func nameTypes(ctx context.Context, tx pgx.Tx, types map[string]columnType) error {
	var oids []int64
	for _, t := range types {
		oids = append(oids, int64(t.oid))
	}
	rows, err := tx.Query(ctx, queries["types"], pgx.StrictNamedArgs{"oids": oids})
	if err != nil {
		return err
	}
	type named struct {
		OID    int64
		Name   string
		Labels []string
	}
	found, err := pgx.CollectRows(rows, pgx.RowToStructByName[named])
	if err != nil {
		return err
	}
	for key, t := range types {
		i := slices.IndexFunc(found, func(n named) bool { return n.OID == int64(t.oid) })
		if i >= 0 {
			t.name, t.labels = found[i].Name, found[i].Labels
			types[key] = t
		}
	}
	return nil
}

// indexed reports whether a column's values can be looked up.
func indexed(ctx context.Context, tx pgx.Tx, table, column string) (bool, error) {
	return hasIndex(ctx, tx, table, column, false)
}

// hasIndex reports whether a column's values, or all from one on, can be looked up.
func hasIndex(ctx context.Context, tx pgx.Tx, table, column string, from bool) (bool, error) {
	if column == "" {
		return false, nil
	}
	var found bool
	args := pgx.StrictNamedArgs{"relation": table, "column": column, "range": from}
	err := tx.QueryRow(ctx, queries["index"], args).Scan(&found)
	if err != nil {
		return false, fmt.Errorf("read the indexes of %s: %w", table, err)
	}
	return found, nil
}

// like reports whether values of both types can be compared as they are.
func (t columnType) like(other columnType) bool {
	return t.oid == other.oid || t.text() && other.text() || t.integer() && other.integer()
}

// text reports whether the type compares as text does.
func (t columnType) text() bool { return t.oid == pgtype.TextOID || t.oid == pgtype.VarcharOID }

func (t columnType) integer() bool {
	return t.oid == pgtype.Int2OID || t.oid == pgtype.Int4OID || t.oid == pgtype.Int8OID
}

func (t columnType) enum() bool { return len(t.labels) > 0 }

// keyed reports whether ids of this type can be told from other texts, so that a lookup
// can be made in the type itself and use its index.
func (t columnType) keyed() bool { return t.oid == pgtype.UUIDOID || t.integer() }
