package main

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app/webhooktest"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/result"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// planting are settings under which a canary is planted, one in all of a test, and must go within minutes.
var planting = settings{proof: "{samples: 200}", limits: "{}", rules: "{orphan: {after: 30s, apart: 1s}}",
	more: "log: {level: warn}\ncanary: {template: ai-agent-dev-light, every: 8760h, within: 10m}"}

// canaries are those that the world has had.
func (a *arena) canaries() (all []simulated.Sandbox) {
	for _, b := range a.cloud.Sandboxes() {
		if b.Labels[reconcile.CanaryLabel] != "" {
			all = append(all, b)
		}
	}
	return all
}

// caughtIn is how it is said that a canary was caught in time, by tests that let minutes pass for it.
var caughtIn = regexp.MustCompile(`(?i)caught in [1-9]m`)

// TestCanaryIsCaught: with one line in the config a leak is planted, found, ended and confirmed by the same passes as any
// leak, unproven rule or not; page, status, report and metrics tell how long each step took. No row of the platform is
// touched, and nothing of the platform counts as wrong.
func TestCanaryIsCaught(t *testing.T) {
	a := newArena(t, planting)
	ws := a.working(3)
	a.must("migrate")
	if out := a.must("check"); !strings.Contains(out, "canary: one from ai-agent-dev-light each 365d, to be gone within 10m") {
		t.Errorf("check does not tell of the canary:\n%s", out)
	}
	a.once(0)
	planted := a.canaries()
	if len(planted) != 1 || planted[0].Labels["project"] != "omoios" || planted[0].Template != "ai-agent-dev-light" ||
		time.Until(planted[0].ExpiresAt) < time.Hour {
		t.Fatalf("planted %+v, want one of ours from the template that goes by itself at last", planted)
	}
	id := planted[0].ID
	a.later(time.Minute, ws...)
	a.once(0) // finds it
	if _, out, _ := a.run("status"); !regexp.MustCompile(`Canary: planted [1-9]m`).MatchString(out) || !strings.Contains(out, "0 findings") {
		t.Errorf("status while it is there:\n%s", out)
	}
	a.later(2*time.Second, ws...)
	a.once(0) // ends it
	if !a.ended(id) {
		t.Fatalf("the canary is still there: %+v", a.cloud.Calls())
	}
	a.once(0) // a slot has one
	if n := len(a.canaries()); n > 1 {
		t.Errorf("%d canaries were planted within the hour, want 1", n)
	}
	a.keeps(ws)
	const steps = "detection "
	for _, verb := range []string{"status", "report"} {
		if _, out, _ := a.run(verb); !caughtIn.MatchString(out) || !strings.Contains(out, steps) ||
			!strings.Contains(out, "confirmation ") {
			t.Errorf("%s does not tell that the canary was caught:\n%s", verb, out)
		}
	}
	var report result.Rules
	if err := json.Unmarshal([]byte(a.must("report", "-o", "json")), &report); err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(report.Rules, func(r result.Rule) bool { return r.Rule == "orphan" })
	if at < 0 || report.Rules[at].Verdicts != 0 || report.Rules[at].Acted != 0 {
		t.Errorf("orphan in the report = %+v, want that a canary counts for nothing", report.Rules)
	}
	metrics := a.must("metrics")
	for _, want := range []string{`sandkeeper_canary_stage_seconds{installation="test",stage="detection"}`,
		`sandkeeper_canary_stage_seconds{installation="test",stage="confirmation"}`,
		`sandkeeper_canary_failed{installation="test"} 0`, `sandkeeper_canary_limit_seconds{installation="test"} 600`,
		`sandkeeper_findings{installation="test",provider="daytona",rule="orphan"} 0`} {
		if !strings.Contains(metrics, want) {
			t.Errorf("metrics lack %s", want)
		}
	}
	if strings.Contains(metrics, "sandkeeper_canary_age_seconds{") {
		t.Error("metrics have the age of a canary that is gone")
	}
}

// TestLateCanaryIsTold: `once`, which ends a canary too late, tells the receivers of it after that, and that it is over
// when the next one was caught in its time.
func TestLateCanaryIsTold(t *testing.T) {
	hook := webhooktest.NewReceiver(t)
	s := planting
	s.more += fmt.Sprintf("\nalerts: {notify: [{url: %q, events: [canary]}]}", hook.URL)
	a := newArena(t, s)
	ws := a.working(2)
	a.must("migrate")
	caught := func(slot string, late time.Duration) {
		a.Helper()
		a.once(0)
		a.later(time.Minute, ws...)
		a.once(0) // finds it
		a.sql(fmt.Sprintf("UPDATE sandkeeper.canaries SET slot = '%s', planted_at = planted_at - interval '%d seconds' WHERE "+
			"slot NOT LIKE 'past%%'", slot, int(late.Seconds())))
		a.later(2*time.Second, ws...)
		a.once(0) // ends it
	}
	caught("past-1", 20*time.Minute)
	a.hears(hook, "canary", "firing")
	if told := tellings(t, hook); len(told) != 1 || !strings.Contains(told[0].Text, "caught late, after 2") {
		t.Errorf("told %+v, want once that the canary was caught late", told)
	}
	caught("past-2", 0)
	a.hears(hook, "canary", "resolved")
	if told := tellings(t, hook); len(told) != 2 {
		t.Errorf("told %+v, want one of the late canary and that this is over", told)
	}
}

// TestCanaryAtE2B: where sandboxes have no names its label tells a canary, also one whose making was not answered.
func TestCanaryAtE2B(t *testing.T) {
	a := newE2BArena(t, planting)
	ws := a.working(2)
	a.must("migrate")
	lift := a.cloud.Inject(simulated.Fault{On: simulated.Create, Effect: simulated.DoneThenDrop})
	a.once(0)
	lift()
	planted := a.canaries()
	if len(planted) != 1 {
		t.Fatalf("planted %+v, want one", planted)
	}
	for range 2 {
		a.later(time.Minute, ws...)
		a.once(0)
	}
	if !a.ended(planted[0].ID) {
		t.Errorf("the canary is still there: %+v", a.cloud.Calls())
	}
	if _, out, _ := a.run("status"); !caughtIn.MatchString(out) {
		t.Errorf("status does not tell that the canary was caught:\n%s", out)
	}
	a.keeps(ws)
}

// TestCanaryIsNotPlanted: none while operators hold its end, none while one is there, and one that the provider refuses
// is told of and harms nothing.
func TestCanaryIsNotPlanted(t *testing.T) {
	a := newArena(t, planting)
	a.working(2)
	a.must("migrate")
	a.must("pause", "rule:orphan", "--reason", "drill", "--for", "1h")
	a.once(0)
	if n := len(a.canaries()); n != 0 {
		t.Fatalf("%d canaries were planted while orphan is paused", n)
	}
	a.must("resume", "rule:orphan", "--reason", "drill")
	lift := a.cloud.Inject(simulated.Fault{On: simulated.Create, Effect: simulated.Answer, Status: 403, Body: `{"message":"Forbidden resource"}`})
	a.once(0)
	lift()
	if _, out, _ := a.run("status"); !strings.Contains(out, "Canary: could not be made:") || !strings.Contains(out, "Forbidden resource") {
		t.Errorf("status does not tell why the canary failed:\n%s", out)
	}
	if out := a.must("metrics"); !strings.Contains(out, `sandkeeper_canary_failed{installation="test"} 1`) {
		t.Error("metrics do not tell that the canary failed")
	}
	a.sql("UPDATE sandkeeper.canaries SET slot = 'before', planted_at = planted_at - interval '1 hour'")
	a.once(0)
	a.sql("UPDATE sandkeeper.canaries SET slot = slot || '-before', planted_at = planted_at - interval '1 hour'")
	a.once(0)
	if n := len(a.canaries()); n != 1 {
		t.Errorf("%d canaries are there, want no second one beside the first", n)
	}
}
