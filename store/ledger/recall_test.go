package ledger

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/pgtest"
)

// What is committed while a recall is under way is not seen by half.
func TestRecallIsOneSnapshot(t *testing.T) {
	pool := ledgerPool(t, pgtest.Database(t))
	g := migrated(t, pool, atNoon)
	tx, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }()
	_, err = tx.Exec(t.Context(), `LOCK TABLE sandkeeper.sandboxes IN ACCESS EXCLUSIVE MODE;
		INSERT INTO sandkeeper.sources (name, trusted, reason) VALUES ('tasks', true, '');
		INSERT INTO sandkeeper.sandboxes (provider, id, name, task, template, state, raw, first_seen, state_since, gone_by_us)
		VALUES ('daytona', 'sb-1', '', '', '', 'running', '', now(), now(), false)`)
	if err != nil {
		t.Fatal(err)
	}
	recalls := make(chan reconcile.Memory, 1)
	go func() {
		m, err := g.Recall(t.Context())
		if err != nil {
			t.Error(err)
		}
		recalls <- m
	}()
	waiting(t, pool, "task_states") // which it reads with them
	if err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	if m := <-recalls; len(m.Sources) != 0 || m.Sandboxes.Len() != 0 {
		t.Errorf("sources = %v, and %d sandboxes, want none: they came after the recall began", m.Sources, m.Sandboxes.Len())
	}
}

func TestRecallCostsWhatIsAliveNotTheHistory(t *testing.T) {
	g, _ := fleet(t, 2000)
	for _, name := range []string{"recall_tasks", "recall_sandboxes"} {
		args := pgx.StrictNamedArgs{"recent": time.Now().Add(-time.Hour)}
		rows, err := g.pool.Query(t.Context(), "EXPLAIN "+queries[name], args)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := drain(rows, scanText)
		if err != nil {
			t.Fatal(err)
		}
		if text := strings.Join(plan, "\n"); strings.Contains(text, "Seq Scan") {
			t.Errorf("%s reads a whole table:\n%s", name, text)
		}
	}
	if m := recalled(t, g); m.Tasks.Len() != 2000 || m.Sandboxes.Len() != 2000 || len(m.Probes) != 2000 {
		t.Errorf("%d tasks, %d sandboxes, %d probes, want 2000 each", m.Tasks.Len(), m.Sandboxes.Len(), len(m.Probes))
	}
}

// TestRecallLooksForWhatIsGoneLong: by each live task, in the order of the index, once something is gone for long, and
// by none before, whatever the statistics say. What comes is what a plain join finds.
func TestRecallLooksForWhatIsGoneLong(t *testing.T) {
	g := migrated(t, ledgerPool(t, pgtest.Database(t)), atNoon)
	ctx := t.Context()
	do := func(sql string) {
		t.Helper()
		if _, err := g.pool.Exec(ctx, sql); err != nil {
			t.Fatal(err)
		}
	}
	args := pgx.StrictNamedArgs{"recent": ledgerNoon.Add(-time.Hour)}
	texts := func(sql string) []string {
		t.Helper()
		rows, err := g.pool.Query(ctx, sql, args)
		if err != nil {
			t.Fatal(err)
		}
		all, err := drain(rows, scanText)
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	looks := regexp.MustCompile(`task_states t \(actual rows=(\d+)`)
	check := func(wantLooks string) {
		t.Helper()
		plan := strings.Join(texts("EXPLAIN (ANALYZE, COSTS OFF, TIMING OFF, SUMMARY OFF) "+queries["recall_sandboxes"]), "\n")
		got := ""
		if of := looks.FindStringSubmatch(plan); of != nil {
			got = of[1]
		}
		if got != wantLooks {
			t.Errorf("by %q live tasks was looked for what is gone for long, want %q:\n%s", got, wantLooks, plan)
		}
		is := texts("SELECT q.id FROM (" + queries["recall_sandboxes"] + ") q ORDER BY q.id")
		want := texts(`SELECT id FROM sandkeeper.sandboxes s WHERE gone_at IS NULL OR gone_at > @recent OR EXISTS (
			SELECT FROM sandkeeper.task_states t WHERE t.live AND t.id = s.task) ORDER BY id`)
		if !slices.Equal(is, want) {
			t.Errorf("%d sandboxes are recalled, want %d: %.300q, want %.300q", len(is), len(want), is, want)
		}
	}
	const add = `INSERT INTO sandkeeper.sandboxes (provider, id, name, task, template, state, raw, gone_at, gone_by_us)
		SELECT 'daytona', '%s-' || i, '', '%s' || i %% %d, '', 'ended', '', %s, false FROM generate_series(1, %d) i`
	do(`INSERT INTO sandkeeper.task_states (id, status, state, sandbox, entry_sum, error_sum, error_changed, live,
			changed_at)
		SELECT i, '', 'running', '', 0, 0, false, i <= 1000, '2026-01-01' FROM generate_series(0, 3000) i`)
	do(fmt.Sprintf(add, "there", "", 1001, "NULL", 1000))
	do(fmt.Sprintf(add, "lately", "", 1001, "'"+ledgerNoon.Add(-time.Minute).Format(time.RFC3339)+"'", 100))
	for _, statistics := range []string{"SELECT", "ANALYZE sandkeeper.sandboxes, sandkeeper.task_states"} {
		do(statistics)
		check("")
	}
	do(fmt.Sprintf(add, "long", "", 3001, "'2026-01-01'", 9000))
	for _, statistics := range []string{"SELECT", "ANALYZE sandkeeper.sandboxes, sandkeeper.task_states"} {
		do(statistics)
		check("1001")
	}
}

func TestDatabaseClockIsCarriedForwardByTheLocalOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d drift
		if _, ok := d.now(); ok {
			t.Error("a clock that was never measured has a now")
		}
		before := time.Now()
		d.measured(before, before.Add(2*time.Second), ledgerNoon)
		time.Sleep(10 * time.Second)
		if got, _ := d.now(); !got.Equal(ledgerNoon.Add(9 * time.Second)) {
			t.Errorf("now = %s, want 9s after noon: it was noon halfway through the measurement", got)
		}
	})
}

func TestLedgerNowIsTheDatabases(t *testing.T) {
	pool := ledgerPool(t, pgtest.Database(t))
	g := NewLedger(pool, Options{Installation: "test"})
	now := func(read func(context.Context) (time.Time, error)) time.Time {
		at, err := read(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	database := func(ctx context.Context) (at time.Time, err error) {
		return at, pool.QueryRow(ctx, "SELECT clock_timestamp()").Scan(&at)
	}
	before := now(database)
	first := now(g.Now)
	after := now(database)
	// The measurement is wrong by at most half its round trip, which lies between the two.
	slack := after.Sub(before)
	if first.Before(before.Add(-slack)) || first.After(after.Add(slack)) {
		t.Errorf("ledger's now = %s, database's between %s and %s", first, before, after)
	}
	// An hour's difference between the two clocks shows whose is taken.
	g.drift.measured(time.Now(), time.Now(), before.Add(-time.Hour))
	if at := now(g.Now); !at.Before(before) {
		t.Errorf("now = %s, want an hour ago by the last measurement", at)
	}
	ago := time.Now().Add(-measuredFor)
	g.drift.measured(ago, ago, before.Add(-time.Hour))
	if m := recalled(t, g); m.Now.Before(before) {
		t.Errorf("now = %s after a recall, want it measured again", m.Now)
	}
}

// TestClockMeasuredAMomentAgo is not asked again: a pass asks some questions in a row.
func TestClockMeasuredAMomentAgo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var d drift
		for ago, want := range map[time.Duration]bool{0: true, measuredFor - 1: true, measuredFor: false} {
			d.measured(time.Now(), time.Now(), ledgerNoon)
			time.Sleep(ago)
			if now, fresh := d.fresh(); fresh != want || fresh && !now.Equal(micro(ledgerNoon.Add(ago))) {
				t.Errorf("%s after it was measured: fresh = %t, now = %s, want %t", ago, fresh, now, want)
			}
		}
		if _, fresh := (&drift{}).fresh(); fresh {
			t.Error("what was never measured is fresh")
		}
	})
}
