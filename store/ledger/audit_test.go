package ledger

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/pgtest"
)

// noted is a ledger whose timeline has so many lines, each of a statement of its own but the last two.
func noted(t *testing.T, lines int) (*Ledger, *pgxpool.Pool) {
	t.Helper()
	pool := ledgerPool(t, pgtest.Database(t))
	g := migrated(t, pool, nil)
	for i := range lines - 2 {
		note(t, g, fmt.Sprint("line ", i+1, " of ä\x00|:"))
	}
	if _, err := pool.Exec(t.Context(), `INSERT INTO sandkeeper.timeline (at, subject, kind, what)
		SELECT now(), 'task:ü', 'seen', 'together' FROM generate_series(1, 2)`); err != nil {
		t.Fatal(err)
	}
	return g, pool
}

func note(t *testing.T, g *Ledger, what string) {
	t.Helper()
	if err := g.Note(t.Context(), ana, "task:t", what); err != nil {
		t.Fatal(err)
	}
}

func verified(t *testing.T, g *Ledger, head string) Audit {
	t.Helper()
	a, err := g.VerifyTimeline(t.Context(), head)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// TestTheRecordIsWhatWasWritten: what somebody changes, removes or slips in is found, and named, even by who
// owns the tables; a tail that is cut off is found by who kept the head.
func TestTheRecordIsWhatWasWritten(t *testing.T) {
	for name, tt := range map[string]struct{ attack, want string }{
		"nothing":         {"SELECT", ""},
		"another text":    {"UPDATE sandkeeper.timeline SET what = 'nothing happened' WHERE number IN (3, 4)", "line 3, of task:t"},
		"another subject": {"UPDATE sandkeeper.timeline SET subject = 'task:u' WHERE number = 3", "line 3, of task:u"},
		"another time":    {"UPDATE sandkeeper.timeline SET at = at - interval '1 microsecond' WHERE number = 5", "line 5, of task:ü"},
		"a removed line":  {"DELETE FROM sandkeeper.timeline WHERE number = 2", "line 2 is missing"},
		"all removed":     {"DELETE FROM sandkeeper.timeline", "line 1 is missing"},
		"lines and links": {"DELETE FROM sandkeeper.timeline WHERE number = 2; DELETE FROM sandkeeper.timeline_links WHERE id = 2", "link 3, of the lines [3], does not follow on link 1"},
		"the beginning":   {"DELETE FROM sandkeeper.timeline WHERE number = 1; DELETE FROM sandkeeper.timeline_links WHERE id = 1", "link 2, of the lines [2], does not follow on link 0"},
		"the end":         {"DELETE FROM sandkeeper.timeline WHERE number > 4; DELETE FROM sandkeeper.timeline_links WHERE id > 4", "does not go through"},
		"a line past it":  {"ALTER TABLE sandkeeper.timeline DISABLE TRIGGER USER; INSERT INTO sandkeeper.timeline (at, subject, kind, what) VALUES (now(), 'task:t', 'operator', 'forged')", "line 7, of task:t"},
		"a hash":          {"UPDATE sandkeeper.timeline_links SET hash = sha256('x') WHERE id = 3", "link 3"},
		"a sum with its line": {`UPDATE sandkeeper.timeline SET what = 'x' WHERE number = 2; UPDATE sandkeeper.timeline_links AS l
			SET sums = ARRAY[sandkeeper.timeline_sum(t.number, t.at, t.subject, t.kind, t.what)]
			FROM sandkeeper.timeline AS t WHERE t.number = 2 AND l.id = 2`, "link 2"},
		"an exchanged order": {"UPDATE sandkeeper.timeline AS t SET what = (SELECT what FROM sandkeeper.timeline WHERE number = 4 - t.number) WHERE number IN (1, 3)", "line 1, of task:t"},
	} {
		t.Run(name, func(t *testing.T) {
			g, pool := noted(t, 6)
			before := verified(t, g, "")
			if before.Broken != "" || before.Lines != 6 {
				t.Fatalf("before the attack: %+v", before)
			}
			if _, err := pool.Exec(t.Context(), tt.attack); err != nil {
				t.Fatal(err)
			}
			got := verified(t, g, before.Head)
			if got.Broken != tt.want && (tt.want == "" || !strings.Contains(got.Broken, tt.want)) {
				t.Errorf("broken = %q, want %q", got.Broken, tt.want)
			}
		})
	}
}

// TestTheRecordOfManyWriters: passes, workers and operators write side by side; the chain stays one.
func TestTheRecordOfManyWriters(t *testing.T) {
	g, pool := noted(t, 2)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 20 {
				if err := g.Note(t.Context(), ana, "task:t", fmt.Sprint(i)); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	if a := verified(t, g, ""); a.Broken != "" || a.Lines != 162 {
		t.Errorf("audit = %+v, want 162 lines that hang together", a)
	}
	if _, err := pool.Exec(t.Context(), "DELETE FROM sandkeeper.timeline_links WHERE id = 80"); err != nil {
		t.Fatal(err)
	}
	if a := verified(t, g, ""); a.Broken == "" {
		t.Error("a missing link is not found")
	}
}

// TestRetentionLeavesAWholeRecord: what is left hangs on what was deleted, and no purge deletes what is younger
// than the ledger keeps at least.
func TestRetentionLeavesAWholeRecord(t *testing.T) {
	pool := ledgerPool(t, pgtest.Database(t))
	g := migrated(t, pool, nil)
	exec := func(sql string) {
		t.Helper()
		if _, err := pool.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	old := verified(t, g, "").Head
	for _, age := range []string{"50 days", "40 days", "3 hours", "2 hours", "0"} {
		exec("INSERT INTO sandkeeper.timeline (at, subject, kind, what) SELECT now() - interval '" + age + "', 'task:t', 'seen', 'x' FROM generate_series(1, 3)")
	}
	exec("UPDATE sandkeeper.timeline_chain SET keeps = '1 day'")
	head := verified(t, g, "").Head
	for _, retention := range []time.Duration{45 * 24 * time.Hour, time.Minute, -time.Hour} {
		if _, err := g.Purge(t.Context(), time.Now().Add(-retention), 2); err != nil {
			t.Fatal(err)
		}
		a := verified(t, g, head)
		want := map[time.Duration]int{45 * 24 * time.Hour: 12, time.Minute: 9, -time.Hour: 9}[retention]
		if a.Broken != "" || a.Lines != want || a.Purged != int64(15-want) || a.PurgedAt.IsZero() || a.Head != head {
			t.Errorf("after a purge to %s: audit = %+v, want %d lines", retention, a, want)
		}
	}
	if _, err := g.VerifyTimeline(t.Context(), old); err == nil || !strings.Contains(err.Error(), "older than what retention") {
		t.Errorf("a head that was purged: error = %v", err)
	}
	exec("UPDATE sandkeeper.timeline_chain SET purged_hash = '', purged_link = 0")
	if a := verified(t, g, ""); !strings.Contains(a.Broken, "does not follow on link 0") {
		t.Errorf("after the anchor is gone: broken = %q", a.Broken)
	}
}

// TestLinesFromBeforeTheChain: an upgrade chains what comes; what was there is counted, and purged as ever.
func TestLinesFromBeforeTheChain(t *testing.T) {
	pool := ledgerPool(t, pgtest.Database(t))
	g := NewLedger(pool, Options{Installation: "test"})
	if err := g.migrate(t.Context(), migrations[:7]); err != nil {
		t.Fatal(err)
	}
	if _, err := pool.Exec(t.Context(), `INSERT INTO sandkeeper.timeline (at, subject, kind, what)
		SELECT now() - n * interval '10 days', 'task:t', 'seen', 'x' FROM generate_series(1, 4) AS n`); err != nil {
		t.Fatal(err)
	}
	if err := g.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	note(t, g, "the first of the chain")
	if a := verified(t, g, ""); a.Broken != "" || a.Lines != 1 || a.Older != 4 {
		t.Errorf("audit = %+v, want one line and four older ones", a)
	}
	if n, err := g.Purge(t.Context(), time.Now().Add(-25*24*time.Hour), 1000); err != nil || n != 2 {
		t.Errorf("%d lines purged, %v, want 2", n, err)
	}
	if a := verified(t, g, ""); a.Broken != "" || a.Lines != 1 || a.Older != 2 {
		t.Errorf("audit = %+v, want one line and two older ones", a)
	}
}

// TestSettledStaysSettled: what became of an action is not changed, and nothing that is open or young is
// deleted, by whoever writes rows.
func TestSettledStaysSettled(t *testing.T) {
	a := newAttacked(t)
	for _, id := range []string{"old", "young", "open"} {
		end := reconcile.AskTerminate(reconcile.RuleOperator, reconcile.Ref{Provider: "daytona", ID: id}, "", reconcile.AskOptions{})
		end.ID, end.Remedy = id, id
		_, err := a.keyed.Ask(t.Context(), ana, []reconcile.Action{end}, nil)
		a.must(err)
	}
	_, err := a.plain.Hold(t.Context(), reconcile.Hold{Target: "task:t", Author: "ana", Reason: "drill"})
	a.must(err)
	a.exec("UPDATE sandkeeper.actions SET outcome = 'confirmed', closed_at = now() - interval '2 days' WHERE id = 'old'")
	a.exec("UPDATE sandkeeper.actions SET outcome = 'confirmed', closed_at = now() - interval '2 hours' WHERE id = 'young'")
	a.exec("UPDATE sandkeeper.timeline_chain SET keeps = '1 day'")
	for _, try := range []struct{ sql, refused string }{
		{"UPDATE sandkeeper.actions SET outcome = 'pending', closed_at = NULL WHERE id = 'old'", "was settled"},
		{"UPDATE sandkeeper.actions SET detail = 'x' WHERE id = 'young'", "was settled"},
		{"DELETE FROM sandkeeper.actions WHERE id = 'young'", "stays on record"},
		{"DELETE FROM sandkeeper.actions WHERE id = 'open'", "stays on record"},
		{"DELETE FROM sandkeeper.holds", "stays on record"},
		{"UPDATE sandkeeper.actions SET detail = 'x' WHERE id = 'open'", ""},
		{"DELETE FROM sandkeeper.actions WHERE id = 'old'", ""},
	} {
		_, err := a.pool.Exec(t.Context(), try.sql)
		if try.refused == "" && err != nil || try.refused != "" && (err == nil || !strings.Contains(err.Error(), try.refused)) {
			t.Errorf("%s: error = %v, want %q", try.sql, err, try.refused)
		}
	}
}
