package main

import (
	"maps"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// ledgerSeries are the metrics that come from the ledger, without those of the process and
// those that move with the clock.
func (d *daemonChild) ledgerSeries() map[string]string {
	d.a.Helper()
	all := d.series()
	maps.DeleteFunc(all, func(name, _ string) bool {
		return !strings.HasPrefix(name, "sandkeeper_") || strings.Contains(name, "_age_seconds") ||
			slices.ContainsFunc(ofAProcess, func(prefix string) bool { return strings.HasPrefix(name, "sandkeeper_"+prefix) })
	})
	return all
}

// ofAProcess are the metrics of a process alone, and those that move with the clock or with the disk.
var ofAProcess = []string{"config_", "provider_request", "provider_rate_", "pass_phase", "database_pool", "ledger_bytes", "saved_"}

// TestMetricsAreTheLedgers: all replicas show the same, and so does one that was started
// after all others ended.
func TestMetricsAreTheLedgers(t *testing.T) {
	a := newArena(t, settings{rules: "{orphan: {apart: 1s}}", more: quickly})
	ws := a.working(4)
	a.beat(ws)
	orphan, stopped := a.box(nobody, 10*time.Minute), a.stopped(time.Minute)
	one, two := a.daemon("run", "--migrate"), a.daemon("run", "--migrate")
	a.reaches("the end of both is confirmed", func() bool {
		return a.count("SELECT count(*) FROM sandkeeper.actions WHERE sandbox IN ($1, $2) AND outcome = 'confirmed'",
			orphan.ID, stopped.ID) == 2
	})
	a.must("pause", "--reason", "drill")
	last := a.box(newUUID(), 10*time.Minute) // held by the pause, so that there is something to see
	a.reaches("the next finding is held", func() bool {
		return a.count("SELECT count(*) FROM sandkeeper.findings WHERE sandbox = $1 AND due", last.ID) == 1
	})
	// Passes go on all the while, so the two are asked until they were asked between two passes.
	var diff string
	a.reaches("the same from both", func() bool {
		diff = cmp.Diff(one.ledgerSeries(), two.ledgerSeries())
		return diff == ""
	})
	before := one.ledgerSeries()
	one.stop()
	two.stop()
	for name, want := range map[string]string{
		`sandkeeper_actions_total{installation="test",outcome="confirmed",provider="daytona",rule="orphan",step="terminate"}`:       "1",
		`sandkeeper_actions_total{installation="test",outcome="confirmed",provider="daytona",rule="stop-ignored",step="terminate"}`: "1",
		`sandkeeper_held{by="pause",installation="test",rule="orphan"}`:                                                             "1",
		`sandkeeper_tasks{installation="test",state="running"}`:                                                                     "4",
		`sandkeeper_terminate_confirmation_seconds_count{installation="test",provider="daytona",rule="orphan"}`:                     "1",
	} {
		if got := before[name]; got != want {
			t.Errorf("%s is %q, want %s", name, got, want)
		}
	}
	a.configure(settings{rules: "{orphan: {apart: 1s}}", more: "schedule: {quick: '@every 1h', full: '@every 2h'}\nweb: {listen: '127.0.0.1:0'}\nlog: {level: info}"})
	d := a.daemon("serve")
	after := d.ledgerSeries()
	for name, value := range before {
		if strings.Contains(name, "_interval_") || strings.Contains(name, "passes_total") || strings.Contains(name, "last_complete_pass") {
			continue // of the schedule, and of passes that ended while it stopped
		}
		if after[name] != value {
			t.Errorf("after a restart of all %s is %q, was %s", name, after[name], value)
		}
	}
	if diff != "" {
		t.Errorf("two replicas show different metrics (-one +two):\n%s", diff)
	}
	d.stop()
	a.keeps(ws)
}

// TestIdleMetrics: a ledger in which nothing ever happened has few series, with every rule armed: once there were 1,013,
// most of them zeroes of what cannot be.
func TestIdleMetrics(t *testing.T) {
	a := newArena(t, settings{})
	a.must("migrate")
	a.once(0)
	all, zeroes := 0, 0
	for line := range strings.Lines(a.must("metrics")) {
		if strings.HasPrefix(line, "sandkeeper_") {
			all++
			if strings.HasSuffix(line, " 0\n") {
				zeroes++
			}
		}
	}
	t.Logf("%d series, %d of them 0", all, zeroes)
	if all < 100 || all > 400 {
		t.Errorf("%d series, want at most 400", all)
	}
}

// TestRateHoldsOverReplicas: three of them together call the provider no more often than
// the config says.
func TestRateHoldsOverReplicas(t *testing.T) {
	const rate = 5
	a := newArena(t, settings{rate: "5/s", rules: "{stop-ignored: {after: 1s}}", more: quickly,
		probe:  `{exec: "true", path: "/", every: 2s, timeout: 1s, budget: 2500/m}`,
		limits: "{per_pass: 100, share: 100%, breaker: 100%}"})
	ws := a.working(20)
	a.beat(ws)
	a.must("migrate")
	replicas := []*daemonChild{a.daemon("run"), a.daemon("run"), a.daemon("run")}
	for range 12 {
		a.stopped(time.Minute)
	}
	a.cloud.ResetCalls()
	a.reaches("enough calls to say anything", func() bool { return len(a.cloud.Calls()) >= 10*rate })
	calls := a.cloud.Calls()
	for _, d := range replicas {
		d.stop()
	}
	// A call is heard late where the machine stands still, and those that waited come at once then. That makes them
	// too many only for who begins to count in between: so the count begins at each of the first ones.
	last, least := len(calls)-1, math.Inf(1)
	for i, c := range calls[:4*rate] {
		least = min(least, float64(last-i)-rate*calls[last].At.Sub(c.At).Seconds())
	}
	t.Logf("%d calls, at least %.1f more than the rate has places for", len(calls), least)
	if least > 2*rate {
		t.Errorf("%d calls are %.1f more than the rate has places for, want at most a burst of %d", len(calls), least, 2*rate)
	}
	a.keeps(ws)
}
