package tasks

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/store"
	"github.com/sandkeeper/sandkeeper/store/pgtest"
	"github.com/sandkeeper/sandkeeper/store/tasks/mapping"
)

// A node is a part of an executed plan as EXPLAIN tells it.
type node struct {
	Type     string  `json:"Node Type"`
	Relation string  `json:"Relation Name"`
	Loops    float64 `json:"Actual Loops"`
	Rows     float64 `json:"Actual Rows"`
	Removed  float64 `json:"Rows Removed by Filter"`
	Hit      int     `json:"Shared Hit Blocks"`
	Read     int     `json:"Shared Read Blocks"`
	Plans    []node  `json:"Plans"`
}

// scans lists how tables are read, as in "Index Scan on tasks". What the plan has for a case
// that no row was is not read.
func (n node) scans() []string {
	var out []string
	if n.Relation != "" && n.Loops > 0 {
		out = append(out, fmt.Sprintf("%s on %s", n.Type, n.Relation))
	}
	for _, p := range n.Plans {
		out = append(out, p.scans()...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// explain runs the statement for the live tasks and returns its plan.
func (w *world) explain() node {
	w.t.Helper()
	var text []byte
	err := w.tasks.begin(w.t.Context(), taskRead, func(tx pgx.Tx, _ time.Time) error {
		s, err := w.tasks.statements(w.t.Context(), tx)
		if err != nil {
			return err
		}
		args := s.readArgs()
		s.withLive(args)
		return tx.QueryRow(w.t.Context(), "EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) "+s.live, args).Scan(&text)
	})
	if err != nil {
		w.t.Fatal(err)
	}
	var plans []struct{ Plan node }
	if err := json.Unmarshal(text, &plans); err != nil || len(plans) != 1 {
		w.t.Fatalf("plan %s: %v", text, err)
	}
	return plans[0].Plan
}

const (
	addLive = `INSERT INTO program.tasks (status, sandbox_id, started_at)
		SELECT 'running', 'live-' || n, now() FROM generate_series(1, %d) AS n`
	addFinished = `INSERT INTO program.tasks (status, sandbox_id, started_at)
		SELECT 'completed', 'old-' || n, now() FROM generate_series(1, %d) AS n`
	addLiveEvents = `INSERT INTO program.sandbox_events (sandbox_id, event_type, created_at)
		SELECT 'live-' || (1 + n %% 100), 
			CASE n %% 2 WHEN 0 THEN 'agent.heartbeat' ELSE 'agent.message' END, now()
		FROM generate_series(1, %d) AS n`
	addOldEvents = `INSERT INTO program.sandbox_events (sandbox_id, event_type, created_at)
		SELECT 'old-' || n %% 10000, 'agent.message', now() FROM generate_series(1, %d) AS n`
)

// TestLiveNeverScansTheHistory loads a history that dwarfs what is alive, and wants the
// same blocks to be read as without it. Events are looked up whatever the statistics say;
// for the tasks the planner must know them.
func TestLiveNeverScansTheHistory(t *testing.T) {
	w := omoiosWorld(t)
	w.exec(fmt.Sprintf(addLive, 100))
	w.exec(fmt.Sprintf(addLiveEvents, 2000))
	w.exec("ANALYZE")
	w.explain() // the first one warms the caches of the catalog
	alone := w.explain()
	w.exec(fmt.Sprintf(addFinished, 50_000))
	w.exec(fmt.Sprintf(addOldEvents, 200_000))
	if plan := w.explain(); slices.Contains(plan.scans(), "Seq Scan on sandbox_events") {
		t.Errorf("without statistics: %v", plan.scans())
	}
	w.exec("ANALYZE")
	plan := w.explain()
	for _, scan := range plan.scans() {
		if strings.Contains(scan, "Seq Scan") {
			t.Errorf("with statistics: %v", plan.scans())
		}
	}
	// One more level of each index is all that a history may cost.
	if got, most := plan.Hit+plan.Read, (alone.Hit+alone.Read)*11/10+2*100; got > most {
		t.Errorf("%d blocks with the history, %d without it", got, alone.Hit+alone.Read)
	}
}

// TestLiveIsSaneWithoutIndexes wants each table to be read once, not once for each task.
func TestLiveIsSaneWithoutIndexes(t *testing.T) {
	w := omoiosWorld(t)
	w.exec("DROP INDEX tasks_status_idx; DROP INDEX sandbox_events_sandbox_id_idx")
	w.exec(fmt.Sprintf(addLive, 100))
	w.exec(fmt.Sprintf(addLiveEvents, 20_000))
	w.exec("ANALYZE")
	plan := w.explain()
	if !slices.Contains(plan.scans(), "Seq Scan on sandbox_events") {
		t.Fatalf("scans %v: this test wants a table without an index", plan.scans())
	}
	if loops := plan.loops("sandbox_events"); loops > 3 { // a parallel plan reads its share in each worker
		t.Errorf("the events were read %v times", loops)
	}
	for _, task := range w.live() {
		if task.Events.Heartbeat.IsZero() == task.Events.Activity.IsZero() {
			t.Fatalf(
				"task %s: heartbeat %s, activity %s, want one of them",
				task.Sandbox,
				task.Events.Heartbeat,
				task.Events.Activity,
			)
		}
	}
}

// loops is how often a table was read.
func (n node) loops(relation string) float64 {
	most := 0.0
	if n.Relation == relation {
		most = n.Loops
	}
	for _, p := range n.Plans {
		most = max(most, p.loops(relation))
	}
	return most
}

// TestBothShapesReadTheSame compares the lookup with the gathering, row by row.
func TestBothShapesReadTheSame(t *testing.T) {
	w := omoiosWorld(t)
	w.exec(fmt.Sprintf(addLive, 300))
	w.exec("INSERT INTO program.tasks (status, sandbox_id) VALUES ('running', 'live-1'), ('running', NULL), ('pending', '')")
	w.exec(fmt.Sprintf(addLiveEvents, 1000))
	w.exec(
		"INSERT INTO program.sandbox_events (sandbox_id, event_type, created_at) VALUES ('', 'agent.started', '2026-02-01'), " +
			"('live-2', 'agent.completed', 'infinity')",
	)
	lookedUp := w.live()
	w.exec("DROP INDEX sandbox_events_sandbox_id_idx")
	w.tasks.forget()
	gathered := w.live()
	if len(lookedUp) != 303 || len(gathered) != 303 {
		t.Fatalf("%d and %d rows, want 303", len(lookedUp), len(gathered))
	}
	for id, task := range lookedUp {
		if task.Sandbox == "live-2" && (task.Events.Activity.IsZero() || !task.Events.Finished.IsZero()) {
			t.Errorf("an event at infinity is one: %+v", task.Events)
		}
		if gathered[id].Events != task.Events {
			t.Errorf("task %s: %+v looked up, %+v gathered", id, task.Events, gathered[id].Events)
		}
	}
}

func BenchmarkLive(b *testing.B) {
	for _, history := range []int{0, 1_000_000} {
		b.Run(fmt.Sprintf("live=10000/finished=%d", history), func(b *testing.B) {
			pool, err := store.Open(b.Context(), pgtest.Database(b), store.OpenOptions{StatementTimeout: 10 * time.Minute})
			if err != nil {
				b.Fatal(err)
			}
			defer pool.Close()
			c, err := Compile(mapping.Mapping{Preset: "omoios"}.WithPreset())
			if err != nil {
				b.Fatal(err)
			}
			for _, sql := range []string{pgtest.OmoiOS + pgtest.OmoiOSProgram, fmt.Sprintf(addFinished, history), fmt.Sprintf(addLive, 10_000),
				fmt.Sprintf(addOldEvents, history), fmt.Sprintf(addLiveEvents, 10_000), "VACUUM ANALYZE"} {
				if _, err := pool.Exec(b.Context(), sql); err != nil {
					b.Fatal(err)
				}
			}
			tasks := NewTasks(pool, c, nil)
			b.ReportAllocs()
			for b.Loop() {
				rows, err := tasks.Live(b.Context())
				if err != nil || len(rows.Tasks) != 10_000 {
					b.Fatal(len(rows.Tasks), err)
				}
			}
		})
	}
}
