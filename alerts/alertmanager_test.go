package alerts

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

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
		Alertmanager: heard.Alertmanager(t, Alertmanager(Site{}), "7s")}.Prometheus(t)
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

// TestEachCauseKeepsBackWhatItExplains: a real Alertmanager with the shipped config has each alert that an inhibit rule
// names, once with its cause and once where that is in another installation.
func TestEachCauseKeepsBackWhatItExplains(t *testing.T) {
	t.Parallel() // it mostly waits
	var names []string
	for _, r := range allRules(t, Rules(Site{})) {
		if r.Alert != "" {
			names = append(names, r.Alert)
		}
	}
	var posted []map[string]any
	kept := map[string]bool{} // by installation: whether the alert that is not the cause is kept back
	var explained []string    // those in which it is
	post := func(installation, alert, rule string) {
		posted = append(posted, map[string]any{"labels": map[string]string{
			"alertname": alert, "installation": installation, "rule": rule, "provider": "daytona", "severity": "warning"}})
	}
	for _, pair := range inhibitions(t, names) {
		one, other := fmt.Sprint("with-", len(kept)), fmt.Sprint("without-", len(kept))
		kept[one], kept[other] = true, false
		explained = append(explained, one)
		post(one, pair.cause, pair.rule)
		post(one, pair.kept, pair.rule)
		post(other, pair.kept, pair.rule)
	}
	if len(kept) < 120 {
		t.Fatalf("%d cases", len(kept))
	}
	address := alertstest.NewInbox(t).Alertmanager(t, Alertmanager(Site{}), "1h")
	got := alertstest.Suppressed(t, address, posted, explained)
	for installation, want := range kept {
		if got[installation] != want {
			t.Errorf("%s: kept back: %t, want %t", installation, got[installation], want)
		}
	}
}

// TestCausesOutliveWhatTheyExplain: when all is repaired, what a cause kept back is over before the cause is told as
// over; else it would be sent in between. Without the metrics or the ledger nothing else fires, so that nothing is.
func TestCausesOutliveWhatTheyExplain(t *testing.T) {
	stays := map[string]time.Duration{}
	var names []string
	for _, r := range allRules(t, Rules(Site{})) {
		if r.Alert != "" {
			names = append(names, r.Alert)
			stays[r.Alert], _ = time.ParseDuration(r.KeepFiringFor) // "" is none
		}
	}
	for _, pair := range inhibitions(t, names) {
		if pair.cause == "SandkeeperAbsent" || pair.cause == "SandkeeperLedgerDown" {
			continue
		}
		if stays[pair.cause] < stays[pair.kept]+2*time.Minute {
			t.Errorf("%s stays for %s and keeps back %s, which stays for %s: wants 2m more",
				pair.cause, stays[pair.cause], pair.kept, stays[pair.kept])
		}
	}
}

// An inhibition is an alert that another one keeps back, both of this rule.
type inhibition struct{ cause, kept, rule string }

// inhibitions are all that the shipped config has.
func inhibitions(t *testing.T, names []string) (all []inhibition) {
	t.Helper()
	var config struct {
		Inhibit []struct {
			Source []string `yaml:"source_matchers"`
			Target []string `yaml:"target_matchers"`
		} `yaml:"inhibit_rules"`
	}
	if err := yaml.Unmarshal([]byte(Alertmanager(Site{})), &config); err != nil {
		t.Fatal(err)
	}
	matches := func(matchers []string, label, value string) bool {
		for _, m := range matchers {
			if part := matcher.FindStringSubmatch(m); part[1] == label {
				is := regexp.MustCompile("^(?:" + part[3] + ")$").MatchString(value)
				if is == strings.HasPrefix(part[2], "!") {
					return false
				}
			}
		}
		return true
	}
	for _, one := range config.Inhibit {
		for _, cause := range names {
			for _, kept := range names {
				if cause == kept || !matches(one.Source, "alertname", cause) || !matches(one.Target, "alertname", kept) {
					continue
				}
				rule := "orphan"
				if !matches(one.Source, "rule", rule) {
					rule = "deadline-exceeded"
				}
				if !matches(one.Source, "rule", rule) {
					rule = "inactive"
				}
				all = append(all, inhibition{cause, kept, rule})
			}
		}
	}
	return all
}

// matcher is one of Alertmanager's.
var matcher = regexp.MustCompile(`^(\w+) (=~|!~|!=|=) "(.*)"$`)

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
