package store

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/ledger"
	"github.com/sandkeeper/sandkeeper/store/pgtest"
)

func TestReadersBeforeTheFirstMigrate(t *testing.T) {
	admin := ledgerPool(t, pgtest.Database(t))
	for name, pool := range map[string]*pgxpool.Pool{
		"as owner": admin, "as a role without any grant": asRole(t, admin, ""),
	} {
		t.Run(name, func(t *testing.T) {
			g := NewLedger(pool, LedgerOptions{Installation: "test", Clock: atNoon})
			o, err := g.Overview(t.Context(), 10)
			want := reconcile.Overview{Now: ledgerNoon, Fresh: true}
			if diff := cmp.Diff(want, o, cmpopts.EquateEmpty()); diff != "" || err != nil {
				t.Errorf("overview differs (-want +got), error %v:\n%s", err, diff)
			}
			m, err := g.Measures(t.Context())
			if err == nil || !strings.Contains(err.Error(), "run `sandkeeper migrate`") || !m.Now.IsZero() {
				t.Errorf("measures = %+v, error = %v, want none and one that asks for migrate", m, err)
			}
			_, _, began := g.LastBegan(t.Context(), reconcile.Quick)
			_, recorded := g.LastRecorded(t.Context())
			for verb, err := range map[string]error{"last began": began, "last recorded": recorded} {
				if err == nil || !strings.Contains(err.Error(), "run `sandkeeper migrate`") {
					t.Errorf("%s: error = %v, want one that asks for migrate", verb, err)
				}
			}
		})
	}
}

func TestReadersNeedNoMoreThanReading(t *testing.T) {
	admin := ledgerPool(t, pgtest.Database(t))
	owner := migrated(t, admin, atNoon)
	lease, err := owner.TakeLease(t.Context(), "one", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	planOrphans(t, owner, lease, 3)
	reader := NewLedger(asRole(t, admin, `GRANT USAGE ON SCHEMA sandkeeper TO %[1]s;
		GRANT SELECT ON ALL TABLES IN SCHEMA sandkeeper TO %[1]s`), LedgerOptions{Installation: "test", Clock: atNoon})
	both := func(g *Ledger) (reconcile.Overview, reconcile.Measures) {
		o, err := g.Overview(t.Context(), 2)
		if err != nil || o.Installation != "test" || o.OpenTotal != 3 || len(o.Open) != 2 {
			t.Errorf("overview of %q with %d of %d actions, error %v, want test, 2 of 3",
				o.Installation, len(o.Open), o.OpenTotal, err)
		}
		m, err := g.Measures(t.Context())
		if err != nil || len(m.Actions) != 1 {
			t.Errorf("%d counts of actions, error %v, want 1", len(m.Actions), err)
		}
		return o, m
	}
	o, m := both(owner)
	seen, measured := both(reader)
	if diff := cmp.Diff(o, seen) + cmp.Diff(m, measured); diff != "" {
		t.Errorf("what owner and reader see differs (-owner +reader):\n%s", diff)
	}
	if _, _, err := reader.LastBegan(t.Context(), reconcile.Full); err != nil {
		t.Errorf("a reader asks when the last pass began: %v", err)
	}
}

// aged is a ledger with n open findings, ten times as many that are over, and as much of
// all else as such a ledger would have.
func aged(tb testing.TB, n int) *Ledger {
	tb.Helper()
	pool, err := pgxpool.New(tb.Context(), pgtest.Database(tb))
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(pool.Close)
	g := NewLedger(pool, LedgerOptions{Installation: "test"})
	if err := g.Migrate(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	_, err = pool.Exec(tb.Context(), fmt.Sprintf(`
		INSERT INTO sandkeeper.findings (rule, subject, provider, sandbox, task, reason, evidence, opened_at, sightings,
			due, held_by, resolved_at)
		SELECT 'rule-' || i %% 10, 'task:' || i, 'daytona', 'sb-' || i, i, repeat('why ', 20),
			jsonb_build_array(jsonb_build_object('source', 'daytona', 'fact', repeat('fact ', 60))),
			now() - i * interval '1 second', 3, i %% 4 > 0,
			ARRAY['pause: all (drill ' || i %% 10 || ') by ana', 'listing-untrusted daytona'],
			CASE WHEN i > %[1]d THEN now() - i * interval '1 second' END
		FROM generate_series(1, 11 * %[1]d) i;
		INSERT INTO sandkeeper.timeline (at, subject, kind, what)
		SELECT now(), 'task:' || i %% 1000, 'state', 'running → completed' FROM generate_series(1, 100 * %[1]d) i;
		INSERT INTO sandkeeper.passes (kind, holder, epoch, began_at, ended_at, complete, counts)
		SELECT CASE WHEN i %% 8 = 0 THEN 'full' ELSE 'quick' END, 'one', 1, now() - interval '1 second',
			now(), i < 5 * %[1]d, '{"tasks:running": 1}'
		FROM generate_series(1, 10 * %[1]d) i;
		INSERT INTO sandkeeper.actions (id, remedy, seq, pass, rule, subject, provider, sandbox, task, step, reason,
			evidence, row_only, outcome, planned_at, closed_at)
		SELECT i, i, 0, 1, 'orphan', 'sandbox:daytona/' || i, 'daytona', i, '', 'terminate', '', '[]', false,
			CASE WHEN i > 100 THEN 'confirmed' ELSE 'pending' END, now(), CASE WHEN i > 100 THEN now() - i * interval '1 second' END
		FROM generate_series(1, 10 * %[1]d) i`, n))
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := pool.Exec(tb.Context(), "VACUUM ANALYZE"); err != nil {
		tb.Fatal(err)
	}
	return g
}

// The plan of every statement of a reader is looked at: a table that grows with history is
// only read by an index.
func TestReadersCostWhatIsOpenNotTheHistory(t *testing.T) {
	g := aged(t, 500)
	var o reconcile.Overview
	var passes []reconcile.PassSeen
	o.Now = time.Now()
	readings := overviewPasses(&o, 50)
	readings = append(readings, newestPasses(&passes))
	readings = append(readings, overviewFindings(&o, 50)...)
	readings = append(readings, overviewActions(&o, 50)...)
	readings = append(readings, controlReadings(&o.Controls, o.Now)...)
	readings = append(readings, measureReadings(&reconcile.Measures{Now: o.Now}, &passes, &[]ledger.Group{})...)
	readings = append(readings, reading{query: "ledger_last_began", args: map[string]any{"quick": true}},
		reading{query: "ledger_last_recorded"})
	grows := regexp.MustCompile(`Seq Scan on (findings|actions|timeline|passes|probes|task_states|sandboxes)\b`)
	for _, r := range readings {
		rows, err := g.pool.Query(t.Context(), "EXPLAIN "+queries[r.query], r.args)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := drain(rows, scanText)
		if err != nil {
			t.Fatal(r.query, err)
		}
		if text := strings.Join(plan, "\n"); grows.MatchString(text) {
			t.Errorf("%s reads a whole table:\n%s", r.query, text)
		}
	}
}

func BenchmarkMeasures(b *testing.B) {
	g := aged(b, 10_000)
	for b.Loop() {
		m, err := g.Measures(b.Context())
		if err != nil || len(m.Findings) != 10 || len(m.Held) != 20 {
			b.Fatalf("%d counts of findings, %d of held, error %v", len(m.Findings), len(m.Held), err)
		}
	}
}

func BenchmarkOverview(b *testing.B) {
	g := aged(b, 10_000)
	for b.Loop() {
		o, err := g.Overview(b.Context(), 50)
		if err != nil || len(o.Findings) != 50 || o.FindingsOpen["rule-1"] != 1000 {
			b.Fatalf("%d findings, %v, error %v", len(o.Findings), o.FindingsOpen, err)
		}
	}
}
