package platforms

import (
	"crypto/rand"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
)

// later lets time pass for everything at once, without waiting: what the platform, the ledger
// and the provider wrote down grows older. A time before the year 2 means none.
func (w *world) later(d time.Duration) {
	w.Helper()
	rows, err := w.db.Query(w.Context(), `
		SELECT format('UPDATE %I.%I SET %s', c.table_schema, c.table_name, string_agg(
			format('%1$I = CASE WHEN %1$I > ''0002-01-01'' THEN %1$I - interval ''`+milliseconds(d)+`'' ELSE %1$I END',
				c.column_name), ', '))
		FROM information_schema.columns c JOIN information_schema.tables t USING (table_schema, table_name)
		WHERE c.data_type LIKE 'timestamp %' AND t.table_type = 'BASE TABLE'
		  AND c.table_schema NOT IN ('information_schema', 'pg_catalog') AND c.column_name <> ALL (coalesce($1::text[], '{}'))
		GROUP BY c.table_schema, c.table_name`, w.fixed)
	if err != nil {
		w.Fatal(err)
	}
	updates, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		w.Fatal(err)
	}
	kept := []string{"actions", "verdicts", "armings"} // what is settled grows older, too
	for _, table := range kept {
		w.sql("ALTER TABLE IF EXISTS sandkeeper." + table + " DISABLE TRIGGER USER")
	}
	for _, at := range w.epochs {
		table, column, _ := strings.Cut(at, ".")
		updates = append(updates, fmt.Sprintf("UPDATE %s SET %s = %[2]s - %d WHERE %[2]s > 0", quoted(table), quoted(column),
			int(d.Seconds())))
	}
	w.sql(strings.Join(updates, ";\n"))
	for _, table := range kept {
		w.sql("ALTER TABLE IF EXISTS sandkeeper." + table + " ENABLE TRIGGER USER")
	}
	w.sql(`UPDATE sandkeeper.sandboxes SET probe_failures = (
			SELECT jsonb_agg(jsonb_set(f, '{At}', to_jsonb((f->>'At')::timestamptz - interval '` + milliseconds(d) + `')) ORDER BY n)
			FROM jsonb_array_elements(probe_failures) WITH ORDINALITY AS e (f, n))
		WHERE jsonb_typeof(probe_failures) = 'array' AND probe_failures <> '[]'`)
	for _, cloud := range w.clouds {
		for _, s := range cloud.Sandboxes() {
			cloud.Change(s.ID, func(s *simulated.Sandbox) {
				s.CreatedAt, s.UpdatedAt = s.CreatedAt.Add(-d), s.UpdatedAt.Add(-d)
				s.LastActivityAt = s.LastActivityAt.Add(-d)
			})
		}
	}
}

// epoch is a time so long ago, as platforms write it that count seconds.
func epoch(ago time.Duration) int64 { return time.Now().Add(-ago).Unix() }

func milliseconds(d time.Duration) string { return fmt.Sprintf("%d milliseconds", d.Milliseconds()) }

func (w *world) sql(query string, args ...any) {
	w.Helper()
	if _, err := w.db.Exec(w.Context(), query, args...); err != nil {
		w.Fatalf("%s: %v", query, err)
	}
}

// A row is what a platform writes into a table, by column. A duration is that long ago.
type row map[string]any

// with is a row with some values of its own.
func (r row) with(own row) row {
	out := maps.Clone(r)
	maps.Copy(out, own)
	return out
}

// insert adds a row to a table.
func (w *world) insert(table string, r row) {
	w.Helper()
	var columns, places []string
	var values []any
	for i, column := range slices.Sorted(maps.Keys(r)) {
		value := r[column]
		if ago, is := value.(time.Duration); is {
			value = time.Now().UTC().Add(-ago)
		}
		columns = append(columns, pgx.Identifier{column}.Sanitize())
		places = append(places, fmt.Sprintf("$%d", i+1))
		values = append(values, value)
	}
	w.sql("INSERT INTO "+quoted(table)+" ("+strings.Join(columns, ", ")+") VALUES ("+strings.Join(places, ", ")+")", values...)
}

// newID is a new UUID.
func newID() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // it never fails
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// text is one value of the database, "" for none.
func (w *world) text(query string, args ...any) string {
	w.Helper()
	var out *string
	err := w.db.QueryRow(w.Context(), query, args...).Scan(&out)
	if err != nil {
		w.Fatalf("%s: %v", query, err)
	}
	if out == nil {
		return ""
	}
	return *out
}

// age says how old a sandbox is and how long ago something happened in it.
func age(created, active time.Duration) simulated.Sandbox {
	now := time.Now()
	return simulated.Sandbox{CreatedAt: now.Add(-created), UpdatedAt: now.Add(-created), LastActivityAt: now.Add(-active)}
}

// active lets something go on in sandboxes, for the provider to see.
func (w *world) active(ids ...string) {
	for _, id := range ids {
		w.cloud.Change(id, func(s *simulated.Sandbox) { s.LastActivityAt = time.Now().Add(-2 * time.Second) })
	}
}

// vanish ends a sandbox as the provider does it by itself.
func (w *world) vanish(id string) {
	w.cloud.Change(id, func(s *simulated.Sandbox) { s.Gone, s.State = true, "ended" })
}

// one reads one value of a statement.
func (w *world) one(to any, query string, args ...any) {
	w.Helper()
	if err := w.db.QueryRow(w.Context(), query, args...).Scan(to); err != nil {
		w.Fatalf("%s: %v", query, err)
	}
}
