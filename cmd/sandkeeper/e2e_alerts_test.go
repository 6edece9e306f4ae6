package main

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/alerts"
	"github.com/sandkeeper/sandkeeper/alerts/alertstest"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// An alarmed is a world that is broken on purpose, the program that keeps it, and what watches the program.
type alarmed struct {
	*arena
	settings settings
	run      *daemonChild // keeps the world
	other    *neighbour   // another installation beside it
	watch    *alertstest.Prometheus
	inbox    *alertstest.Inbox
}

// TestAlertsOfARealWorld: the program keeps a world, another process of it serves, and a real Prometheus and a real
// Alertmanager watch both with what `sandkeeper alerts` prints, but for the waits. The world is broken in ten ways, one
// after the other or together where they have nothing to do with each other. Each alert arrives once, those that
// another one explains do not, and all are resolved after the repair.
func TestAlertsOfARealWorld(t *testing.T) {
	a := newAlarmed(t)
	back := a.gone()
	a.understands()
	a.apart()
	a.incident()
	a.breaker()
	a.provider()
	a.stopped()
	a.ledgerGone()
	back()
	came := a.inbox.Firing()
	for _, what := range toldOnce {
		if came[what] != 1 {
			t.Errorf("%s came %d times", what, came[what])
		}
	}
}

// toldOnce is what the ten ways come to.
var toldOnce = []string{"chat SandkeeperTemplateUnusable", "chat SandkeeperHoldForgotten", "chat SandkeeperTerminationsOverdue",
	"pager SandkeeperRuleAutoDisabled", "pager SandkeeperIncidentOpen", "pager SandkeeperBreakerOpen",
	"chat SandkeeperCredentialRefused", "chat SandkeeperFrozen", "pager SandkeeperPassStale", "pager SandkeeperLedgerDown",
	"pager SandkeeperLeakRate", "pager SandkeeperAbsent"}

func newAlarmed(t *testing.T) *alarmed {
	s := settings{
		rules:  "{orphan: {after: 30s, apart: 1s}, stop-ignored: {after: 1s}}",
		limits: "{per_pass: 100, share: 100%, breaker: 40%, per_hour: 1000}",
		probe:  "off\n    price_per_hour: 2",
		more:   quickly + "\nalerts: {leaking_usd_per_hour: 1}",
	}
	a := &alarmed{arena: newArena(t, s), settings: s, inbox: alertstest.NewInbox(t)}
	a.beat(a.working(15))
	a.run = a.daemon("run", "--migrate")
	serve := a.daemon("serve")
	a.other = a.neighbour()
	target := func(d *daemonChild) string { return strings.Trim(strings.TrimPrefix(d.url(), "http://"), "/") }
	a.watch = alertstest.Setup{
		Targets: []string{target(a.run), target(serve), a.other.address}, Rules: alertstest.Quicker(a.must("alerts", "rules")),
		Alertmanager: a.inbox.Alertmanager(t, a.must("alerts", "alertmanager"), "5s"),
	}.Prometheus(t)
	a.watch.Wait(t, `count(sandkeeper_ledger_up == 1)`, "3")
	a.watch.Wait(t, `count(group by (installation, kind) (sandkeeper_pass_age_seconds))`, "4")
	return a
}

// beat lets workers send heartbeats for as long as the test lasts.
func (a *arena) beat(ws []worker) {
	keys := make([]string, len(ws))
	for i, w := range ws {
		keys[i] = w.key
	}
	db, ctx := a.db, a.Context()
	go func() { // ends with the test
		for reconcile.Sleep(ctx, time.Second) == nil {
			_, _ = db.Exec(ctx, `INSERT INTO program.sandbox_events (sandbox_id, event_type, created_at)
				SELECT key, 'agent.heartbeat', now() FROM unnest($1::text[]) key`, keys)
		}
	}()
}

// aged lets time pass for one thing of the ledger, which keeps what it has recorded.
func (a *alarmed) aged(update string) {
	a.Helper()
	a.sql("BEGIN; SET LOCAL session_replication_role = replica; " + update + "; COMMIT")
}

// aging lets time pass for one thing that passes write as well, until it has come to what is wanted.
func (a *alarmed) aging(update string, is func() bool) {
	a.Helper()
	for until := time.Now().Add(5 * time.Minute); !is(); a.pass(200 * time.Millisecond) {
		if time.Now().After(until) {
			a.Fatalf("nothing came of: %s", update)
		}
		a.aged(update)
	}
}

// understands asks for what runbooks tell somebody to look at, with the series of this world.
func (a *alarmed) understands() {
	a.Helper()
	for _, name := range alerts.Runbooks() {
		text, _ := alerts.Runbook(name)
		for _, query := range alertstest.Queries(text) {
			if got := a.watch.Ask(a.Context(), query); strings.Contains(got, "error") {
				a.Errorf("runbook %s: %s\n%s", name, query, got)
			}
		}
	}
}

// apart breaks five things that have nothing to do with each other: a snapshot is inactive, a leak costs money while its
// rule only observes, a hold without an end is old, a stop is accepted and the sandbox stays, and a rule marks tasks
// failed that live.
func (a *alarmed) apart() {
	a.Helper()
	a.snapshot(reconcile.TemplateInactive)
	a.must("mode", "orphan", "observe", "--reason", "is it right?")
	a.box(newUUID(), 10*time.Minute)
	a.must("hold", "label:ticket=4711", "--reason", "support looks at it")
	a.aged("UPDATE sandkeeper.holds SET at = at - interval '8 days'")
	stays := a.arena.stopped(time.Minute)
	a.cloud.Change(stays.ID, func(s *simulated.Sandbox) { s.Stuck = true })
	slow := a.slow(3)
	a.reaches("the end of the sandbox is asked for, and the tasks are marked failed", func() bool {
		asked := a.count("SELECT count(*) FROM sandkeeper.actions WHERE sandbox = $1 AND first_acted_at IS NOT NULL", stays.ID)
		return asked == 1 && a.count("SELECT count(*) FROM tasks WHERE status = 'failed'") == len(slow)
	})
	a.aging(`UPDATE sandkeeper.actions SET first_acted_at = first_acted_at - interval '3 minutes'
		WHERE closed_at IS NULL AND first_acted_at > now() - interval '2 minutes'`, func() bool {
		return a.watch.Ask(a.Context(), "max(sandkeeper_terminations_overdue)") == "1"
	})
	for _, w := range slow {
		a.event(w.key, "agent.heartbeat", 0) // it only started late
	}
	a.inbox.Both(a.T, func() {
		a.snapshot(reconcile.TemplateActive)
		a.must("mode", "orphan", "clear", "--reason", "it is")
		a.must("unhold", "label:ticket=4711", "--reason", "done")
		a.cloud.Change(stays.ID, func(s *simulated.Sandbox) { s.Stuck = false })
		a.must("mode", "assigned-stale", "clear", "--reason", "after is right now")
	}, "chat SandkeeperTemplateUnusable", "pager SandkeeperLeakRate", "chat SandkeeperHoldForgotten",
		"chat SandkeeperTerminationsOverdue", "pager SandkeeperRuleAutoDisabled")
}

// slow are tasks that were handed out long ago and whose workers were never heard.
func (a *alarmed) slow(n int) (ws []worker) {
	a.Helper()
	for i := range n {
		w := worker{key: fmt.Sprintf("omoios-slow-%d", i)}
		w.task = a.task(row{status: "assigned", key: w.key, created: time.Hour, updated: 4 * time.Minute})
		ws = append(ws, w)
	}
	return ws
}

// incident lets many tasks fail to start: one page, and nothing of what it explains.
func (a *alarmed) incident() {
	a.Helper()
	for range 8 {
		a.box(a.task(row{status: "assigned", created: time.Hour, updated: 4 * time.Minute}), 4*time.Minute)
	}
	a.watch.Firing(a.T, "SandkeeperIncidentOpen", true)
	a.watch.Firing(a.T, "SandkeeperSystemicFailure", true)
	a.inbox.Wait(a.T, "firing", "pager SandkeeperIncidentOpen")
	a.inbox.None(a.T, "SandkeeperSystemicFailure")
	id := a.incidents()[0].ID
	a.must("release", "incident:"+id, "--reason", "the snapshot is active again")
	a.aging(`UPDATE sandkeeper.incidents SET last_seen = last_seen - interval '3 hours',
		first_seen = first_seen - interval '3 hours' WHERE closed_at IS NULL`,
		func() bool { return a.incidents()[0].State == "closed" })
	a.inbox.Wait(a.T, "resolved", "pager SandkeeperIncidentOpen")
}

// breaker leaks so much at once that all is held: one page, and none for what it costs, neither then nor once it is
// released.
func (a *alarmed) breaker() {
	a.Helper()
	a.watch.Firing(a.T, "SandkeeperLeakRate", false)
	before := a.inbox.Firing()["pager SandkeeperLeakRate"]
	for range 14 {
		a.box(newUUID(), 10*time.Minute)
	}
	a.watch.Wait(a.T, `max(sandkeeper_leaking_usd_per_hour) > bool 1`, "1")
	a.inbox.Both(a.T, func() {
		_, rest, _ := strings.Cut(a.must("release", "orphan"), "--hash ")
		a.must("release", "orphan", "--hash", strings.Fields(rest)[0], "--reason", "looked at")
	}, "pager SandkeeperBreakerOpen")
	a.watch.Wait(a.T, `max(sandkeeper_leaking_usd_per_hour) or vector(0)`, "0")
	if n := a.inbox.Firing()["pager SandkeeperLeakRate"]; n != before {
		a.Error("somebody was woken for the cost of leaks that the breaker held, and for the breaker")
	}
}

// provider refuses the key, which explains the frozen listing; then it is down.
func (a *alarmed) provider() {
	a.Helper()
	refused := a.settings
	refused.token = "another"
	a.configure(refused)
	a.watch.Firing(a.T, "SandkeeperFrozen", true)
	a.inbox.Both(a.T, func() {
		a.inbox.None(a.T, "SandkeeperFrozen", "SandkeeperSourceUntrusted")
		a.configure(a.settings)
	}, "chat SandkeeperCredentialRefused")
	a.watch.Firing(a.T, "SandkeeperFrozen", false)
	lift := a.cloud.Inject(
		simulated.Fault{On: simulated.List, Effect: simulated.Answer, Status: http.StatusInternalServerError})
	a.watch.Firing(a.T, "SandkeeperSourceUntrusted", true)
	a.inbox.Both(a.T, func() {
		a.inbox.None(a.T, "SandkeeperSourceUntrusted")
		lift()
	}, "chat SandkeeperFrozen")
}

// stopped is a janitor that makes no passes any more.
func (a *alarmed) stopped() {
	a.Helper()
	a.run.stop()
	a.aged(`UPDATE sandkeeper.passes SET began_at = began_at - interval '10 minutes',
		ended_at = ended_at - interval '10 minutes'`)
	a.inbox.Both(a.T, func() { a.run = a.daemon("run") }, "pager SandkeeperPassStale")
}

// ledgerGone takes the ledger away from all processes.
func (a *alarmed) ledgerGone() {
	a.Helper()
	a.sql("ALTER SCHEMA sandkeeper RENAME TO mislaid")
	back := func() { a.sql("ALTER SCHEMA mislaid RENAME TO sandkeeper") }
	a.inbox.Both(a.T, back, "pager SandkeeperLedgerDown")
}
