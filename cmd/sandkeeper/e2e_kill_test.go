package main

import (
	"bytes"
	"sync"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/store/pgtest"
)

func (a *arena) called(kind simulated.Kind) bool {
	for _, c := range a.cloud.Calls() {
		if c.Kind == kind {
			return true
		}
	}
	return false
}

// damaged is a world with one broken thing of each kind, due at the next pass.
func (a *arena) damaged() (ws []worker, stale string, orphan, stopped simulated.Sandbox) {
	a.Helper()
	ws = a.working(3)
	orphan = a.box(nobody, 10*time.Minute)
	a.once(0)
	stale = a.task(row{status: "assigned", key: "omoios-stale", created: time.Hour, updated: 4 * time.Minute})
	stopped = a.box(a.task(row{status: "cancelled", created: time.Hour, updated: time.Minute}), time.Hour)
	a.later(61*time.Second, ws...)
	a.cloud.ResetCalls()
	return ws, stale, orphan, stopped
}

// repaired demands that everything broken is repaired, once each.
func (a *arena) repaired(ws []worker, stale string, boxes ...simulated.Sandbox) {
	a.Helper()
	if status, why := a.state(stale); status != "failed" {
		a.Errorf("the stale task is %s: %s", status, why)
	}
	for _, b := range boxes {
		if !a.ended(b.ID) {
			a.Errorf("sandbox %s is still there", b.ID)
		}
	}
	var writes, open int
	err := a.db.QueryRow(a.Context(), `
		SELECT (SELECT count(*) FROM changes WHERE task = $1),
		       (SELECT count(*) FROM sandkeeper.actions WHERE closed_at IS NULL)`, stale).Scan(&writes, &open)
	if err != nil {
		a.Fatal(err)
	}
	if writes != 1 || open != 0 {
		a.Errorf("the stale row was written %d times, want 1; %d actions are open, want 0", writes, open)
	}
	a.keeps(ws)
}

// watchWrites counts every change of a row's status, by a trigger of the database.
func (a *arena) watchWrites() {
	a.Helper()
	a.sql(`CREATE TABLE changes (task text, became text);
		CREATE FUNCTION note() RETURNS trigger LANGUAGE plpgsql AS
			$$ BEGIN IF new.status <> old.status OR new.error_message IS DISTINCT FROM old.error_message THEN
				INSERT INTO changes VALUES (new.id, new.status); END IF; RETURN new; END $$;
		CREATE TRIGGER note AFTER UPDATE ON tasks FOR EACH ROW EXECUTE FUNCTION note()`)
}

// deletes are how often the provider was asked to end each sandbox.
func (a *arena) deletes() map[string]int {
	out := map[string]int{}
	for _, c := range a.cloud.Destructive() {
		out[c.ID]++
	}
	return out
}

// TestKilledAtOutsideCalls: SIGKILL while a call is under way. The next runs finish what
// was begun, and nothing takes effect twice.
func TestKilledAtOutsideCalls(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		fault simulated.Fault
		at    simulated.Kind
	}{
		"before a delete is done": {
			simulated.Fault{On: simulated.Delete, Effect: simulated.Hang, Count: 2},
			simulated.Delete,
		},
		"after a delete was done": {simulated.Fault{Effect: simulated.Hang, Match: afterDelete()}, simulated.Delete},
		"while it lists": {
			simulated.Fault{On: simulated.List, Effect: simulated.Hang, Count: 1},
			simulated.List,
		},
		"at the second look": {
			simulated.Fault{On: simulated.Get, Effect: simulated.Hang, Count: 3},
			simulated.Get,
		},
		"a delete done and unheard": {
			simulated.Fault{On: simulated.Delete, Effect: simulated.DoneThenDrop, Count: 2},
			simulated.Delete,
		},
		"a delete that lies with ok": {
			simulated.Fault{On: simulated.Delete, Effect: simulated.DoneThenAnswer, Status: 500},
			simulated.Delete,
		},
	}
	for name, tt := range cases {
		t.Run(name, func(t *testing.T) {
			a := newArena(t, settings{})
			ws, stale, orphan, stopped := a.damaged()
			a.watchWrites()
			lift := a.cloud.Inject(tt.fault)
			c := a.spawn("once", "--wait", patience)
			a.reaches("the call "+string(tt.at), func() bool { return a.called(tt.at) })
			c.kill()
			lift()
			a.until(ws)
			a.repaired(ws, stale, orphan, stopped)
			for id, n := range a.deletes() {
				if n > 2 || n > 1 && tt.fault.On != simulated.Delete {
					t.Errorf("sandbox %s was deleted %d times", id, n)
				}
			}
		})
	}
}

// afterDelete matches the gets that follow a delete of the same sandbox.
func afterDelete() func(simulated.Call) bool {
	deleted := map[string]bool{}
	return func(c simulated.Call) bool {
		if c.Kind == simulated.Delete {
			deleted[c.ID] = true
			return false
		}
		return deleted[c.ID]
	}
}

// until runs passes until nothing is left to do. What a killed process held ends with its
// lease.
func (a *arena) until(ws []worker) {
	a.Helper()
	for range 6 {
		a.later(20*time.Second, ws...)
		if r := a.once(0); len(r.Steps) == 0 {
			return
		}
	}
}

// TestKilledWhileItWritesARow: the row is locked by somebody else, the write waits, and the
// process dies. The row is written once, later.
func TestKilledWhileItWritesARow(t *testing.T) {
	a := newArena(t, settings{})
	ws, stale, orphan, stopped := a.damaged()
	a.watchWrites()
	tx, err := a.db.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tx.Exec(t.Context(), "SELECT FROM tasks WHERE id = $1 FOR UPDATE", stale); err != nil {
		t.Fatal(err)
	}
	c := a.spawn("once", "--wait", patience)
	a.reaches("a write that waits for the row", func() bool {
		var waiting bool
		err := a.db.QueryRow(t.Context(), `SELECT EXISTS (SELECT FROM pg_stat_activity
			WHERE wait_event_type = 'Lock' AND application_name = 'sandkeeper' AND datname = current_database())`).Scan(&waiting)
		return err == nil && waiting
	})
	c.kill()
	if err := tx.Rollback(t.Context()); err != nil {
		t.Fatal(err)
	}
	a.until(ws)
	a.repaired(ws, stale, orphan, stopped)
}

// TestKilledAgainAndAgain: SIGKILL at moments that differ from run to run.
func TestKilledAgainAndAgain(t *testing.T) {
	a := newArena(t, settings{})
	ws, stale, orphan, stopped := a.damaged()
	a.watchWrites()
	for i := range 8 {
		c := a.spawn("once", "--wait", patience)
		select {
		case <-c.done:
		case <-time.After(time.Duration(15+20*i) * time.Millisecond):
		}
		c.kill()
		a.later(16*time.Second, ws...) // the dead one's lease is over
	}
	a.until(ws)
	a.repaired(ws, stale, orphan, stopped)
	for id, n := range a.deletes() {
		if n > 1 {
			t.Errorf("sandbox %s was deleted %d times", id, n)
		}
	}
}

// TestTwoAtOnce: two processes at the same time do everything once.
func TestTwoAtOnce(t *testing.T) {
	a := newArena(t, settings{})
	ws, stale, orphan, stopped := a.damaged()
	a.watchWrites()
	var running []*child
	for range 3 {
		running = append(running, a.spawn("once", "--wait", "5m"))
	}
	for _, c := range running {
		<-c.done
		if code := c.cmd.ProcessState.ExitCode(); code != 0 {
			t.Errorf("exit code %d: %s", code, c.errs.String())
		}
	}
	a.repaired(ws, stale, orphan, stopped)
	for id, n := range a.deletes() {
		if n != 1 {
			t.Errorf("sandbox %s was deleted %d times", id, n)
		}
	}
}

// TestAnotherPassIsUnderWay: `once` says who holds the lease, and does nothing.
func TestAnotherPassIsUnderWay(t *testing.T) {
	a := newArena(t, settings{call: "10m"})
	a.working(3)
	a.once(0)
	lift := a.cloud.Inject(simulated.Fault{On: simulated.List, Effect: simulated.Hang})
	a.cloud.ResetCalls()
	c := a.spawn("once")
	a.reaches("the other one's listing", func() bool { return a.called(simulated.List) })
	code, _, errs := a.run("once", "--wait", "0s")
	if code != 1 || !bytes.Contains([]byte(errs), []byte("another pass is under way")) {
		t.Errorf("exit code %d: %s", code, errs)
	}
	lift()
	c.kill()
}

// TestDatabaseGoesAwayMidPass: nothing is lost; when it is back, the next runs go on.
func TestDatabaseGoesAwayMidPass(t *testing.T) {
	a := newArena(t, settings{})
	cluster, err := pgtest.Launch(t.Context(), pgtest.Options{Fsync: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cluster.Stop(); err != nil {
			t.Error(err)
		}
	})
	a.moveTo(cluster.DSN("postgres"))
	ws, stale, orphan, stopped := a.damaged()
	a.watchWrites()
	away := sync.OnceFunc(func() {
		if err := cluster.Kill(); err != nil {
			t.Error(err)
		}
	})
	lift := a.cloud.Inject(simulated.Fault{On: simulated.Delete, Match: func(simulated.Call) bool {
		away() // before the delete is answered
		return true
	}})
	if code, _, errs := a.run("once", "--wait", "10s", "--timeout", "2m"); code != 1 || errs == "" {
		t.Errorf("a pass that lost its database: exit code %d, %q", code, errs)
	}
	lift()
	if err := cluster.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	a.db.Reset()
	a.until(ws)
	a.repaired(ws, stale, orphan, stopped)
}
