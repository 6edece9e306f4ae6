package main

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// refuses is a call that has to be refused with these words.
func (a *arena) refuses(words string, args ...string) {
	a.Helper()
	code, out, errs := a.run(args...)
	if code == 0 || !strings.Contains(errs, words) {
		a.Errorf("sandkeeper %s: exit code %d, want it refused with %q\n%s%s", strings.Join(args, " "), code, words, out, errs)
	}
}

// TestTerminateOne: a person may end one sandbox whatever the rules may do, but for what is
// not ours, held, or in use.
func TestTerminateOne(t *testing.T) {
	a := newArena(t, settings{mode: "observe"})
	ws := a.working(4)
	a.beat(ws)
	young := a.box(nobody, time.Second)
	held := a.box(nobody, time.Second)
	foreign := a.cloud.Put(simulated.Sandbox{CreatedAt: time.Now().Add(-time.Hour)})
	a.once(0)
	a.must("hold", "sandbox:"+held.ID, "--reason", "the customer looks at it")
	a.refuses("--reason is required", "terminate", young.ID)
	a.refuses("not proven ours", "terminate", foreign.ID, "--reason", "x")
	a.refuses("not proven ours", "terminate", "daytona/"+foreign.ID, "--reason", "x")
	a.refuses("the customer looks at it", "terminate", held.ID, "--reason", "x")
	a.refuses("--include-running", "terminate", ws[0].task, "--reason", "x")
	a.refuses("no task and no sandbox", "terminate", "nothing-like-it", "--reason", "x")
	if n := a.count("SELECT count(*) FROM sandkeeper.actions"); n != 0 {
		t.Fatalf("%d actions were recorded by what was refused", n)
	}
	out := a.must("terminate", young.ID, "--reason", "ticket 4711", "--author", "ana")
	if !strings.Contains(out, "recorded: the end of 1 sandbox") || !strings.Contains(out, "sandkeeper once") {
		t.Errorf("terminate says: %s", out)
	}
	a.refuses("its end is recorded already", "terminate", young.ID, "--reason", "again")
	a.must("terminate", ws[0].task, "--include-running", "--reason", "mines coins")
	a.once(0)
	for _, id := range []string{young.ID, ws[0].sandbox} {
		if !a.ended(id) {
			t.Errorf("sandbox %s lives on", id)
		}
	}
	if a.ended(held.ID) || a.ended(foreign.ID) {
		t.Error("what was refused was ended")
	}
	a.keeps(ws[1:])
	if status, _ := a.state(ws[0].task); status != "running" {
		t.Errorf("the task's row is %s: a terminate writes no row", status)
	}
	if text := a.must("explain", young.ID); !strings.Contains(text, "ticket 4711") || !strings.Contains(text, "ana") {
		t.Errorf("explain does not tell who asked and why:\n%s", text)
	}
}

// TestEmergency: all that is ours goes after a typed confirmation of the very list; what is
// held, running or not ours stays.
func TestEmergency(t *testing.T) {
	a := newArena(t, settings{mode: "observe", limits: "{per_pass: 1, share: 1%, breaker: 1%}"})
	ws := a.working(4)
	a.beat(ws)
	var idle []simulated.Sandbox
	for range 5 {
		idle = append(idle, a.box(nobody, time.Second))
	}
	held := idle[4]
	foreign := a.cloud.Put(simulated.Sandbox{CreatedAt: time.Now().Add(-time.Hour)})
	a.once(0)
	a.must("hold", "sandbox:"+held.ID, "--reason", "evidence")
	code, out, errs := a.run("emergency", "--reason", "account stolen")
	phrase := regexp.MustCompile(`--confirm "(terminate 4 sandboxes of test [0-9a-z]+)"`).FindStringSubmatch(errs)
	if code != 1 || phrase == nil || !strings.Contains(out, "evidence") || !strings.Contains(out, "--include-running") {
		t.Fatalf("the preview: exit code %d\n%s%s", code, out, errs)
	}
	a.refuses("--reason is required", "emergency", "--confirm", phrase[1])
	another := a.box(nobody, time.Second)
	a.refuses("the list is not the one", "emergency", "--reason", "account stolen", "--confirm", phrase[1])
	if n := a.count("SELECT count(*) FROM sandkeeper.actions"); n != 0 || len(a.deletes()) != 0 {
		t.Fatalf("%d actions were recorded without a confirmation", n)
	}
	if _, err := a.cloud.Destroy(another.ID); err != nil {
		t.Fatal(err)
	}
	said := a.must("emergency", "--reason", "account stolen", "--confirm", phrase[1])
	if !strings.Contains(said, "recorded: the end of 4 sandboxes") {
		t.Errorf("emergency says: %s", said)
	}
	a.once(0)
	for _, b := range idle[:4] {
		if !a.ended(b.ID) {
			t.Errorf("sandbox %s lives on", b.ID)
		}
	}
	if a.ended(held.ID) || a.ended(foreign.ID) {
		t.Error("what is held or not ours was ended")
	}
	a.keeps(ws)
}

// TestEmergencyOnAFrozenSource: what rests on a listing that failed needs --anyway.
func TestEmergencyOnAFrozenSource(t *testing.T) {
	a := newArena(t, settings{mode: "observe"})
	a.beat(a.working(4))
	b := a.box(nobody, time.Second)
	a.once(0)
	a.cloud.Inject(simulated.Fault{On: simulated.List, Effect: simulated.Answer, Status: 500})
	young := a.box(nobody, time.Second) // which no pass has seen
	for _, id := range []string{young.ID, "nothing-like-it"} {
		a.refuses("nobody can say what it is: listing:daytona is not trusted", "terminate", id, "--reason", "x", "--anyway")
	}
	if code, out, _ := a.run("emergency", "--reason", "x"); code != 0 || !strings.Contains(out, "nothing to end") {
		t.Errorf("exit code %d on a frozen source\n%s", code, out)
	}
	_, _, errs := a.run("emergency", "--reason", "x", "--anyway")
	phrase := regexp.MustCompile(`--confirm "(terminate 1 sandbox of test [0-9a-z]+)"`).FindStringSubmatch(errs)
	if phrase == nil {
		t.Fatalf("with --anyway: %s", errs)
	}
	a.must("emergency", "--reason", "x", "--anyway", "--confirm", phrase[1])
	a.once(1) // the listing still fails
	if !a.ended(b.ID) {
		t.Error("the sandbox lives on")
	}
}

// TestAskedUnderAHoldThatExpires: what was asked for is done when the hold is over, in a
// daemon too.
func TestAskedUnderAHoldThatExpires(t *testing.T) {
	a := newArena(t, settings{mode: "observe", more: quickly})
	ws := a.working(4)
	a.beat(ws)
	b := a.box(nobody, time.Second)
	d := a.daemon("run", "--migrate")
	a.reaches("a full pass", func() bool { return a.passes("full") > 0 })
	out := a.must("terminate", b.ID, "--reason", "x")
	if !strings.Contains(out, "a running daemon carries it out now") {
		t.Errorf("terminate beside a daemon says: %s", out)
	}
	a.reaches("it is ended", func() bool { return a.ended(b.ID) })

	late := a.box(nobody, time.Second)
	a.reaches("the ledger knows it", func() bool {
		return a.count("SELECT count(*) FROM sandkeeper.sandboxes WHERE id = $1", late.ID) == 1
	})
	a.must("pause", "all", "--for", "1h", "--reason", "drill") // however long the next two calls take
	a.must("terminate", late.ID, "--reason", "x")
	a.must("hold", late.ID, "--for", "5s", "--reason", "drill")
	a.must("resume", "all")
	a.reaches("it is ended after the hold", func() bool { return a.ended(late.ID) })
	a.reaches("its end is recorded", func() bool {
		return a.count("SELECT count(*) FROM sandkeeper.actions WHERE sandbox = $1 AND acted_at IS NOT NULL", late.ID) == 1
	})
	if a.count(`SELECT count(*) FROM sandkeeper.holds h, sandkeeper.actions a
		WHERE a.sandbox = $1 AND a.acted_at < h.until`, late.ID) != 0 {
		t.Error("it was ended under a hold")
	}
	d.stop()
	a.keeps(ws)
}

// TestPassNow: a person gets a pass without waiting for the schedule.
func TestPassNow(t *testing.T) {
	a := newArena(t, settings{more: strings.NewReplacer("@every 1s", "@every 1h", "@every 2s", "@every 1h").Replace(quickly)})
	a.must("migrate")
	if out := a.must("pass", "--reason", "drill"); !strings.Contains(out, "no daemon runs") {
		t.Errorf("pass without a daemon says: %s", out)
	}
	d := a.daemon("run")
	a.reaches("the first pass", func() bool { return a.passes("full") > 0 })
	before := a.passes("full")
	a.reaches("somebody leads", func() bool {
		return a.count("SELECT count(*) FROM sandkeeper.river_leader WHERE expires_at > now()") == 1
	})
	if out := a.must("pass", "--reason", "drill", "--author", "ana"); !strings.Contains(out, "makes a full pass now") {
		t.Errorf("pass says: %s", out)
	}
	a.reaches("another full pass", func() bool { return a.passes("full") > before })
	if n := a.count("SELECT count(*) FROM sandkeeper.timeline WHERE kind = 'operator' AND what LIKE '%ana%'"); n != 1 {
		t.Errorf("%d lines tell who asked for it, want 1", n)
	}
	a.refuses("known are quick, full", "pass", "slow")
	d.stop()
}

// quarantined is an arena with a task that was failed because its sandbox is broken, which
// was stopped and is kept.
func quarantined(t *testing.T) (a *arena, ill worker, well []worker) {
	a = newArena(t, settings{rules: "{idle-broken: {after: 30s, failures: 2, remedy: quarantine}}"})
	ws := a.working(4)
	a.cloud.Change(ws[0].sandbox, func(s *simulated.Sandbox) { s.Exec = simulated.Dead })
	for range 2 {
		a.once(0)
		a.later(31*time.Second, ws...)
	}
	a.once(0)
	b, _ := a.cloud.Sandbox(ws[0].sandbox)
	if status, why := a.state(ws[0].task); status != "failed" || b.State != reconcile.SandboxStopped || a.ended(b.ID) {
		t.Fatalf("the task is %s (%s), its sandbox %s; want it failed and the sandbox stopped", status, why, b.State)
	}
	a.cloud.Change(b.ID, func(s *simulated.Sandbox) { s.Exec = simulated.Healthy })
	return a, ws[0], ws[1:]
}

// busy lets workers be active now.
func (a *arena) busy(ws []worker) {
	for _, w := range ws {
		a.event(w.key, "agent.tool_use", time.Second)
	}
}

// TestRestoreVerb: a quarantine is taken back whole, and the hold keeps the rule away.
func TestRestoreVerb(t *testing.T) {
	a, ill, well := quarantined(t)
	out := a.must("restore", ill.task, "--reason", "the probe was wrong", "--author", "ana")
	if !strings.Contains(out, "gets its row back") || !strings.Contains(out, "comes back") || !strings.Contains(out, "holding") {
		t.Errorf("restore says: %s", out)
	}
	a.once(0)
	b, _ := a.cloud.Sandbox(ill.sandbox)
	if status, why := a.state(ill.task); status != "running" || why != "" || b.State != reconcile.SandboxRunning {
		t.Errorf("the task is %s (%s), its sandbox %s; want all as before", status, why, b.State)
		t.Logf("%+v", collect[entry](a, "SELECT id, task, sandbox, rule, step, outcome, detail FROM sandkeeper.actions"))
	}
	a.refuses("its quarantine is over", "restore", ill.task)
	a.later(25*time.Hour, append(well, ill)...)
	a.busy(append(well, ill))
	a.once(0)
	if a.ended(ill.sandbox) {
		t.Error("the restored sandbox was ended when its quarantine would have been over")
	}
}

// TestRestoreOfAMovedRow: the sandbox comes back, and a row that somebody changed is left.
func TestRestoreOfAMovedRow(t *testing.T) {
	a, ill, _ := quarantined(t)
	a.sql("UPDATE tasks SET error_message = 'seen by support' WHERE id = $1", ill.task)
	a.must("restore", ill.sandbox, "--reason", "x", "--for", "0s")
	a.once(0)
	b, _ := a.cloud.Sandbox(ill.sandbox)
	if status, why := a.state(ill.task); status != "failed" || why != "seen by support" || b.State != reconcile.SandboxRunning {
		t.Errorf("the task is %s (%s), its sandbox %s; want the row as support left it, the sandbox back", status, why, b.State)
	}
	a.refuses("nothing of it is in quarantine", "restore", "nothing-like-it")
}

// TestStopVerb: of a workspace an orphan is stopped, nothing ends it, and restore brings it back, once.
func TestStopVerb(t *testing.T) {
	a := newArena(t, settings{tasks: ", shape: workspace", rules: "{orphan: {after: 5m, sightings: 2, apart: 1s}}"})
	ws := a.working(6)
	box := a.box(nobody, 10*time.Minute).ID
	for range 4 {
		a.once(0)
		a.later(2*time.Minute, ws...)
	}
	if b, _ := a.cloud.Sandbox(box); a.ended(box) || b.State != reconcile.SandboxStopped {
		t.Fatalf("the orphan is %s, want it stopped and there", b.State)
	}
	if said := a.must("explain", box); !strings.Contains(said, "reported only: it does not run") {
		t.Errorf("explain does not say that it stands still:\n%s", said)
	}
	out := a.must("restore", box, "--reason", "it was ana's", "--author", "ana")
	if !strings.Contains(out, "comes back") || strings.Contains(out, "its end") {
		t.Errorf("restore says: %s", out)
	}
	for range 3 {
		a.once(0)
		a.later(2*time.Minute, ws...)
	}
	if b, _ := a.cloud.Sandbox(box); b.State != reconcile.SandboxRunning {
		t.Errorf("the restored sandbox is %s, want it running and held", b.State)
	}
	a.refuses("it was restored", "restore", box)
	a.keeps(ws)
}

// TestQuarantineOfARenamedEntry: what the config does not name any more is held and shown, and nobody
// is told that it comes back.
func TestQuarantineOfARenamedEntry(t *testing.T) {
	a, ill, _ := quarantined(t)
	was, err := os.ReadFile(a.config)
	if err != nil {
		t.Fatal(err)
	}
	renamed := bytes.Replace(was, []byte("name: daytona"), []byte("name: renamed"), 1)
	if bytes.Equal(was, renamed) {
		t.Fatal("the config has no entry daytona")
	}
	for _, test := range []struct {
		config  []byte
		refuses string
	}{{renamed, `the entry "daytona", which the config does not name any more`}, {was, ""}} {
		if err := os.WriteFile(a.config, test.config, 0o600); err != nil {
			t.Fatal(err)
		}
		if test.refuses == "" {
			a.must("restore", ill.task, "--reason", "x")
			continue
		}
		a.refuses(test.refuses, "restore", ill.task)
		if out := a.must("plan"); !strings.Contains(out, `no entry "daytona"`) {
			t.Errorf("plan says: %s", out)
		}
	}
}

// TestQuarantineEnds: what nobody restores is ended when the time is over, and not before.
func TestQuarantineEnds(t *testing.T) {
	a, ill, well := quarantined(t)
	a.later(23*time.Hour, well...)
	a.busy(well)
	a.once(0)
	if a.ended(ill.sandbox) {
		t.Fatal("it was ended before its quarantine was over")
	}
	a.later(70*time.Minute, well...)
	a.busy(well)
	a.once(0)
	if !a.ended(ill.sandbox) {
		t.Error("it was not ended after its quarantine")
	}
	a.refuses("its quarantine is over", "restore", ill.task)
}
