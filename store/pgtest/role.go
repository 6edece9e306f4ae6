package pgtest

import (
	"context"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// AsRole is a pool of a new role that may do what grants says, with %[1]s for its name.
func AsRole(t testing.TB, admin *pgxpool.Pool, grants string) *pgxpool.Pool {
	t.Helper()
	var database string
	if err := admin.QueryRow(t.Context(), "SELECT current_database()").Scan(&database); err != nil {
		t.Fatal(err)
	}
	role := database + "_reader"
	name := pgx.Identifier{role}.Sanitize()
	sql := "CREATE ROLE " + name + " LOGIN PASSWORD 'reader';" + strings.ReplaceAll(grants, "%[1]s", name)
	if _, err := admin.Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := admin.Exec(context.WithoutCancel(t.Context()), "DROP OWNED BY "+name+"; DROP ROLE "+name); err != nil {
			t.Error(err)
		}
	})
	config := admin.Config()
	config.ConnConfig.User, config.ConnConfig.Password = role, "reader"
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	return pool
}
