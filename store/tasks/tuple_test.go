package tasks

import (
	"slices"
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/tasks/mapping"
	"github.com/sandkeeper/sandkeeper/store/tasks/sqltext"
)

const composite = `CREATE TABLE public.pairs (org text, n bigint, status text, note text, box text, PRIMARY KEY (org, n));
	INSERT INTO pairs VALUES ('acme', 1, 'running'), ('acme', 2, 'running'), ('a/b%2F', 1, 'running'), ('b', 1, 'failed')`

func compositeMapping() mapping.Mapping {
	return mapping.Mapping{
		Table: "public.pairs", Columns: map[string]string{"id": "(org, n)", "status": "status", "error": "note", "sandbox": "box"},
		Statuses: map[string][]string{"running": {"running"}, "failed": {"failed"}},
		Fail: mapping.RowChange{Status: "failed", Set: map[string]string{"note": "@reason"},
			SQL: []string{"UPDATE public.pairs SET box = @id_1 || ' ' || @id_2 WHERE (org, n) = (@id_1, @id_2::bigint)"}},
	}
}

// TestTuple: a task whose id is of several columns is read, looked up and written by them, also where one of them holds
// the sign that stands between; what is none of its ids names no row.
func TestTuple(t *testing.T) {
	w := newWorld(t, composite, compositeMapping())
	const odd = "a%2Fb%252F/1"
	live := w.live()
	if len(live) != 3 || live["acme/2"].ID == "" || live[odd].ID == "" {
		t.Fatalf("live = %v", live)
	}
	rows, err := w.tasks.ByID(t.Context(), []string{odd, "b/1", "b/x", "b", "b/1/1", "b/01", "", "/1"})
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, task := range rows.Tasks {
		found = append(found, task.ID)
	}
	slices.Sort(found)
	if want := []string{odd, "b/01", "b/1"}; !slices.Equal(found, want) {
		t.Errorf("found %q, want %q", found, want)
	}
	written, _, err := w.tasks.Write(t.Context(), reconcile.Write{Step: reconcile.StepFail, Task: live[odd], Reason: reason})
	if err != nil || written != reconcile.WriteDone {
		t.Fatalf("Write = %q, %v", written, err)
	}
	if got := w.text("SELECT string_agg(org || ' ' || n || ' ' || box, ', ') FROM pairs WHERE note IS NOT NULL"); got != "a/b%2F 1 a/b%2F 1" {
		t.Errorf("written: %q", got)
	}
}

// TestTupleByItsIndex: a look at one row of many is answered by the columns' own index.
func TestTupleByItsIndex(t *testing.T) {
	w := newWorld(t, composite+"; INSERT INTO pairs SELECT 'org' || n % 100, n, 'failed' FROM generate_series(1, 20000) AS n; ANALYZE pairs",
		compositeMapping())
	w.live()
	among := w.tasks.known.cat.fields["id"].among(w.tasks.plan.columns["id"], "keys")
	sql := "EXPLAIN SELECT FROM public.pairs WHERE " + strings.ReplaceAll(among, "@keys", "$1")
	rows, err := w.pool.Query(t.Context(), sql, []string{"org7/107", "org8/208"})
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var plan strings.Builder
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		plan.WriteString(line + "\n")
	}
	if err := rows.Err(); err != nil || !strings.Contains(plan.String(), "pairs_pkey") {
		t.Errorf("%v, and the plan does not use the key:\n%s", err, plan.String())
	}
}

func TestTupleOfText(t *testing.T) {
	for text, want := range map[string][]string{
		"(org, n)": {"org", "n"}, "(org || ',' || n)": nil, "org": nil, "(coalesce(org, 'x'))": nil, "(a) || (b)": nil,
		`("a,b", (lower(org, 'x')), n)`: {`"a,b"`, "(lower(org, 'x'))", "n"},
	} {
		if got := sqltext.Tuple(text); !slices.Equal(got, want) {
			t.Errorf("sqltext.Tuple(%s) = %q, want %q", text, got, want)
		}
	}
}
