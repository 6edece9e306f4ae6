package ledger

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/pgtest"
)

// TestRowsThatStay: what a query may not touch stays as it is, also where the code around it
// would not have asked: another process may have changed the row a moment ago.
func TestRowsThatStay(t *testing.T) {
	pool := ledgerPool(t, pgtest.Database(t))
	g := migrated(t, pool, time.Now)
	lease := lockWorld(t, g, pool)
	now := time.Now()
	old := now.Add(-time.Hour)
	later := pgx.StrictNamedArgs{"remedy": "a-1", "seq": 0, "detail": "lost", "now": now, "one_sandbox": false,
		"provider": "lab", "sandbox": "sb-1"}
	release := pgx.StrictNamedArgs{"id": "i-1", "now": now, "author": "ana", "reason": "drill", "seal": ""}
	purge := pgx.StrictNamedArgs{"before": now, "batch": 9}
	same := pgx.StrictNamedArgs{"holder": lease.Holder, "epoch": lease.Epoch}
	const incident = `INSERT INTO sandkeeper.incidents (id, signature, rule, provider, template, error, cause, evidence,
		opened_at, first_seen, last_seen, count, cost, closed_at, released_at)
		VALUES ('i-1', 's', 'orphan', '', '', '', '', '[]', now(), now(), now(), 1, 0, `
	const second = `INSERT INTO sandkeeper.actions (id, remedy, seq, pass, rule, subject, provider, sandbox, task, step,
		reason, evidence, row_only, planned_at, outcome, closed_at)
		SELECT 'a-2', remedy, 1, pass, rule, subject, provider, 'sb-2', task, step, reason, evidence, row_only, planned_at, `
	for name, c := range map[string]struct {
		world []string
		query string
		args  any
		want  int64 // rows that are touched
	}{
		"a later step that is open ends with its remedy": {
			[]string{second + "'pending', NULL FROM sandkeeper.actions WHERE id = 'a-1'"}, "settle_later", later, 1},
		"one that is over stays what it was": {
			[]string{second + "'confirmed', now() FROM sandkeeper.actions WHERE id = 'a-1'"}, "settle_later", later, 0},
		"an open incident is released":    {[]string{incident + "NULL, NULL)"}, "release_incident", release, 1},
		"one that is over is not":         {[]string{incident + "now(), NULL)"}, "release_incident", release, 0},
		"one that was released is not":    {[]string{incident + "NULL, now())"}, "release_incident", release, 0},
		"who holds the lease may settle":  {nil, "fence_same", same, 1},
		"who gave it up may not":          {[]string{"UPDATE sandkeeper.leases SET holder = ''"}, "fence_same", same, 0},
		"nor one whom another came after": {[]string{"UPDATE sandkeeper.leases SET epoch = epoch + 1"}, "fence_same", same, 0},
		"a sandbox that is gone is forgotten": {
			[]string{gone, "DELETE FROM sandkeeper.actions"}, "purge_sandboxes", purge, 1},
		"not while an action is open on it": {[]string{gone}, "purge_sandboxes", purge, 0},
		"a task that is over is forgotten":  {[]string{overTask(old, ""), unlinked}, "purge_tasks", purge, 1},
		"not while an action is open on it, either": {
			[]string{overTask(old, ""), unlinked, "UPDATE sandkeeper.actions SET task = 't1'"}, "purge_tasks", purge, 0},
	} {
		t.Run(name, func(t *testing.T) {
			tx := begun(t, pool)
			for _, sql := range c.world {
				if err := run(t, tx, sql, nil); err != nil {
					t.Fatal(err)
				}
			}
			done, err := tx.Exec(t.Context(), queries[c.query], c.args)
			if err != nil || done.RowsAffected() != c.want {
				t.Errorf("%s touched %d rows (%v), want %d", c.query, done.RowsAffected(), err, c.want)
			}
		})
	}
}

const (
	gone     = "UPDATE sandkeeper.sandboxes SET gone_at = now() - interval '1 hour'"
	unlinked = "UPDATE sandkeeper.sandboxes SET task = ''"
)

// overTask makes a task that is over since a time.
func overTask(at time.Time, more string) string {
	return "INSERT INTO sandkeeper.task_states (id, status, state, sandbox, since, first_seen, entry_sum, error_sum, error_changed, " +
		"live, changed_at) VALUES ('t1', 'failed', 'failed', '', now(), now(), 0, 0, false, false, '" + at.UTC().Format(time.RFC3339) + "')" + more
}

// TestLaterStepsNeedTheirFirst: a record that comes late cannot plan what follows a step that
// was given up meanwhile.
func TestLaterStepsNeedTheirFirst(t *testing.T) {
	g := migrated(t, ledgerPool(t, pgtest.Database(t)), time.Now)
	lease := lockWorld(t, g, g.pool)
	if _, err := g.pool.Exec(t.Context(), "ALTER TABLE sandkeeper.actions DISABLE TRIGGER actions_stay"); err != nil {
		t.Fatal(err)
	}
	for outcome, want := range map[string]int{"pending": 2, "withdrawn": 0, "failed": 0} {
		if _, err := g.pool.Exec(t.Context(), `UPDATE sandkeeper.actions SET outcome = $1,
			closed_at = CASE WHEN $1 <> 'pending' THEN now() END WHERE id = 'a-1'`, outcome); err != nil {
			t.Fatal(err)
		}
		pass, err := g.BeginPass(t.Context(), lease, reconcile.Full, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		err = g.Record(t.Context(), lease, reconcile.Record{Pass: pass, Kind: reconcile.Full, Complete: true,
			Actions: []reconcile.Action{{ID: "a-2-" + outcome, Remedy: "a-1", Seq: 1, Pass: pass, Rule: "orphan", Subject: "sandbox:lab/sb-1",
				Provider: "lab", Sandbox: "sb-" + outcome, Step: reconcile.StepTerminate, PlannedAt: time.Now()}}})
		if err != nil {
			t.Fatal(err)
		}
		open, err := g.OpenActions(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		planned := 0
		for _, a := range open {
			if a.Sandbox == "sb-"+outcome || a.ID == "a-1" {
				planned++
			}
		}
		if planned != want {
			t.Errorf("behind a first step that is %s, %d steps are open, want %d: %+v", outcome, planned, want, open)
		}
	}
}
