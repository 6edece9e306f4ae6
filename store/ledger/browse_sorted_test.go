package ledger

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// listed is every row of a list, read in parts, by its id.
func listed[T any](t *testing.T, c reconcile.Chosen, id func(*T) string,
	read func(reconcile.Chosen) ([]T, reconcile.Cursor, error)) string {
	t.Helper()
	var got []string
	for _, row := range parts(t, func(at reconcile.Cursor) ([]T, reconcile.Cursor, error) {
		c.After = at
		return read(c)
	}) {
		got = append(got, id(&row))
	}
	return strings.Join(got, " ")
}

// TestSortedLists: whatever puts a list in order, its parts are the whole list, each row once, also among rows that are
// alike.
func TestSortedLists(t *testing.T) {
	g := browsed(t)
	_, err := g.pool.Exec(t.Context(), `
		INSERT INTO sandkeeper.task_states (id, status, state, sandbox, since, entry_sum, error_sum, error_changed, live, changed_at)
		SELECT 't' || i, CASE WHEN i % 2 = 0 THEN 'queued' ELSE 'running' END, CASE WHEN i % 2 = 0 THEN 'pending' ELSE 'running' END,
			'', CASE WHEN i < 4 THEN @noon::timestamptz - i * interval '1 minute' END, 0, 0, false, i < 6, @noon FROM generate_series(1, 6) i;
		INSERT INTO sandkeeper.sandboxes (provider, id, name, task, template, state, raw, first_seen, gone_by_us)
		SELECT 'e2b', 'x' || i, '', '', CASE WHEN i % 2 = 0 THEN 'b b' ELSE 'a' END, 'running', '',
			CASE WHEN i < 4 THEN @noon::timestamptz - i * interval '1 minute' END, false FROM generate_series(1, 5) i;
		INSERT INTO sandkeeper.incidents (id, signature, rule, provider, template, error, cause, evidence, opened_at, first_seen, closed_at,
			count, cost)
		SELECT 'i-' || i, 's' || i, 'errored', 'e2b', '', '', '', '[]', @noon, @noon::timestamptz - i * interval '1 hour',
			CASE WHEN i > 3 THEN @noon::timestamptz - i * interval '1 minute' END, i * 5, 0 FROM generate_series(2, 5) i`,
		pgx.StrictNamedArgs{"noon": atNoon()}, pgx.QueryExecModeSimpleProtocol)
	if err != nil {
		t.Fatal(err)
	}
	lists := map[string]func(reconcile.Chosen) string{
		"findings": func(c reconcile.Chosen) string {
			return listed(t, c, func(f *reconcile.FindingSeen) string { return strings.TrimPrefix(f.Sandbox, "sb-") },
				func(c reconcile.Chosen) ([]reconcile.FindingSeen, reconcile.Cursor, error) {
					return g.Findings(t.Context(), c)
				})
		},
		"actions": func(c reconcile.Chosen) string {
			return listed(t, c, func(a *reconcile.Action) string { return a.ID },
				func(c reconcile.Chosen) ([]reconcile.Action, reconcile.Cursor, error) {
					return g.Actions(t.Context(), c)
				})
		},
		"tasks": func(c reconcile.Chosen) string {
			return listed(t, c, func(s *reconcile.TaskSeen) string { return s.ID },
				func(c reconcile.Chosen) ([]reconcile.TaskSeen, reconcile.Cursor, error) {
					return g.Tasks(t.Context(), c)
				})
		},
		"sandboxes": func(c reconcile.Chosen) string {
			return listed(t, c, func(s *reconcile.SandboxSeen) string { return s.ID },
				func(c reconcile.Chosen) ([]reconcile.SandboxSeen, reconcile.Cursor, error) {
					return g.Sandboxes(t.Context(), c)
				})
		},
		"incidents": func(c reconcile.Chosen) string {
			return listed(t, c, func(i *reconcile.Incident) string { return i.ID },
				func(c reconcile.Chosen) ([]reconcile.Incident, reconcile.Cursor, error) {
					return g.BrowseIncidents(t.Context(), c)
				})
		},
	}
	for name, want := range map[string]string{
		"findings -age":          "53ca4d43 12 9 10 11 6 7 8 3 4 5 1 2",
		"findings -age resolved": "20 19 18 17 16 15 14 13",
		"findings age resolved":  "13 14 15 16 17 18 19 20",
		"findings rule":          "1 3 5 7 9 11 2 4 6 8 10 12 53ca4d43",
		"findings -rule":         "2 4 6 8 10 12 53ca4d43 1 3 5 7 9 11",
		"findings state":         "3 7 11 53ca4d43 1 2 5 6 9 10 4 8 12",
		"findings -subject held": "9 6 5 2 10 1",
		"actions subject":        "a1 a2 a3 a4",
		"actions -subject":       "a4 a3 a2 a1",
		"actions -age closed":    "a12 a11 a10 a9 a8 a7 a6 a5",
		"tasks -id":              "t5 t4 t3 t2 t1 e3598f27-a234 100%_\\x",
		"tasks age":              "t1 t2 t3 100%_\\x e3598f27-a234 t4 t5",
		"tasks -age":             "100%_\\x e3598f27-a234 t4 t5 t3 t2 t1",
		"tasks status":           "t2 t4 100%_\\x e3598f27-a234 t1 t3 t5",
		"tasks -age pending":     "t4 t2",
		"tasks  pending":         "t2 t4",
		"sandboxes template":     "x1 x3 x5 x2 x4 53ca4d43",
		"sandboxes -template":    "53ca4d43 x2 x4 x1 x3 x5",
		"sandboxes -age":         "53ca4d43 x4 x5 x3 x2 x1",
		"sandboxes -id":          "x5 x4 x3 x2 x1 53ca4d43",
		"incidents ":             "i-1 i-2 i-3 i-4 i-5",
		"incidents  open":        "i-1 i-2 i-3",
		"incidents -age":         "i-5 i-4 i-3 i-1 i-2",
		"incidents failures":     "i-1 i-2 i-3 i-4 i-5",
		"incidents -failures":    "i-5 i-4 i-3 i-2 i-1",
		"incidents -rule":        "i-1 i-2 i-3 i-4 i-5",
	} {
		t.Run(name, func(t *testing.T) {
			said := strings.Split(name+"  ", " ")
			for _, most := range []int{1, 2, 100} {
				c := reconcile.Chosen{Sort: said[1], State: said[2], Most: most}
				if !c.Sortable(said[0]) {
					t.Fatal("it cannot be sorted so")
				}
				if diff := cmp.Diff(want, lists[said[0]](c)); diff != "" {
					t.Errorf("in parts of %d (-want +got):\n%s", most, diff)
				}
			}
		})
	}
}

func TestWhatCanBeSorted(t *testing.T) {
	for name, want := range map[string]bool{
		"findings age": true, "findings -age": true, "findings rule": true, "findings -": false, "findings --age": false,
		"findings price": false, "findings rule resolved": false, "findings -age resolved": true, "tasks status": true,
		"tasks status running": true, "tasks status completed": false, "tasks  completed": true, "sandboxes age gone": false,
		"sandboxes age running": true, "passes age": false, "passes ": true,
	} {
		said := strings.Split(name+"  ", " ")
		c := reconcile.Chosen{Sort: said[1], State: said[2]}
		if got := c.Sortable(said[0]); got != want {
			t.Errorf("%s: sortable = %v, want %v", name, got, want)
		}
	}
}

// TestAffectedInParts: the tasks of an incident are read on, part by part.
func TestAffectedInParts(t *testing.T) {
	g := browsed(t)
	_, err := g.pool.Exec(t.Context(), `
		INSERT INTO sandkeeper.verdicts (rule, subject, task, provider, sandbox, template, region, worker, error, signature,
			reason, at, late_us, attempt, enforced, cost, per_hour)
		SELECT 'orphan', 'task:' || i, '', '', '', '', '', '', '', 's1', i::text, $1::timestamptz - (i / 2) * interval '1 minute',
			0, 0, true, 0, 0 FROM generate_series(1, 5) i`, atNoon().Add(-time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	got := ""
	for _, v := range parts(t, func(at reconcile.Cursor) ([]reconcile.Verdict, reconcile.Cursor, error) {
		return g.NewestAffected(t.Context(), "i-1", at, 2)
	}) {
		got += v.Reason + " "
	}
	if want := "1 3 2 5 4 y "; got != want {
		t.Errorf("the incident's verdicts = %s, want %s", got, want)
	}
}
