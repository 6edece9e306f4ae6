package ledger

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/pgtest"
)

// TestRecordOfALargeFleet: what is more than one statement writes is written whole, each row as it was seen last, and
// counted once; a record that is refused writes nothing of any part.
func TestRecordOfALargeFleet(t *testing.T) {
	g := migrated(t, ledgerPool(t, pgtest.Database(t)), nil)
	lease, err := g.TakeLease(t.Context(), "one", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	const n = 2*rowsAtOnce + 1
	fleet := func(live bool, state reconcile.TaskState) (r reconcile.Record) {
		for i := range n {
			r.Tasks = append(r.Tasks, reconcile.TaskSeen{ID: fmt.Sprint("t", i), State: state, Live: live})
			r.Sandboxes = append(r.Sandboxes, reconcile.SandboxSeen{Ref: reconcile.Ref{Provider: "p", ID: fmt.Sprint("s", i)}})
		}
		again := r.Tasks[0]
		again.Status = "seen last"
		r.Tasks = append(r.Tasks, again)
		return r
	}
	record(t, g, lease, fleet(true, reconcile.TaskRunning))
	m := recalled(t, g)
	if m.Tasks.Len() != n || m.Sandboxes.Len() != n || m.Tasks.Of("t0").Status != "seen last" {
		t.Errorf("recalled %d tasks and %d sandboxes, the first task %q; want %d of each and the one that was seen last",
			m.Tasks.Len(), m.Sandboxes.Len(), m.Tasks.Of("t0").Status, n)
	}
	record(t, g, lease, fleet(false, reconcile.TaskCompleted))
	measures, err := g.Measures(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range measures.Counters {
		if c.Name == "tasks_ended" && c.Value != n {
			t.Errorf("%d tasks %s were counted as ended, want %d", c.Value, c.What, n)
		}
	}
	refused := fleet(true, reconcile.TaskRunning)
	refused.Pass = 1 << 40
	if err := g.Record(t.Context(), lease, refused); err == nil {
		t.Error("a pass that never began was recorded")
	}
	if m := recalled(t, g); m.Tasks.Of("t0").Live {
		t.Error("a record that was refused wrote a part of it")
	}
}

// trips notes for each trip to the server how many findings and lines its statements carry.
type trips struct{ rows []int }

func (s *trips) TraceBatchStart(ctx context.Context, _ *pgx.Conn, d pgx.TraceBatchStartData) context.Context {
	rows := 0
	for _, q := range d.Batch.QueuedQueries {
		args, _ := q.Arguments[0].(pgx.StrictNamedArgs)
		if subjects, ok := args["subjects"].([]string); ok {
			rows += len(subjects)
		}
	}
	s.rows = append(s.rows, rows)
	return ctx
}

func (*trips) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}
func (*trips) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData)     {}
func (*trips) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData)     {}
func (*trips) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	return ctx
}

// TestRecordOfManyFindings: a fleet that is wrong as a whole is written in trips none of which is long to encode, each
// finding and each line of the timeline once, the findings counted once; a small one goes in one trip.
func TestRecordOfManyFindings(t *testing.T) {
	seen := &trips{}
	setting, err := pgxpool.ParseConfig(pgtest.Database(t))
	if err != nil {
		t.Fatal(err)
	}
	setting.ConnConfig.Tracer = seen
	pool, err := pgxpool.NewWithConfig(t.Context(), setting)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(pool.Close)
	g := migrated(t, pool, nil)
	lease, err := g.TakeLease(t.Context(), "one", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	const n = 2*rowsAtOnce + 1
	wrong := func(n int) (r reconcile.Record) {
		for i := range n {
			subject := fmt.Sprint("sandbox:p/s", i)
			r.Findings = append(r.Findings, reconcile.Finding{Rule: "orphan", Subject: subject, Provider: "p", Reason: "first"})
			r.Events = append(r.Events, reconcile.TimelineEvent{
				At: time.Now(), Subject: subject, Kind: "finding", What: "orphan",
			})
		}
		again := r.Findings[0]
		again.Reason = "seen last"
		r.Findings = append(r.Findings, again)
		return r
	}
	*seen = trips{}
	record(t, g, lease, wrong(n))
	for i, rows := range seen.rows {
		if rows > rowsAtOnce {
			t.Errorf("trip %d carries %d rows, want at most %d", i, rows, rowsAtOnce)
		}
	}
	open, err := g.OpenFindings(t.Context())
	if err != nil || len(open) != n {
		t.Fatalf("%d findings are open (%v), want %d", len(open), err, n)
	}
	var lines, opened, last int
	err = pool.QueryRow(t.Context(), `SELECT (SELECT count(*) FROM sandkeeper.timeline),
		(SELECT sum(value) FROM sandkeeper.counters WHERE name = 'findings_opened'),
		(SELECT count(*) FROM sandkeeper.findings WHERE reason = 'seen last')`).Scan(&lines, &opened, &last)
	if err != nil || lines != n || opened != n || last != 1 {
		t.Errorf("%d lines, %d findings counted, %d seen last (%v); want %d, %d and 1", lines, opened, last, err, n, n)
	}
	*seen = trips{}
	record(t, g, lease, wrong(10))
	if len(seen.rows) != 1 {
		t.Errorf("a small record took %d trips, want one", len(seen.rows))
	}
}
