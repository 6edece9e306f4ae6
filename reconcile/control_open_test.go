package reconcile_test

import (
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// TestHoldsOfOpenActions: what keeps a step that was planned before from being carried out.
func TestHoldsOfOpenActions(t *testing.T) {
	cases := map[string]struct {
		mode reconcile.Mode
		none bool
		step reconcile.Step
		seq  int
		c    reconcile.Controls
		want string
	}{
		"nothing holds":           {mode: reconcile.Enforce, step: reconcile.StepTerminate},
		"a pause of all":          {mode: reconcile.Enforce, c: reconcile.Controls{Pauses: []reconcile.Pause{{Scope: "all", Author: "ana"}}}, want: "pause: all by ana"},
		"a pause of another rule": {mode: reconcile.Enforce, c: reconcile.Controls{Pauses: []reconcile.Pause{{Scope: "rule:errored"}}}},
		"a hold of its sandbox":   {mode: reconcile.Enforce, c: reconcile.Controls{Holds: []reconcile.Hold{{Target: "sandbox:sb-1"}}}, want: "hold: sandbox:sb-1"},
		"a hold of another":       {mode: reconcile.Enforce, c: reconcile.Controls{Holds: []reconcile.Hold{{Target: "sandbox:sb-2"}}}},
		"the config observes":     {mode: reconcile.Observe, want: "observe"},
		"an operator says so too": {mode: reconcile.Observe, c: reconcile.Controls{Modes: map[string]reconcile.Mode{"orphan": reconcile.Observe}}, want: "observe"},
		"the config says off":     {mode: reconcile.Off, want: "off"},
		"a rule that is not set":  {step: reconcile.StepTerminate},
		"no rows, a row's step":   {mode: reconcile.Enforce, none: true, step: reconcile.StepFail, want: "it rests on a row, and the config says `tasks: none`"},
		"no rows, a first end":    {mode: reconcile.Enforce, none: true, step: reconcile.StepTerminate},
		"no rows, a later end":    {mode: reconcile.Enforce, none: true, step: reconcile.StepTerminate, seq: 1, want: "it rests on a row, and the config says `tasks: none`"},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			p := reconcile.Policy{Tasks: reconcile.TasksPolicy{None: c.none}, Rules: map[string]reconcile.RulePolicy{}}
			if c.mode != "" {
				p.Rules["orphan"] = reconcile.RulePolicy{Mode: c.mode}
			}
			a := reconcile.Action{Rule: "orphan", Provider: "daytona", Sandbox: "sb-1", Step: c.step, Seq: c.seq}
			if got := strings.Join(p.Holds(&c.c, &a), "; "); got != c.want {
				t.Errorf("Holds = %q, want %q", got, c.want)
			}
		})
	}
}
