package ledger

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/pgtest"
	"github.com/sandkeeper/sandkeeper/store/protocol"
)

func TestReadersBeforeTheFirstMigrate(t *testing.T) {
	admin := ledgerPool(t, pgtest.Database(t))
	for name, pool := range map[string]*pgxpool.Pool{
		"as owner": admin, "as a role without any grant": pgtest.AsRole(t, admin, ""),
	} {
		t.Run(name, func(t *testing.T) {
			g := NewLedger(pool, Options{Installation: "test", Clock: atNoon})
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
	reader := NewLedger(pgtest.AsRole(t, admin, `GRANT USAGE ON SCHEMA sandkeeper TO %[1]s;
		GRANT SELECT ON ALL TABLES IN SCHEMA sandkeeper TO %[1]s`), Options{Installation: "test", Clock: atNoon})
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
	g := NewLedger(pool, Options{Installation: "test"})
	if err := g.Migrate(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	_, err = pool.Exec(tb.Context(), fmt.Sprintf(`
		ALTER TABLE sandkeeper.actions DISABLE TRIGGER USER; -- what is filled in is old
		ALTER TABLE sandkeeper.verdicts DISABLE TRIGGER USER;
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
			CASE WHEN i > 100 THEN 'confirmed' ELSE 'pending' END, now(), CASE WHEN i > 100 THEN now() - i * interval '10 minutes' END
		FROM generate_series(1, 10 * %[1]d) i;
		INSERT INTO sandkeeper.probes (provider, sandbox, outcome, detail, at, took_us)
		SELECT 'daytona', 'sb-' || i, 'answered', '', now() - i * interval '1 minute', 1000
		FROM generate_series(1, 10 * %[1]d) i;
		INSERT INTO sandkeeper.task_states (id, status, state, sandbox, entry_sum, error_sum, error_changed, live, changed_at)
		SELECT i, 'completed', 'completed', 'sb-' || i, 0, 0, false, false, now() - i * interval '1 minute'
		FROM generate_series(1, 10 * %[1]d) i;
		INSERT INTO sandkeeper.sandboxes (provider, id, name, task, template, state, raw, gone_at, gone_by_us)
		SELECT 'daytona', 'sb-' || i, 'box-' || i, i, '', 'ended', '', now() - i * interval '1 minute', true
		FROM generate_series(1, 10 * %[1]d) i;
		INSERT INTO sandkeeper.verdicts (rule, subject, task, provider, sandbox, template, region, worker, error, signature,
			reason, at, began, late_us, attempt, enforced, cost, per_hour, failed_at, over, regret_at)
		SELECT 'rule-' || i %% 10, 'task:' || i, i, 'daytona', 'sb-' || i, '', '', '', '', 's-' || i %% 100, 'dead',
			now() - (10 * %[1]d - i) * interval '10 minutes', now(), 0, i, true, 0, 0,
			now() - (10 * %[1]d - i) * interval '10 minutes', true, CASE WHEN i %% 50 = 0 THEN now() END
		FROM generate_series(1, 10 * %[1]d) i;
		INSERT INTO sandkeeper.armings (rule) SELECT 'rule-' || i FROM generate_series(0, 9) i;
		INSERT INTO sandkeeper.incidents (id, signature, rule, provider, template, error, cause, evidence, opened_at,
			first_seen, closed_at, count, cost)
		SELECT i, 's-' || i, 'rule-1', 'daytona', '', '', '', '[]', now() - i * interval '10 minutes',
			now() - i * interval '10 minutes', CASE WHEN i > 3 THEN now() - i * interval '9 minutes' END, 9, 1
		FROM generate_series(1, 10 * %[1]d) i;
		INSERT INTO sandkeeper.notices (action, task, provider, sandbox, rule, step, outcome, reason, at, next_at, closed_at)
		SELECT i, i, '', '', 'rule-1', 'fail', 'done', '', now(), now(), CASE WHEN i > 3 THEN now() END
		FROM generate_series(1, 10 * %[1]d) i;
		ALTER TABLE sandkeeper.actions ENABLE TRIGGER USER;
		ALTER TABLE sandkeeper.verdicts ENABLE TRIGGER USER`, n))
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
	readings := overviewPasses(&o, &passes, 50)
	readings = append(readings, newestPasses(&passes))
	readings = append(readings, overviewFindings(&o, 50)...)
	readings = append(readings, overviewActions(&o, 50)...)
	readings = append(readings, controlReadings(&o.Controls, o.Now, g.seals.Load())...)
	readings = append(readings, measureReadings(&reconcile.Measures{Now: o.Now}, &passes, &[]protocol.Group{})...)
	readings = append(readings, reading{query: "last_began", args: map[string]any{"quick": true}},
		reading{query: "last_recorded"})
	readings = append(readings, overviewVerdicts(&o, 50, g.seals.Load())...)
	readings = append(readings, scoreReadings(&protocol.Facts{}, o.Now)...)
	readings = append(readings, verdictReadings(&reconcile.Memory{Now: o.Now})...)
	readings = append(readings, reading{query: "notices_open"})
	noScans(t, g, readings)
}

// What follows one action, and what people ask of one thing, costs no more when the ledger
// has a long history.
func TestOneSubjectCostsItsOwnHistory(t *testing.T) {
	g := aged(t, 2000)
	var h reconcile.History
	sought := protocol.Subject("task:15000")
	err := g.inSnapshot(t.Context(), func(tx pgx.Tx) error { return readHistory(t.Context(), tx, sought, &h) })
	if err != nil || len(h.Tasks) != 1 || len(h.Sandboxes) != 1 || len(h.Findings) != 1 || len(h.Verdicts) != 1 ||
		len(h.Probes) != 1 {
		t.Fatalf("history = %+v, error = %v, want one of each", h, err)
	}
	now := time.Now()
	readings := append(historyReadings(sought, &h),
		reading{query: "history_sandboxes", args: pgx.StrictNamedArgs{
			"id": "15000", "provider": "", "sandbox": "", "most": mostOfHistory,
		}},
		reading{query: "history_tasks", args: pgx.StrictNamedArgs{
			"id": "15000", "tasks": []string{"15000"}, "most": mostOfHistory,
		}},
		reading{query: "settle_verdict", args: pgx.StrictNamedArgs{
			"subject": "task:15000", "rule": "rule-1", "row": true, "now": now,
		}},
		reading{query: "victims", args: pgx.StrictNamedArgs{
			"signature": "s-1", "first": now.Add(-time.Hour), "closed": stamp(time.Time{}),
		}},
		reading{query: "arm", args: pgx.StrictNamedArgs{"rule": "rule-1"}},
		reading{query: "ask_lock", args: pgx.StrictNamedArgs{"ids": []string{"15000"}}},
		reading{query: "end_verdicts", args: pgx.StrictNamedArgs{"numbers": []int64{15000}}},
		reading{query: "notices_take", args: pgx.StrictNamedArgs{
			"now": now, "most": 10, "shortest": protocol.ShortestPause, "longest": protocol.LongestPause,
		}})
	regrets := putFalsePositives([]reconcile.FalsePositive{{Verdict: 15000, At: now}})
	noScans(t, g, append(readings, reading{query: regrets.query, args: regrets.args}))
}

// noScans looks at the plan of each reading.
func noScans(t *testing.T, g *Ledger, readings []reading) {
	t.Helper()
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

// BenchmarkSubject reads one of a thousand tasks out of a million lines of history.
func BenchmarkSubject(b *testing.B) {
	g := aged(b, 10_000)
	for b.Loop() {
		h, err := g.Subject(b.Context(), "task:500")
		if err != nil || len(h.Timeline) != mostOfHistory || len(h.Findings) != 1 {
			b.Fatalf("%d lines, %d findings, error %v", len(h.Timeline), len(h.Findings), err)
		}
	}
}
