package main

import (
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
)

// TestRunRepairs: the daemon finds and repairs what `once` would, without any `once`.
func TestRunRepairs(t *testing.T) {
	a := newArena(t, settings{rules: "{orphan: {apart: 1s}}", more: quickly})
	ws := a.working(4)
	a.beat(ws)
	orphan := a.box(nobody, 10*time.Minute)
	stale := a.task(row{status: "assigned", key: "omoios-stale", created: time.Hour, updated: 4 * time.Minute})
	a.watchWrites()
	d := a.daemon("run", "--migrate")
	a.reaches("the stale task failed", func() bool { status, _ := a.state(stale); return status == "failed" })
	a.reaches("the orphan's end confirmed", func() bool {
		return a.count("SELECT count(*) FROM sandkeeper.actions WHERE sandbox = $1 AND outcome = 'confirmed'", orphan.ID) == 1
	})
	d.stop()
	a.repaired(ws, stale, orphan)
	if n := a.deletes()[orphan.ID]; n != 1 {
		t.Errorf("the orphan was deleted %d times, want 1", n)
	}
	if n := len(d.logged("action confirmed")); n != 1 {
		t.Errorf("%d confirmed actions in the log, want 1", n)
	}
}

// TestRunActsOnAStopWithoutAListing: a quick pass reads what left the live set, so a stop
// needs no full pass.
func TestRunActsOnAStopWithoutAListing(t *testing.T) {
	a := newArena(t, settings{rules: "{stop-ignored: {after: 1s}}", more: seldomFull})
	ws := a.working(4)
	a.beat(ws[1:])
	d := a.daemon("run", "--migrate")
	a.reaches("the one full pass", func() bool { return a.passes("full") == 1 })
	a.reaches("a quick pass", func() bool { return a.passes("quick") > 0 })
	w := ws[0]
	a.sql("UPDATE tasks SET status = 'cancelled', updated_at = now(), completed_at = now() WHERE id = $1", w.task)
	a.reaches("the sandbox of the stopped task ended", func() bool { return a.ended(w.sandbox) })
	if took := a.count(`SELECT count(*) FROM sandkeeper.passes AS p, sandkeeper.actions AS a, tasks AS t
		WHERE a.task = t.id AND t.id = $1 AND p.began_at > t.updated_at + interval '1 second' AND p.began_at <= a.planned_at`,
		w.task); took > 2 {
		t.Errorf("it was planned by pass %d after its second, want by the next one", took)
	}
	if n := a.passes("full"); n != 1 {
		t.Errorf("%d full passes, want 1", n)
	}
	d.stop()
	a.keeps(ws[1:])
}

// TestVerbsHoldARunningDaemon: what a person says holds a second later, whatever is under
// way, and not for longer than it is said.
func TestVerbsHoldARunningDaemon(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ wish, undo []string }{
		"pause":            {[]string{"pause", "--reason", "drill"}, []string{"resume"}},
		"pause of a rule":  {[]string{"pause", "rule:stop-ignored"}, []string{"resume", "rule:stop-ignored"}},
		"mode":             {[]string{"mode", "stop-ignored", "observe"}, []string{"mode", "stop-ignored", "clear"}},
		"hold of provider": {[]string{"hold", "provider:daytona"}, []string{"unhold", "provider:daytona"}},
		"hold of a label":  {[]string{"hold", "label:project=omoios"}, []string{"unhold", "label:project=omoios"}},
	}
	for name, tt := range cases {
		t.Run(name, func(t *testing.T) {
			a := newArena(t, settings{rules: "{stop-ignored: {after: 1s}}", limits: "{per_pass: 2, share: 100%, breaker: 100%}", more: quickly})
			ws := a.working(12)
			a.beat(ws)
			d := a.daemon("run", "--migrate")
			a.reaches("a full pass", func() bool { return a.passes("full") > 0 })
			for range 8 { // more than a pass may begin
				a.stopped(time.Minute)
			}
			a.reaches("something ended", func() bool { return len(a.deletes()) > 0 })
			a.must(tt.wish...)
			said := time.Now()
			var later []simulated.Sandbox // a slow verb may come when all of the others are ended
			for range 4 {
				later = append(later, a.stopped(time.Minute))
			}
			passes := a.passes("quick")
			a.reaches("three passes more", func() bool { return a.passes("quick") >= passes+3 })
			for _, late := range a.destroys(said.Add(time.Second)) { // a busy machine takes long for what was claimed before
				if a.count("SELECT count(*) FROM sandkeeper.actions WHERE sandbox = $1 AND begun_at > $2", late.ID, said.Add(time.Second)) > 0 {
					t.Errorf("sandbox %s was ended later than a second after %q", late.ID, strings.Join(tt.wish, " "))
				}
			}
			for _, b := range later {
				if a.ended(b.ID) {
					t.Errorf("sandbox %s, whose task was stopped after %q, is ended", b.ID, strings.Join(tt.wish, " "))
				}
			}
			a.must(tt.undo...)
			a.reaches("all are ended", func() bool { return len(a.deletes()) == 12 })
			d.stop()
			a.keeps(ws)
		})
	}
}

// TestOrphanBesideNewTasks: tasks that start all the time have sandboxes that no full pass
// has listed yet. They are no reason to think that an orphan is one of those.
func TestOrphanBesideNewTasks(t *testing.T) {
	a := newArena(t, settings{})
	au := a.audited(1, nil)
	s := livingSettings
	s.more = strings.Replace(quickly, `full: "@every 2s"`, `full: "@every 8s"`, 1)
	a.configure(s)
	a.must("migrate")
	defer au.p.start()()
	d := a.daemon("run")
	au.soon("a full pass", func() bool { return a.passes("full") > 0 })
	x := au.p.infect("orphan")
	au.soon("the orphan is planned to be ended", func() bool {
		return a.count("SELECT count(*) FROM sandkeeper.actions WHERE sandbox = $1", x.box) > 0
	})
	full := a.passes("full")
	au.soon("it is ended, or passes went by", func() bool { return au.gone(x.box) || a.passes("full") > full+1 })
	if !au.gone(x.box) {
		t.Errorf("the orphan lives on: %+v", collect[entry](a, "SELECT id, task, sandbox, rule, step, outcome, detail FROM sandkeeper.actions"))
	}
	au.settled()
	au.stop(d)
	au.audit()
}
