package alerts

import (
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/alerts/alertstest"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// TestAlertsArriveTogether: a real Prometheus and a real Alertmanager with what is shipped, but for the waits. Much is
// wrong at once, by measures that no small world shows together; each alert comes to its receiver, what another one
// explains does not, none comes twice, and all are resolved after the repair. Each cause alone, made by a real world
// and seen by the real program: TestAlertsOfARealWorld in cmd/sandkeeper.
func TestAlertsArriveTogether(t *testing.T) {
	t.Parallel() // it mostly waits
	d := &desk{says: sound()}
	heard := alertstest.NewInbox(t)
	o := options()
	o.Bounds = func() Bounds { return Bounds{LeakUSD: 5} }
	p := alertstest.Setup{Targets: []string{serveWith(t, d, o)}, Rules: alertstest.Quicker(Rules(Site{})),
		Alertmanager: heard.Alertmanager(t, Alertmanager(Site{}), "4s")}.Prometheus(t)
	p.Wait(t, `count(sandkeeper_ledger_up)`, "1")

	d.set(broken())
	heard.Both(t, func() {
		for _, name := range inhibited {
			p.Firing(t, name, true)
		}
		d.set(sound())
	}, "pager SandkeeperIncidentOpen", "pager SandkeeperBreakerOpen", "pager SandkeeperRuleAutoDisabled",
		"chat SandkeeperCredentialRefused", "chat SandkeeperHoldForgotten",
		"chat SandkeeperTerminationsOverdue", "chat SandkeeperNeedsPerson", "chat SandkeeperPausedForLong")
	heard.None(t, append(inhibited, "SandkeeperLeakRate")...) // its cost is what the breaker holds
	for what, n := range heard.Firing() {
		if n != 1 {
			t.Errorf("%s came %d times", what, n)
		}
	}
}

// inhibited are the alerts of the broken world whose cause another one tells.
var inhibited = []string{"SandkeeperTemplateUnusable", "SandkeeperSourceUntrusted", "SandkeeperFrozen"}

// sound are the measures of a world in which nothing is wrong.
func sound() reconcile.Measures {
	now := time.Now()
	return reconcile.Measures{Now: now, Passes: map[reconcile.PassKind]reconcile.PassSeen{
		reconcile.Quick: {BeganAt: now, EndedAt: now}, reconcile.Full: {BeganAt: now, EndedAt: now}}}
}

// broken are those of a world in which much is wrong at once.
func broken() reconcile.Measures {
	m := sound()
	m.Templates = []reconcile.TemplateSeen{{Provider: "daytona", Name: "light", State: reconcile.TemplateInactive, LookedAt: m.Now}}
	m.Sources = []reconcile.SourceSeen{{Name: "credential:daytona", Since: m.Now}, {Name: "listing:daytona", Since: m.Now}}
	m.Leaking = []reconcile.Money{{Rule: "orphan", Provider: "daytona", Count: 100, USD: 8}}
	m.Overdue = 3
	m.Findings = []reconcile.FindingCount{{Rule: "looping", Open: 1, Due: 1}}
	m.Controls = reconcile.Controls{
		Incidents: []reconcile.Incident{{ID: "i-1", Rule: "assigned-stale", Provider: "daytona", Count: 9}},
		Breakers:  map[string]reconcile.Breaker{"orphan": {}},
		Modes:     map[string]reconcile.Mode{"inactive": reconcile.Observe},
		Lowered:   map[string]reconcile.Lowering{"inactive": {Attribution: reconcile.Attribution{Author: reconcile.AuthorSelf}}},
		Holds:     []reconcile.Hold{{Target: "task:1", At: m.Now.Add(-8 * 24 * time.Hour)}},
		Pauses:    []reconcile.Pause{{Scope: "all"}},
	}
	return m
}
