package ledger

import (
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/pgtest"
)

// TestArmNeedsTheKey: who writes into the ledger without the operator key arms nothing, also not what was armed once
// and taken back; and proves nothing.
func TestArmNeedsTheKey(t *testing.T) {
	a := newAttacked(t)
	by := reconcile.Attribution{Author: "ana", Reason: "drill"}
	armed := func(want bool) {
		t.Helper()
		if _, is := a.controls().Arms["orphan"]; is != want {
			t.Errorf("armed: %t, want %t", is, want)
		}
	}
	a.must(a.plain.Arm(t.Context(), "orphan", by))
	armed(false)
	a.told("arming it unproven is not signed with the operator key")
	a.must(a.keyed.Arm(t.Context(), "orphan", by))
	armed(true)
	a.must(a.keyed.Disarm(t.Context(), "orphan", by))
	armed(false)
	a.exec(`INSERT INTO sandkeeper.arms (rule, armed, author, reason, at, seal)
		SELECT rule, armed, author, reason, at - interval '1 second', seal FROM sandkeeper.arms WHERE seal <> '' AND armed`)
	armed(false)
	proof := []reconcile.Proof{{Rule: "orphan", Class: "all", Sum: "s", MadeAt: ledgerNoon, Samples: 400, Line: "proven"}}
	a.must(a.plain.SaveProofs(t.Context(), reconcile.ProofObserved, proof))
	if n := len(a.controls().Proofs); n != 0 {
		t.Errorf("%d proofs that nobody with the key made", n)
	}
	a.must(a.keyed.SaveProofs(t.Context(), reconcile.ProofObserved, proof))
	if n := len(a.controls().Proofs); n != 1 {
		t.Errorf("%d proofs, want 1", n)
	}
	a.exec("UPDATE sandkeeper.proofs SET samples = samples + 1")
	if n := len(a.controls().Proofs); n != 0 {
		t.Errorf("%d proofs that somebody changed", n)
	}
}

// TestGraceOfAnOldLedger: rules that acted before there was a gate go on for two weeks, others and those of a new
// ledger do not.
func TestGraceOfAnOldLedger(t *testing.T) {
	pool := ledgerPool(t, pgtest.Database(t))
	g := NewLedger(pool, Options{Installation: "test"})
	if err := g.migrate(t.Context(), migrations[:15]); err != nil {
		t.Fatal(err)
	}
	_, err := pool.Exec(t.Context(), `INSERT INTO sandkeeper.actions (id, remedy, seq, pass, rule, subject, provider, sandbox, task, step,
			reason, evidence, row_only, planned_at, acted_at)
		SELECT rule, rule, 0, 1, rule, 'sandbox:a/' || rule, 'a', rule, '', 'terminate', '', '[]', false, now(),
			CASE WHEN rule <> 'errored' THEN now() END
		FROM unnest('{orphan,errored,operator}'::text[]) AS u (rule)`)
	if err == nil {
		_, err = pool.Exec(t.Context(), `INSERT INTO sandkeeper.verdicts (rule, subject, task, provider, sandbox, template, region,
				worker, error, signature, reason, at, late_us, attempt, enforced, cost, per_hour)
			SELECT rule, 'task:1', '1', '', '', '', '', '', '', '', '', now(), 0, 0, rule = 'inactive', 0, 0
			FROM unnest('{inactive,heartbeat-lost}'::text[]) AS u (rule)`)
	}
	if err != nil {
		t.Fatal(err)
	}
	grace := func(now time.Time) []string {
		t.Helper()
		g := NewLedger(pool, Options{Installation: "test", Clock: func() time.Time { return now }})
		c, err := g.Controls(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return reconcile.SortedKeys(c.Grace)
	}
	if err := g.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	const day = 24 * time.Hour
	if got := grace(time.Now().Add(14*day - time.Hour)); len(got) != 2 || got[0] != "inactive" || got[1] != "orphan" {
		t.Errorf("grace of %q, want it of inactive and orphan", got)
	}
	if got := grace(time.Now().Add(14*day + time.Hour)); len(got) != 0 {
		t.Errorf("grace of %q after two weeks", got)
	}
	fresh := ledgerPool(t, pgtest.Database(t))
	c, err := migrated(t, fresh, atNoon).Controls(t.Context())
	if err != nil || len(c.Grace) != 0 {
		t.Errorf("grace of %v in a new ledger, %v", c.Grace, err)
	}
}

// TestProvingAlone: one process reads the history, until it gives that up or is not heard of.
func TestProvingAlone(t *testing.T) {
	pool := ledgerPool(t, pgtest.Database(t))
	now := ledgerNoon
	migrated(t, pool, atNoon)
	g := NewLedger(pool, Options{Installation: "test", Clock: func() time.Time { return now }})
	takes := func(holder string, want bool) {
		t.Helper()
		if is, err := g.TakeProving(t.Context(), holder, time.Minute); err != nil || is != want {
			t.Errorf("%s takes it: %t, %v, want %t", holder, is, err, want)
		}
	}
	takes("a", true)
	takes("b", false)
	now = now.Add(59 * time.Second)
	takes("a", true)
	now = now.Add(59 * time.Second)
	takes("b", false)
	now = now.Add(time.Second)
	takes("b", true)
	takes("a", false)
	if err := g.DropProving(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	takes("a", false)
	if err := g.DropProving(t.Context(), "b"); err != nil {
		t.Fatal(err)
	}
	takes("a", true)
}

// TestObserved counts what a rule would have done since it is as it is now, once it was followed for two hours.
func TestObserved(t *testing.T) {
	pool := ledgerPool(t, pgtest.Database(t))
	now := ledgerNoon
	migrated(t, pool, atNoon)
	g := NewLedger(pool, Options{Installation: "test", Clock: func() time.Time { return now }})
	observed := func(sum string) reconcile.Observed {
		t.Helper()
		all, err := g.Observed(t.Context(), map[string]string{"orphan": sum})
		if err != nil || len(all) != 1 {
			t.Fatalf("observed %+v, %v", all, err)
		}
		return all[0]
	}
	want := func(name string, o reconcile.Observed, samples, wrong int) {
		t.Helper()
		if o.Samples != samples || o.FalsePositives != wrong {
			t.Errorf("%s: %+v, want %d of %d", name, o, wrong, samples)
		}
	}
	want("nothing", observed("a"), 0, 0)
	_, err := pool.Exec(t.Context(), `INSERT INTO sandkeeper.verdicts (rule, subject, task, provider, sandbox, template, region,
			worker, error, signature, reason, at, late_us, attempt, enforced, cost, per_hour, acted_at, over, regret_at)
		SELECT 'orphan', 'sandbox:a/' || s, '', 'a', s, '', '', '', '', '', '', $1::timestamptz + interval '1 minute', 0, 0, false, 0, 0,
			CASE WHEN s IN ('acted', 'acted wrongly') THEN $1::timestamptz END, s LIKE 'over%', CASE WHEN s LIKE '%wrong%' THEN $1::timestamptz END
		FROM unnest('{well,well,well 2,wrong,acted,acted wrongly,over,over wrong}'::text[]) AS u (s)`, now)
	if err != nil {
		t.Fatal(err)
	}
	now = ledgerNoon.Add(2*time.Hour + time.Minute - time.Second)
	want("not followed for long enough", observed("a"), 3, 3)
	now = ledgerNoon.Add(2*time.Hour + time.Minute)
	want("followed", observed("a"), 5, 3)
	now = ledgerNoon.Add(30*24*time.Hour + 2*time.Minute)
	want("a month ago", observed("a"), 0, 0)
	now = ledgerNoon.Add(3 * time.Hour)
	want("another rule by now", observed("b"), 0, 0)
	if o := observed("b"); !o.Since.Equal(now) {
		t.Errorf("since %s", o.Since)
	}
}
