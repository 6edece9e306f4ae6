package ledger

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/pgtest"
)

// Passes that record, workers that claim, settle, probe and tell, and people who ask for the
// very same tasks, sandboxes and actions get into each other's way, but never into a
// deadlock, and nothing is settled twice.
func TestPassesAndWorkersSideBySide(t *testing.T) {
	url := pgtest.Database(t)
	g := migrated(t, ledgerPool(t, url), nil)
	lease, err := g.TakeLease(t.Context(), "one", time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	const remedies, rounds = 12, 6
	confirmed := make(chan string, 10_000)
	for round := range rounds {
		var all sync.WaitGroup
		record(t, g, lease, crowd(round, remedies))
		seen := recalled(t, g).Verdicts
		all.Go(func() { record(t, g, lease, regretful(crowded(round, remedies), seen)) })
		all.Go(func() { people(t, g, round, remedies) })
		all.Go(func() { tellAll(t, g) })
		for w := range 4 {
			worker := reconcile.WorkerLease(fmt.Sprint("w-", w))
			all.Go(func() {
				for i := range remedies {
					work(t, g, worker, fmt.Sprintf("%d-%d", round, (i+3*w)%remedies), confirmed)
				}
			})
		}
		all.Wait()
	}
	close(confirmed)
	seen := map[string]bool{}
	for id := range confirmed {
		if seen[id] {
			t.Errorf("%s was settled twice", id)
		}
		seen[id] = true
	}
	m, err := g.Measures(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range m.Counters {
		if c.Name == "gone_seconds_count" && c.Value != int64(len(seen)) {
			t.Errorf("%d sandboxes counted as gone, %d were", c.Value, len(seen))
		}
	}
	if len(seen) == 0 {
		t.Error("no worker got anything done")
	}
}

// An action that somebody is just claiming or settling is not withdrawn, nor waited for.
func TestWithdrawingPassesOverWhatIsLocked(t *testing.T) {
	pool := ledgerPool(t, pgtest.Database(t))
	g := migrated(t, pool, atNoon)
	lease, err := g.TakeLease(t.Context(), "one", time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	planOrphans(t, g, lease, 2)
	tx, err := pool.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }()
	if _, err := tx.Exec(t.Context(), "SELECT FROM sandkeeper.actions WHERE id = 'o-0' FOR UPDATE"); err != nil {
		t.Fatal(err)
	}
	record(t, g, lease, reconcile.Record{Withdrawn: []string{"o-0", "o-1"}}) // would hang for ever
	open, err := g.OpenActions(t.Context())
	if err != nil || len(open) != 1 || open[0].ID != "o-0" {
		t.Errorf("open actions = %v, error = %v, want the locked one", open, err)
	}
}

// A pass and a person who put actions into places that a worker is just freeing wait for the
// worker, and hold none of the totals that it then counts in.
func TestPlanningBesideAWorkerThatCounts(t *testing.T) {
	end := func(id, sandbox string) reconcile.Action {
		return reconcile.Action{ID: id, Remedy: id, Rule: "orphan", Subject: "sandbox:daytona/" + sandbox,
			Provider: "daytona", Sandbox: sandbox, Step: reconcile.StepTerminate, PlannedAt: ledgerNoon}
	}
	later := end("o-1-later", "o-2")
	later.Remedy, later.Seq = "o-1", 1
	for name, plan := range map[string]func(*testing.T, *Ledger, reconcile.Lease) error{
		"a pass": func(t *testing.T, g *Ledger, l reconcile.Lease) error {
			record(t, g, l, reconcile.Record{Withdrawn: []string{later.ID}, Actions: []reconcile.Action{end("o-0-again", "o-0")}})
			return nil
		},
		"a person": func(t *testing.T, g *Ledger, _ reconcile.Lease) error {
			wish := end("ask", "o-0")
			wish.Rule = reconcile.RuleOperator
			_, err := g.Ask(t.Context(), reconcile.Attribution{Author: "ana", Reason: "drill"}, []reconcile.Action{wish},
				[]string{later.ID})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			pool := ledgerPool(t, pgtest.Database(t))
			g := migrated(t, pool, atNoon)
			lease, err := g.TakeLease(t.Context(), "one", time.Minute)
			if err != nil {
				t.Fatal(err)
			}
			planOrphans(t, g, lease, 2)
			record(t, g, lease, reconcile.Record{Actions: []reconcile.Action{later}})
			worker, err := pool.Begin(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = worker.Rollback(context.WithoutCancel(t.Context())) }()
			must := func(sql string, args ...any) {
				t.Helper()
				if _, err := worker.Exec(t.Context(), sql, args...); err != nil {
					t.Fatal(err)
				}
			}
			must("UPDATE sandkeeper.actions SET outcome = 'withdrawn', closed_at = now() WHERE id = 'o-0'")
			planned := make(chan error, 1)
			go func() { planned <- plan(t, g, lease) }()
			awaitWaiter(t, pool, worker, planned)
			must(queries["count"], pgx.StrictNamedArgs{"names": []string{"actions"}, "rules": []string{"orphan"},
				"providers": []string{"daytona"}, "what": []string{"terminate:withdrawn"}, "values": []int64{1}})
			if err := worker.Commit(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := <-planned; err != nil {
				t.Fatal(err)
			}
			var counted int64
			err = pool.QueryRow(t.Context(), `SELECT value FROM sandkeeper.counters
				WHERE name = 'actions' AND what = 'terminate:withdrawn'`).Scan(&counted)
			if err != nil || counted != 2 {
				t.Errorf("%d withdrawn steps counted (%v), want the worker's and our own", counted, err)
			}
		})
	}
}

// awaitWaiter waits until somebody waits for this transaction, who is not done before.
func awaitWaiter(t *testing.T, pool *pgxpool.Pool, tx pgx.Tx, done <-chan error) {
	t.Helper()
	for waiting := false; !waiting; {
		select {
		case err := <-done:
			t.Fatalf("nobody waited: %v", err)
		case <-time.After(time.Millisecond):
		}
		err := pool.QueryRow(t.Context(), `SELECT count(*) > 0 FROM pg_stat_activity
			WHERE $1::integer = ANY(pg_blocking_pids(pid))`, int32(tx.Conn().PgConn().PID())).Scan(&waiting)
		if err != nil {
			t.Fatal(err)
		}
	}
}

// crowd is a record that plans remedies of three steps each.
func crowd(round, n int) reconcile.Record {
	var r reconcile.Record
	for i := range n {
		id := fmt.Sprintf("%d-%d", round, i)
		r.Tasks = append(r.Tasks, reconcile.TaskSeen{ID: id, State: reconcile.TaskRunning, Live: true})
		r.Verdicts = append(r.Verdicts, reconcile.Verdict{
			Rule: "orphan", Subject: "task:" + id, Task: id, Signature: "s", At: time.Now(),
		})
		for seq := range 3 {
			sb := fmt.Sprint(id, "-", seq)
			r.Sandboxes = append(r.Sandboxes, reconcile.SandboxSeen{Ref: reconcile.Ref{Provider: "daytona", ID: sb}, Task: id})
			r.Actions = append(r.Actions, reconcile.Action{
				ID: firstID(id, seq), Remedy: id, Seq: seq, Rule: "orphan", Subject: "task:" + id, Provider: "daytona",
				Sandbox: sb, Task: id, Step: reconcile.StepTerminate,
			})
		}
	}
	return r
}

func firstID(id string, seq int) string {
	if seq == 0 {
		return id
	}
	return fmt.Sprint(id, "-", seq)
}

// crowded is a record of the same things that withdraws them all and plans them anew.
func crowded(round, n int) reconcile.Record {
	r := crowd(round, n)
	for i := range r.Actions {
		r.Withdrawn = append(r.Withdrawn, r.Actions[i].ID)
		r.Actions[i].ID += "-again"
		r.Actions[i].Remedy += "-again"
	}
	for i := range r.Tasks {
		r.Tasks[i].State, r.Tasks[i].Live = reconcile.TaskFailed, false
	}
	return r
}

// regretful adds to a record that every second verdict was wrong and the others are over,
// that they are an incident, and what came of the rule.
func regretful(r reconcile.Record, seen []reconcile.Verdict) reconcile.Record {
	for i, v := range seen {
		if i%2 == 0 {
			r.FalsePositives = append(r.FalsePositives, reconcile.FalsePositive{Verdict: v.Number, At: time.Now(), What: "alive"})
			continue
		}
		r.Over = append(r.Over, v.Number)
	}
	r.Incidents = []reconcile.Incident{{ID: "i-1", Signature: "s", OpenedAt: time.Now()}}
	r.Demoted = []reconcile.Demotion{{Rule: "orphan", Reason: "wrong"}}
	r.Tallies = []reconcile.Counter{{Name: "resumes", Provider: "daytona", Value: 1}}
	return r
}

// people ask for what passes plan and workers do, and take back what they may.
func people(t *testing.T, g *Ledger, round, n int) {
	by := reconcile.Attribution{Author: "ana", Reason: "drill"}
	for i := range n {
		id := fmt.Sprintf("%d-%d", round, i)
		a := reconcile.Action{
			ID: "ask-" + id, Remedy: "ask-" + id, Rule: reconcile.RuleOperator, Subject: "task:" + id, Task: id,
			Provider: "daytona", Sandbox: firstID(id, 2), Step: reconcile.StepTerminate,
		}
		_, err := g.Ask(t.Context(), by, []reconcile.Action{a}, []string{firstID(id, 2), firstID(id, 1)})
		var refusal *pgconn.PgError
		if errors.As(err, &refusal) { // what is begun or over is refused by the ledger, not by the database
			t.Errorf("ask for %s: %v", id, err)
		}
	}
	for verb, err := range map[string]error{
		"set mode": g.SetMode(t.Context(), "orphan", reconcile.Off, by), "clear mode": g.ClearMode(t.Context(), "orphan", by),
	} {
		if err != nil && !errors.Is(err, reconcile.ErrNotFound) {
			t.Errorf("%s: %v", verb, err)
		}
	}
}

// tellAll delivers what there is to tell.
func tellAll(t *testing.T, g *Ledger) {
	for range 10 {
		taken, err := g.TakeNotices(t.Context(), 5)
		if err != nil {
			t.Error(err)
		}
		for _, n := range taken {
			if err := errors.Join(g.NoticeFailed(t.Context(), n.Action, "502"), g.NoticeTold(t.Context(), n.Action)); err != nil {
				t.Error(err)
			}
		}
	}
}

func record(t *testing.T, g *Ledger, lease reconcile.Lease, r reconcile.Record) {
	t.Helper()
	pass, err := g.BeginPass(t.Context(), lease, reconcile.Full, time.Now())
	if err != nil {
		t.Error(err)
		return
	}
	r.Pass, r.Complete = pass, true
	if err := g.Record(t.Context(), lease, r); err != nil {
		t.Error(err)
	}
}

// work claims and settles the steps of a remedy, in changing ways, and probes them.
func work(t *testing.T, g *Ledger, worker reconcile.Lease, remedy string, confirmed chan<- string) {
	for seq := range 3 {
		id := firstID(remedy, seq)
		a, err := g.Claim(t.Context(), worker, reconcile.Claim{Action: id, TTL: time.Minute, Total: 999, Shared: 999, Hour: 9999})
		if errors.Is(err, reconcile.ErrHeld) {
			continue
		}
		if err != nil {
			t.Error(err)
			continue
		}
		a.ActedAt, a.Outcome, a.Announce = time.Now(), reconcile.OutcomeConfirmed, true
		if seq == 1 && len(remedy)%2 == 0 {
			a.Outcome = reconcile.OutcomeFailed
		}
		if err := g.Settle(t.Context(), worker, a); err != nil {
			t.Error(err)
		} else if a.Outcome == reconcile.OutcomeConfirmed {
			confirmed <- id
		}
		probe := reconcile.ProbeResult{
			Ref: reconcile.Ref{Provider: a.Provider, ID: a.Sandbox}, Outcome: reconcile.Hung, At: time.Now(),
		}
		if err := g.SaveProbes(t.Context(), worker, []reconcile.ProbeResult{probe}); err != nil {
			t.Error(err)
		}
	}
}
