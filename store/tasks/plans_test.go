package tasks

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// plans are what the server tells of each statement that it has run, with its plan.
type plans struct {
	mu   sync.Mutex
	told []string
}

// plansTold opens the database once more, by connections on which the server tells its plans.
func (w *world) plansTold() *plans {
	w.t.Helper()
	p := &plans{}
	config, err := pgxpool.ParseConfig(w.dsn)
	if err != nil {
		w.t.Fatal(err)
	}
	config.ConnConfig.OnNotice = func(_ *pgconn.PgConn, n *pgconn.Notice) {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.told = append(p.told, n.Message)
	}
	config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheStatement
	config.AfterConnect = func(ctx context.Context, c *pgx.Conn) error {
		_, err := c.Exec(ctx, `LOAD 'auto_explain'; SET auto_explain.log_min_duration = 0;
			SET auto_explain.log_level = notice; SET auto_explain.log_format = json; SET auto_explain.log_analyze = on;
			SET auto_explain.log_timing = off; SET enable_seqscan = off; SET jit = off`)
		return err
	}
	pool, err := pgxpool.NewWithConfig(w.t.Context(), config)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(pool.Close)
	w.tasks.pool = pool
	return p
}

// large are how many rows the tables have, of which few are alive.
var large = map[string]int{"tasks": 20_000, "sandbox_events": 60_000}

// A toldPlan is what the server told of one statement.
type toldPlan struct {
	Text string `json:"Query Text"`
	Plan node
}

func (p *plans) all(t *testing.T) (all []toldPlan) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, told := range p.told {
		_, text, told := strings.Cut(told, "plan:\n")
		if !told {
			continue
		}
		var said toldPlan
		if err := json.Unmarshal([]byte(text), &said); err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		all = append(all, said)
	}
	return all
}

// read is how many rows of a table were read, by all statements.
func (p *plans) read(t *testing.T, table string) (n int) {
	t.Helper()
	for _, said := range p.all(t) {
		n += said.Plan.read(table)
	}
	return n
}

// of are how many statements were told, and those of them that read half of a large table.
func (p *plans) of(t *testing.T) (all int, whole []string) {
	t.Helper()
	for _, said := range p.all(t) {
		all++
		for table, rows := range large {
			if read := said.Plan.read(table); read >= rows/2 {
				whole = append(whole, fmt.Sprintf("%d rows of %s: %s\n%v", read, table, said.Text, said.Plan.scans()))
			}
		}
	}
	return all, whole
}

// read is how many rows of a table were read, those that a condition left out included.
func (n node) read(relation string) int {
	sum := 0.0
	if n.Relation == relation {
		sum = (n.Rows + n.Removed) * n.Loops
	}
	for _, p := range n.Plans {
		sum += float64(p.read(relation))
	}
	return int(sum)
}

// largeWorld is a platform with 100 tasks at work, and a long history.
func largeWorld(t *testing.T) *world {
	t.Helper()
	w := omoiosWorld(t)
	w.exec(`INSERT INTO program.tasks (status, sandbox_id, started_at)
		SELECT CASE WHEN n <= 100 THEN 'running' ELSE 'completed' END, 'box-' || n, now() FROM generate_series(1, 20000) AS n`)
	w.exec(`INSERT INTO sandbox_events (id, sandbox_id, event_type, created_at)
		SELECT n, 'box-' || n % 20000, CASE n % 2 WHEN 0 THEN 'agent.heartbeat' ELSE 'agent.message' END,
			now() - interval '1 hour' FROM generate_series(1, 60000) AS n`)
	w.exec("VACUUM ANALYZE")
	return w
}

// TestNoStatementReadsAWholeTable runs whatever is asked of the platform's tables on large ones, and looks at the plan that
// the server took for each statement.
func TestNoStatementReadsAWholeTable(t *testing.T) {
	w := largeWorld(t)
	some := w.text("SELECT id FROM tasks WHERE sandbox_id = 'box-7'")
	p := w.plansTold()
	ctx := t.Context()
	must := func(doing string, err error) {
		if err != nil {
			t.Fatalf("%s: %v", doing, err)
		}
	}
	_, err := w.tasks.Clock(ctx)
	must("clock", err)
	_, err = w.tasks.Live(ctx)
	must("live", err)
	for range 2 {
		_, err = w.tasks.LiveBut(ctx, always)
		must("live but the plain", err)
	}
	w.tasks.known.apart.many = true
	_, err = w.tasks.Live(ctx)
	must("live, by and by", err)
	rows, err := w.tasks.ByID(ctx, []string{some})
	must("by id", err)
	_, err = w.tasks.BySandbox(ctx, []string{"box-7", "box-9999", "nobody"})
	must("by sandbox", err)
	for _, line := range w.tasks.Check(ctx) {
		if !line.OK {
			t.Errorf("check: %+v", line)
		}
	}
	must("history", w.tasks.History(ctx, HistoryRead{Since: time.Now().Add(-time.Hour)}, func(*reconcile.PastTask) {}))
	_, _, err = w.tasks.Write(ctx, reconcile.Write{Step: reconcile.StepFail, Task: rows.Tasks[0], Reason: "x", Lock: true})
	must("fail", err)
	all, whole := p.of(t)
	if all < 20 {
		t.Errorf("%d statements were told, want all", all)
	}
	for _, told := range whole {
		t.Errorf("reads a whole table:\n%s", told)
	}
}

// TestNewEventsAreFoundByTheirTime: what a reading after another costs follows from what came, not from what is there.
func TestNewEventsAreFoundByTheirTime(t *testing.T) {
	w := largeWorld(t)
	w.exec(`INSERT INTO sandbox_events (id, sandbox_id, event_type, created_at)
		SELECT 'many-' || n, 'box-' || 1 + n % 100, 'agent.tool_use', now() - interval '10 minutes' - n * interval '1 second'
		FROM generate_series(1, 30000) AS n`)
	w.exec("VACUUM ANALYZE")
	w.asked(always)
	w.exec("INSERT INTO program.sandbox_events (sandbox_id, event_type) SELECT 'box-' || n, 'agent.heartbeat' FROM generate_series(1, 5) AS n")
	p := w.plansTold()
	asked, kept := w.asked(always)
	if len(asked) != 100 || len(kept) != 0 {
		t.Fatalf("asked of %d rows, kept %d", len(asked), len(kept))
	}
	if read := p.read(t, "sandbox_events"); read != 5 {
		t.Errorf("%d events were read, want the 5 that came", read)
	}
}

// TestPlansAreTold: without an index the server says that it reads a whole table.
func TestPlansAreTold(t *testing.T) {
	w := largeWorld(t)
	w.exec("DROP INDEX tasks_status_idx")
	p := w.plansTold()
	if _, err := w.tasks.Live(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, whole := p.of(t); len(whole) != 1 || !strings.Contains(whole[0], "20000 rows of tasks") {
		t.Errorf("told: %q, want one that reads all tasks", whole)
	}
}
