package main

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A row is a task as a test writes it. The ages say how long ago; 0 leaves the column null.
type row struct {
	status                    string
	created, updated, started time.Duration // updated: default a second ago
	key, err                  string
}

func ago(d time.Duration) string { return fmt.Sprintf("%d milliseconds", d.Milliseconds()) }

// task inserts a row and returns its id.
func (a *arena) task(r row) string {
	a.Helper()
	var id string
	err := a.db.QueryRow(a.Context(), `
		INSERT INTO program.tasks (status, sandbox_id, created_at, updated_at, started_at, completed_at, error_message)
		VALUES (@status::text, nullif(@key::text, ''), now() - @created::interval, now() - @updated::interval,
		        CASE WHEN @running::bool THEN now() - @started::interval END,
		        CASE WHEN @status::text IN ('completed', 'failed', 'cancelled') THEN now() - @updated::interval END,
		        nullif(@err::text, ''))
		RETURNING id::text`, pgx.StrictNamedArgs{"status": r.status, "key": r.key, "created": ago(r.created),
		"updated": ago(max(r.updated, time.Second)), "started": ago(r.started), "running": r.started > 0, "err": r.err,
	}).Scan(&id)
	if err != nil {
		a.Fatal(err)
	}
	return id
}

func (a *arena) event(key, kind string, d time.Duration) {
	a.Helper()
	a.sql("INSERT INTO program.sandbox_events (sandbox_id, event_type, created_at) VALUES ($1, $2, now() - $3::interval)",
		key, kind, ago(d))
}

// box puts a running sandbox of ours into the cloud, for a task.
func (a *arena) box(task string, age time.Duration) simulated.Sandbox {
	return a.cloud.Put(simulated.Sandbox{Template: "ai-agent-dev-light", CreatedAt: time.Now().Add(-age),
		Labels: map[string]string{"project": "omoios", "task_id": task, "agent_id": "agent-1"}})
}

// snapshot sets the state of the one that the sandboxes are made from.
func (a *arena) snapshot(state reconcile.TemplateState) {
	a.cloud.PutTemplate(simulated.Template{Name: "ai-agent-dev-light", State: state, LastUsedAt: time.Now()})
}

// A worker is a task at work: its row, its key in the events, its sandbox.
type worker struct{ task, key, sandbox string }

// working puts n healthy tasks at work: they started 5 minutes ago, and every worker was
// heard seconds ago.
func (a *arena) working(n int) []worker {
	a.Helper()
	var out []worker
	for i := range n {
		w := worker{key: fmt.Sprintf("omoios-worker-%03d", i)}
		w.task = a.task(row{status: "running", key: w.key, created: 6 * time.Minute, updated: 5 * time.Minute,
			started: 5 * time.Minute})
		w.sandbox = a.box(w.task, 5*time.Minute+5*time.Second).ID
		a.event(w.key, "agent.started", 5*time.Minute)
		a.event(w.key, "agent.tool_use", 50*time.Second)
		a.event(w.key, "agent.heartbeat", 2*time.Second)
		out = append(out, w)
	}
	return out
}

// later lets time pass for everything at once, without waiting: rows, events, ledger and
// cloud grow older. Then the workers that live send a heartbeat. The sums of an hour stay where they are: their hour is
// what they are known by, and those of two hours would meet.
func (a *arena) later(d time.Duration, alive ...worker) {
	a.Helper()
	rows, err := a.db.Query(a.Context(), `
		SELECT format('UPDATE %I.%I SET %s', c.table_schema, c.table_name,
		              string_agg(format('%1$I = %1$I - $1::interval', c.column_name), ', '))
		FROM information_schema.columns c JOIN information_schema.tables t USING (table_schema, table_name)
		WHERE c.data_type = 'timestamp with time zone' AND t.table_type = 'BASE TABLE'
		  AND (c.table_schema = 'sandkeeper' AND c.table_name <> 'hours' OR c.table_schema = 'public')
		GROUP BY c.table_schema, c.table_name`)
	if err != nil {
		a.Fatal(err)
	}
	updates, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		a.Fatal(err)
	}
	kept := []string{"actions", "verdicts", "armings"} // what is settled grows older, too
	for _, table := range kept {
		a.sql("ALTER TABLE IF EXISTS sandkeeper." + table + " DISABLE TRIGGER USER")
	}
	for _, update := range updates {
		a.sql(update, ago(d))
	}
	for _, table := range kept {
		a.sql("ALTER TABLE IF EXISTS sandkeeper." + table + " ENABLE TRIGGER USER")
	}
	a.laterProbes(d)
	for _, s := range a.cloud.Sandboxes() {
		a.cloud.Change(s.ID, func(s *simulated.Sandbox) {
			s.CreatedAt, s.UpdatedAt = s.CreatedAt.Add(-d), s.UpdatedAt.Add(-d)
			s.LastActivityAt = s.LastActivityAt.Add(-d)
		})
	}
	for _, w := range alive {
		a.event(w.key, "agent.heartbeat", time.Second)
	}
}

// laterProbes is for the one place where the ledger keeps times inside JSON.
func (a *arena) laterProbes(d time.Duration) {
	a.Helper()
	var migrated bool
	err := a.db.QueryRow(a.Context(), "SELECT to_regclass('sandkeeper.sandboxes') IS NOT NULL").Scan(&migrated)
	if err != nil {
		a.Fatal(err)
	}
	if !migrated {
		return
	}
	a.sql(`UPDATE sandkeeper.sandboxes SET probe_failures = (
			SELECT jsonb_agg(jsonb_set(f, '{At}', to_jsonb((f->>'At')::timestamptz - $1::interval)) ORDER BY n)
			FROM jsonb_array_elements(probe_failures) WITH ORDINALITY AS e (f, n))
		WHERE jsonb_typeof(probe_failures) = 'array' AND probe_failures <> '[]'`, ago(d))
}

// rows are all tasks as they are, by id, to the byte.
func (a *arena) rows() map[string]string {
	a.Helper()
	rows, err := a.db.Query(a.Context(), "SELECT id::text, to_jsonb(t)::text || t.xmin::text FROM tasks t")
	if err != nil {
		a.Fatal(err)
	}
	out := map[string]string{}
	var id, text string
	if _, err := pgx.ForEachRow(rows, []any{&id, &text}, func() error { out[id] = text; return nil }); err != nil {
		a.Fatal(err)
	}
	return out
}

// state is a task's status and error.
func (a *arena) state(task string) (status, why string) {
	a.Helper()
	err := a.db.QueryRow(a.Context(), "SELECT status, coalesce(error_message, '') FROM tasks WHERE id = $1", task).
		Scan(&status, &why)
	if err != nil {
		a.Fatal(err)
	}
	return status, why
}

// untouched demands that rows are as they were and that nothing was ended at the provider.
func (a *arena) untouched(before map[string]string) {
	a.Helper()
	if diff := cmp.Diff(before, a.rows()); diff != "" {
		a.Errorf("rows were changed (-before +after):\n%s", diff)
	}
	if calls := a.cloud.Destructive(); len(calls) > 0 {
		a.Errorf("the provider was asked to end something: %v", calls)
	}
}

// keeps demands that these workers' rows and sandboxes live.
func (a *arena) keeps(ws []worker) {
	a.Helper()
	for _, w := range ws {
		if status, why := a.state(w.task); status != "running" {
			a.Errorf("healthy task %s is %s: %s", w.task, status, why)
		}
		if a.ended(w.sandbox) {
			a.Errorf("sandbox %s of a healthy task was ended", w.sandbox)
		}
	}
}

func (a *arena) ended(sandbox string) bool {
	s, known := a.cloud.Sandbox(sandbox)
	return !known || s.Gone || s.Doomed
}

// asked are the calls about one sandbox, in order.
func (a *arena) asked(id string) []simulated.Kind {
	var kinds []simulated.Kind
	for _, c := range a.cloud.Calls() {
		if c.ID == id {
			kinds = append(kinds, c.Kind)
		}
	}
	return kinds
}

func newUUID() string {
	var b [16]byte
	rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	h := hex.EncodeToString(b[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}
