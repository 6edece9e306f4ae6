package main

import (
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/store/pgtest"
)

// TestStopInTheSecondStep: SIGTERM comes while the row is failed and the sandbox's delete is
// under way. It is finished and written down, nothing more is begun, and the lease is free.
func TestStopInTheSecondStep(t *testing.T) {
	a := newArena(t, settings{limits: "{per_pass: 1, share: 100%, breaker: 100%}", more: quickly})
	ws := a.working(3)
	a.beat(ws)
	a.watchWrites()
	var boxes []simulated.Sandbox
	for _, key := range []string{"omoios-one", "omoios-two"} {
		task := a.task(row{status: "assigned", key: key, created: time.Hour, updated: 4 * time.Minute})
		boxes = append(boxes, a.box(task, time.Hour))
	}
	a.cloud.Inject(simulated.Fault{On: simulated.Delete, Delay: 2 * time.Second})
	d := a.daemon("run", "--migrate")
	a.reaches("a delete", func() bool { return a.called(simulated.Delete) })
	d.signal(t, syscall.SIGTERM)
	a.reaches("it has heard that", func() bool { status, _ := d.get("/healthz"); return status == 0 })
	told := time.Now()
	d.stop()
	ended := a.count("SELECT count(*) FROM sandkeeper.actions WHERE step = 'terminate' AND outcome IN ('accepted', 'confirmed')")
	begun := a.count("SELECT count(*) FROM sandkeeper.actions WHERE begun_at > $1", told)
	closed := a.count("SELECT count(*) FROM sandkeeper.actions WHERE step = 'fail' AND outcome = 'done'")
	if ended != closed || ended == 0 || begun != 0 {
		t.Errorf("%d rows failed, %d sandboxes told to end, %d remedies begun after SIGTERM; want as many, and 0",
			closed, ended, begun)
	}
	if n := a.count("SELECT count(*) FROM sandkeeper.leases WHERE expires_at > now() AND holder <> ''"); n != 0 {
		t.Error("the pass lease is still held")
	}
	if n := a.count("SELECT count(*) FROM sandkeeper.river_job WHERE state IN ('running', 'retryable')"); n != 0 {
		t.Errorf("%d jobs are left as if somebody worked at them", n)
	}
	a.cloud.Fix()
	next := a.daemon("run")
	began := time.Now()
	a.reaches("the other one is repaired too", func() bool { return a.ended(boxes[0].ID) && a.ended(boxes[1].ID) })
	t.Logf("the next process goes on after %s", time.Since(began).Round(10*time.Millisecond))
	a.reaches("nothing is open", func() bool {
		return a.count("SELECT count(*) FROM sandkeeper.actions WHERE closed_at IS NULL") == 0
	})
	next.stop()
	for id, n := range a.deletes() {
		if n != 1 {
			t.Errorf("sandbox %s was deleted %d times", id, n)
		}
	}
	if n := a.count("SELECT count(*) FROM changes"); n != 2 {
		t.Errorf("the two rows were written %d times", n)
	}
	a.keeps(ws)
}

// TestStopInAPass: SIGTERM in the middle of a listing that hangs ends the process at once;
// the lease is dropped, so that another one need not wait for its end.
func TestStopInAPass(t *testing.T) {
	a := newArena(t, settings{call: "30s", more: quickly})
	ws := a.working(3)
	a.beat(ws)
	a.must("migrate")
	lift := a.cloud.Inject(simulated.Fault{On: simulated.List, Effect: simulated.Hang})
	d := a.daemon("run")
	a.reaches("a listing", func() bool { return a.called(simulated.List) })
	d.stop()
	lift()
	a.once(0, "--wait", "0s") // refused while somebody holds the lease
	a.keeps(ws)
}

// TestDatabaseGoesAwayForAWhile: the daemon goes on by itself when it is back, and says
// what happened without filling the log.
func TestDatabaseGoesAwayForAWhile(t *testing.T) {
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
	a.configure(settings{dsn: cluster.DSN("postgres"), more: quickly})
	ws := a.working(3)
	a.beat(ws)
	d := a.daemon("run", "--migrate")
	a.reaches("a pass", func() bool { return a.passes("full") > 0 })
	before := len(d.lines())
	if err := cluster.Kill(); err != nil {
		t.Fatal(err)
	}
	// Not the bare 503: a reading of before the first pass says that, too, and is shown for a second.
	a.reaches("the page says so", func() bool {
		status, checks := d.get("/readyz")
		return status == 503 && strings.Contains(checks, "database answers: not ready")
	})
	if status, page := d.get("/"); status != 503 || !strings.Contains(page, "ledger") {
		t.Errorf("the page answers %d without the ledger", status)
	}
	if status, _ := d.get("/healthz"); status != 200 {
		t.Errorf("/healthz answers %d: it is alive", status)
	}
	if got := d.metrics()[`sandkeeper_ledger_up{installation="test"}`]; got != "0" {
		t.Errorf("sandkeeper_ledger_up is %q, want 0", got)
	}
	a.pass(10 * time.Second)
	storm := 0
	for _, l := range d.lines()[before:] {
		if l.text("level") == "WARN" || l.text("level") == "ERROR" {
			storm++
		}
	}
	t.Logf("%d lines of trouble in the log", storm)
	if storm == 0 || storm > 30 {
		t.Errorf("%d lines in the log in ten seconds without a database, want a few:\n%s", storm, tail(d.errs.String(), 5000))
	}
	if err := cluster.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	a.db.Reset()
	stopped := a.stopped(time.Minute)
	a.reaches("a new stop is acted on", func() bool { return a.ended(stopped.ID) })
	a.reaches("the page is well", func() bool { status, _ := d.get("/readyz"); return status == 200 })
	d.stop()
	a.keeps(ws)
}

// TestRunMigrates: `run` says what it needs, `run --migrate` does it, and two may at once.
func TestRunMigrates(t *testing.T) {
	a := newArena(t, settings{more: quickly})
	code, _, errs := a.run("run")
	if code != 1 || !strings.Contains(errs, "sandkeeper migrate") || !strings.Contains(errs, "--migrate") {
		t.Errorf("on a ledger without a schema: exit code %d, %s", code, errs)
	}
	both := []*daemonChild{{a.spawn("run", "--migrate"), a}, {a.spawn("run", "--migrate"), a}}
	for _, d := range both {
		d.says("page")
	}
	a.reaches("a pass", func() bool { return a.passes("full") > 0 })
	for _, d := range both {
		d.stop()
	}
	a.daemon("run").stop()
}
