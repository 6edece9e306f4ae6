package run_test

import (
	"cmp"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// TestHoldsOfOpenActions: what keeps a step that was planned before from being carried out.
func TestHoldsOfOpenActions(t *testing.T) {
	held := reconcile.Controls{Holds: []reconcile.Hold{{Target: "sandbox:sb-1"}}}
	ailing := reconcile.Controls{Incidents: []reconcile.Incident{
		{ID: "i-1", Signature: "s1"}, {ID: "i-3", Signature: "s3", ReleasedAt: time.Unix(1, 0)}}}
	cases := map[string]struct {
		mode reconcile.Mode
		none bool
		step reconcile.Step
		seq  int
		c    reconcile.Controls
		a    reconcile.Action // further
		want string
	}{
		"nothing holds":               {mode: reconcile.Enforce, step: reconcile.StepTerminate},
		"a pause of all":              {mode: reconcile.Enforce, c: reconcile.Controls{Pauses: []reconcile.Pause{{Scope: "all", Author: "ana"}}}, want: "pause: all by ana"},
		"a pause of another rule":     {mode: reconcile.Enforce, c: reconcile.Controls{Pauses: []reconcile.Pause{{Scope: "rule:errored"}}}},
		"a hold of its sandbox":       {mode: reconcile.Enforce, c: reconcile.Controls{Holds: []reconcile.Hold{{Target: "sandbox:sb-1"}}}, want: "hold: sandbox:sb-1"},
		"a hold of another":           {mode: reconcile.Enforce, c: reconcile.Controls{Holds: []reconcile.Hold{{Target: "sandbox:sb-2"}}}},
		"the config observes":         {mode: reconcile.Observe, want: "observe"},
		"an operator says so too":     {mode: reconcile.Observe, c: reconcile.Controls{Modes: map[string]reconcile.Mode{"orphan": reconcile.Observe}}, want: "observe"},
		"the config says off":         {mode: reconcile.Off, want: "off"},
		"a rule that is not set":      {step: reconcile.StepTerminate},
		"no rows, a row's step":       {mode: reconcile.Enforce, none: true, step: reconcile.StepFail, want: "it rests on a row, and the config says `tasks: none`"},
		"no rows, a first end":        {mode: reconcile.Enforce, none: true, step: reconcile.StepTerminate},
		"no rows, a later end":        {mode: reconcile.Enforce, none: true, step: reconcile.StepTerminate, seq: 1, a: reconcile.Action{Subject: "task:t1"}, want: "it rests on a row, and the config says `tasks: none`"},
		"no rows, a quarantine's end": {mode: reconcile.Enforce, none: true, step: reconcile.StepTerminate, seq: 1, a: reconcile.Action{Subject: "sandbox:daytona/sb-1"}},
		"no rows, an activation":      {mode: reconcile.Enforce, none: true, step: reconcile.StepActivate, a: reconcile.Action{Subject: "template:daytona/light"}},

		"an incident of it, an end":          {mode: reconcile.Enforce, step: reconcile.StepTerminate, c: ailing, a: reconcile.Action{Signature: "s1"}, want: "incident: i-1"},
		"an incident of it, a later end":     {mode: reconcile.Enforce, step: reconcile.StepTerminate, seq: 1, c: ailing, a: reconcile.Action{Signature: "s1"}, want: "incident: i-1"},
		"an incident of it, a quarantine":    {mode: reconcile.Enforce, step: reconcile.StepQuarantine, c: ailing, a: reconcile.Action{Signature: "s1"}, want: "incident: i-1"},
		"an incident of it, a row's failure": {mode: reconcile.Enforce, step: reconcile.StepFail, c: ailing, a: reconcile.Action{Signature: "s1"}},
		"an incident of another signature":   {mode: reconcile.Enforce, step: reconcile.StepTerminate, c: ailing, a: reconcile.Action{Signature: "s2"}},
		"an incident, clean-up":              {mode: reconcile.Enforce, step: reconcile.StepTerminate, c: ailing},
		"an incident that was released":      {mode: reconcile.Enforce, step: reconcile.StepTerminate, c: ailing, a: reconcile.Action{Signature: "s3"}},

		"a person asked, the incident":  {step: reconcile.StepTerminate, c: ailing, a: reconcile.Action{Rule: reconcile.RuleOperator, Signature: "s1"}},
		"a person asked, a rule is off": {mode: reconcile.Off, step: reconcile.StepTerminate, a: reconcile.Action{Rule: reconcile.RuleEmergency}},
		"a person asked, a pause":       {step: reconcile.StepTerminate, c: reconcile.Controls{Pauses: []reconcile.Pause{{Scope: "provider:daytona"}}}, a: reconcile.Action{Rule: reconcile.RuleEmergency}, want: "pause: provider:daytona"},
		"a person asked, a hold":        {step: reconcile.StepTerminate, c: held, a: reconcile.Action{Rule: reconcile.RuleOperator}, want: "hold: sandbox:sb-1"},
		"a return, a hold":              {step: reconcile.StepResume, c: held, a: reconcile.Action{Rule: reconcile.RuleOperator}},
		"a return, a pause":             {step: reconcile.StepResume, c: reconcile.Controls{Pauses: []reconcile.Pause{{Scope: "all"}}}, a: reconcile.Action{Rule: reconcile.RuleOperator}, want: "pause: all"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			p := reconcile.Policy{Tasks: reconcile.TasksPolicy{None: c.none}, Rules: map[string]reconcile.RulePolicy{}}
			if c.mode != "" {
				p.Rules["orphan"] = reconcile.RulePolicy{Mode: c.mode}
			}
			a := c.a
			a.Rule = cmp.Or(a.Rule, "orphan")
			a.Provider, a.Sandbox, a.Step, a.Seq = "daytona", "sb-1", c.step, c.seq
			if got := p.Holds(&c.c, &a).String(); got != c.want {
				t.Errorf("Holds = %q, want %q", got, c.want)
			}
		})
	}
}
