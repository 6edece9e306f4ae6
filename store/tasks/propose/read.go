package propose

import (
	"context"
	"embed"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sandkeeper/sandkeeper/store"
	"github.com/sandkeeper/sandkeeper/store/tasks"
)

//go:embed queries/*.sql
var queryFiles embed.FS

var queries = store.Queries(queryFiles)

// mostWords is how many different values a column of words has; one with more holds something else.
const mostWords = 40

// Read looks at a database, in transactions that can only read.
func Read(ctx context.Context, pool *pgxpool.Pool) (*Catalog, error) {
	var cat Catalog
	err := pgx.BeginTxFunc(ctx, pool, pgx.TxOptions{AccessMode: pgx.ReadOnly}, func(tx pgx.Tx) error {
		rows, err := tx.Query(ctx, queries["catalog"])
		if err != nil {
			return err
		}
		cat.Tables, err = pgx.CollectRows(rows, scanTable)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("look at the tables: %w", err)
	}
	for i := range cat.Tables {
		if err := cat.Tables[i].readWords(ctx, pool); err != nil {
			return nil, err
		}
	}
	return &cat, nil
}

func scanTable(row pgx.CollectableRow) (Table, error) {
	var t Table
	err := row.Scan(&t.Schema, &t.Name, &t.Rows, &t.Secured, &t.Columns, &t.Primary, &t.Unique, &t.Indexed, &t.Foreign, &t.Checks)
	return t, err
}

// readWords reads the values that occur where a column may hold statuses or types of events. What this role may not
// read tells nothing.
func (t *Table) readWords(ctx context.Context, pool *pgxpool.Pool) error {
	t.Words = map[string][]string{}
	for _, c := range t.wordColumns() {
		found, err := tasks.StatusesOf(ctx, pool, t.SQL(), named(c.Name))
		var refused *pgconn.PgError
		switch {
		case errors.As(err, &refused) && refused.Code == "42501":
		case err != nil:
			return err
		case len(found) <= mostWords:
			t.Words[c.Name] = found
		}
	}
	return nil
}
