package web

import (
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/web/ui"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/web/webtest"
)

func TestStandstill(t *testing.T) {
	planned := reconcile.Action{ID: "a", Remedy: "a", Rule: "orphan", Subject: "sandbox:daytona/sb-1", Provider: "daytona", Sandbox: "sb-1",
		Step: reconcile.StepTerminate, Outcome: reconcile.OutcomePending, PlannedAt: webtest.Ago(10 * time.Second)}
	pause := reconcile.Controls{Pauses: []reconcile.Pause{{Scope: "all", Reason: "drill", Author: "ana"}}}
	cases := map[string]struct {
		change func(*reconcile.Action)
		c      reconcile.Controls
		want   string
	}{
		"planned a moment ago":                    {},
		"planned a minute ago":                    {change: func(a *reconcile.Action) { a.PlannedAt = webtest.Ago(time.Minute) }},
		"planned longer ago":                      {change: func(a *reconcile.Action) { a.PlannedAt = webtest.Ago(time.Minute + 1) }, want: "not begun for 1m"},
		"planned under a clock that was set back": {change: func(a *reconcile.Action) { a.PlannedAt = webtest.Noon.Add(time.Hour) }},
		"tried, and again in a minute": {change: func(a *reconcile.Action) {
			a.Attempts, a.NextAttempt = 6, webtest.Noon.Add(time.Minute)
		}},
		"tried, and again later": {change: func(a *reconcile.Action) {
			a.Attempts, a.NextAttempt = 6, webtest.Noon.Add(time.Minute+1)
		}, want: "failed 6 times, tried again at 12:01 UTC"},
		"refused": {change: func(a *reconcile.Action) {
			a.Attempts, a.NextAttempt, a.How = 6, webtest.Noon.Add(time.Hour), reconcile.HowRefused
		}, want: "refused by the provider, tried again at 13:00 UTC"},
		"its turn came and nobody took it": {change: func(a *reconcile.Action) {
			a.Attempts, a.PlannedAt, a.NextAttempt = 1, webtest.Ago(time.Hour), webtest.Ago(2*time.Minute)
		}, want: "tried once, not worked at for 2m"},
		"its turn came just now": {change: func(a *reconcile.Action) {
			a.Attempts, a.PlannedAt, a.NextAttempt = 1, webtest.Ago(time.Hour), webtest.Ago(time.Minute)
		}},
		"claimed": {change: func(a *reconcile.Action) {
			a.PlannedAt, a.ClaimedBy, a.ClaimEnds = webtest.Ago(time.Hour), "a", webtest.Noon.Add(1)
		}, c: pause},
		"begun, then paused": {change: func(a *reconcile.Action) { a.Attempts = 1 }, c: pause, want: "held by a pause of ana: drill"},
		"begun, then lowered": {change: func(a *reconcile.Action) { a.Attempts = 1 },
			c: reconcile.Controls{Modes: map[string]reconcile.Mode{"orphan": reconcile.Observe}}, want: "held because the rule only observes"},
		"held by another's hold": {c: reconcile.Controls{Holds: []reconcile.Hold{{Target: "sandbox:sb-2", Author: "ben"}}}},
		"held":                   {c: reconcile.Controls{Holds: []reconcile.Hold{{Target: "sandbox:sb-1", Author: "ben"}}}, want: "held by ben"},
		"accepted long ago": {change: func(a *reconcile.Action) {
			a.Outcome, a.PlannedAt = reconcile.OutcomeAccepted, webtest.Ago(time.Hour)
		}, c: pause},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			a := planned
			if c.change != nil {
				c.change(&a)
			}
			s := sceneOf(webtest.With(webtest.Healthy(), func(o *reconcile.Overview) { o.Open, o.Controls = []reconcile.Action{a}, c.c }))
			f := reconcile.FindingSeen{Finding: reconcile.Finding{Rule: "orphan", Subject: a.Subject, Due: true}}
			wantState, wantLevel := underWay, ui.Busy
			if c.want != "" {
				wantState, wantLevel = stalled, ui.Warn
			}
			if got := s.steps.still["a"]; got != c.want || s.states.of(&f) != wantState {
				t.Errorf("standstill = %q, state %s; want %q, %s", got, s.states.of(&f), c.want, wantState)
			}
			if got, _ := s.steps.outcome(&a); a.Outcome == reconcile.OutcomePending && got != wantLevel {
				t.Errorf("outcome has level %s, want %s", got, wantLevel)
			}
		})
	}
}

// TestFollowersWait: the later steps of a remedy are not under way while the first one waits.
func TestFollowersWait(t *testing.T) {
	o := webtest.With(webtest.Healthy(), func(o *reconcile.Overview) {
		for i, remedy := range []string{"a", "a", "b", "b"} {
			o.Open = append(o.Open, reconcile.Action{ID: remedy + string(rune('0'+i)), Remedy: remedy, Seq: i % 2, Rule: "orphan",
				Step: reconcile.StepTerminate, Outcome: reconcile.OutcomePending, PlannedAt: webtest.Ago(time.Second)})
		}
		o.Open[0].Attempts, o.Open[0].NextAttempt = 3, webtest.Noon.Add(5*time.Minute)
		o.OpenTotal = 4
	})
	want := "2 repair steps wait, the oldest: failed 3 times, tried again at 12:05 UTC. 2 more are under way."
	if got := judge(sceneOf(o)); got.Sentence != want || got.Level != ui.Warn {
		t.Errorf("judge = %s %q, want %q", got.Level, got.Sentence, want)
	}
	o.Open, o.OpenTotal = o.Open[2:], 2
	if got := judge(sceneOf(o)); got.Word != "Repairing" {
		t.Errorf("judge = %q %q, want Repairing", got.Word, got.Sentence)
	}
}
