package protocol

import (
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

var (
	oldKey = []byte(strings.Repeat("o", 32))
	newKey = []byte(strings.Repeat("n", 32))
	sealAt = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
)

func sealed(by Seals) reconcile.Action {
	ref := reconcile.Ref{Provider: "daytona", ID: "sb-1"}
	a := reconcile.AskTerminate(reconcile.RuleOperator, ref, "t", reconcile.AskOptions{})
	return by.SignAction(Requested(a, reconcile.Attribution{Author: "ana", Reason: "ticket 4711"}, sealAt))
}

func TestSignedRequests(t *testing.T) {
	key := Seals{Installation: "prod", Keys: [][]byte{oldKey}}
	tests := map[string]struct {
		by     Seals
		change func(*reconcile.Action)
		signed bool
	}{
		"as it was asked for":           {by: key, signed: true},
		"by a key that is rotated out":  {by: Seals{Installation: "prod", Keys: [][]byte{oldKey, newKey}}, signed: true},
		"by a key that is not known":    {by: Seals{Installation: "prod", Keys: [][]byte{newKey}}},
		"without a key":                 {by: Seals{Installation: "prod"}},
		"for another installation":      {by: Seals{Installation: "staging", Keys: [][]byte{oldKey}}},
		"with another id":               {by: key, change: func(a *reconcile.Action) { a.ID = "x" }},
		"with another remedy":           {by: key, change: func(a *reconcile.Action) { a.Remedy = "x" }},
		"with another place":            {by: key, change: func(a *reconcile.Action) { a.Seq = 1 }},
		"with another step":             {by: key, change: func(a *reconcile.Action) { a.Step = reconcile.StepQuarantine }},
		"of another rule":               {by: key, change: func(a *reconcile.Action) { a.Rule = reconcile.RuleEmergency }},
		"for another sandbox":           {by: key, change: func(a *reconcile.Action) { a.Sandbox = "sb-2" }},
		"at another provider":           {by: key, change: func(a *reconcile.Action) { a.Provider = "e2b" }},
		"for another subject":           {by: key, change: func(a *reconcile.Action) { a.Subject = "task:u" }},
		"for another task":              {by: key, change: func(a *reconcile.Action) { a.Task = "u" }},
		"also of running tasks":         {by: key, change: func(a *reconcile.Action) { a.Running = true }},
		"also without trust":            {by: key, change: func(a *reconcile.Action) { a.Anyway = true }},
		"without a share of the fleet":  {by: key, change: func(a *reconcile.Action) { a.RowOnly = true }},
		"with another row to write":     {by: key, change: func(a *reconcile.Action) { a.Before = &reconcile.RowBefore{} }},
		"by another author":             {by: key, change: func(a *reconcile.Action) { a.Author = "bob" }},
		"for another reason":            {by: key, change: func(a *reconcile.Action) { a.Reason = "ticket 4712" }},
		"later":                         {by: key, change: func(a *reconcile.Action) { a.PlannedAt = sealAt.Add(time.Second) }},
		"with a signature of no form":   {by: key, change: func(a *reconcile.Action) { a.Seal = "%" }},
		"with the start of a signature": {by: key, change: func(a *reconcile.Action) { a.Seal = a.Seal[:8] }},
		"claimed, and tried before":     {by: key, change: func(a *reconcile.Action) { a.Attempts = 3 }, signed: true},
		"with its time in another zone": {by: key, change: func(a *reconcile.Action) { a.PlannedAt = sealAt.Local() }, signed: true},
	}
	ledger := Seals{Installation: "prod", Keys: [][]byte{newKey, oldKey}}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if name == "by a key that is not known" {
				ledger.Keys = ledger.Keys[1:]
				defer func() { ledger.Keys = [][]byte{newKey, oldKey} }()
			}
			a := sealed(tt.by)
			if tt.change != nil {
				tt.change(&a)
			}
			got := ledger.Checked(a, sealAt).Unsigned
			if (got == "") != tt.signed {
				t.Errorf("unsigned = %q, want signed = %t", got, tt.signed)
			}
			if !tt.signed && (!strings.Contains(got, a.Author) || !strings.Contains(got, a.Reason)) {
				t.Errorf("unsigned = %q, want who is said to have asked, and why", got)
			}
			if off := (Seals{Installation: "prod"}).Checked(a, sealAt).Unsigned; off != "" {
				t.Errorf("without a key it is refused: %s", off)
			}
		})
	}
}

// What a pass plans needs no signature; what brings something back needs one, whatever rule the row
// names, and for a day.
func TestWhatNeedsASignature(t *testing.T) {
	key := Seals{Installation: "prod", Keys: [][]byte{oldKey}}
	pass := reconcile.Action{ID: "a", Remedy: "a", Rule: "orphan", Step: reconcile.StepTerminate}
	if why := key.Checked(pass, sealAt).Unsigned; why != "" {
		t.Errorf("what a pass planned is refused: %s", why)
	}
	for _, step := range []reconcile.Step{reconcile.StepResume, reconcile.StepRestore} {
		back := pass
		back.Step, back.PlannedAt = step, sealAt
		if why := key.Checked(back, sealAt).Unsigned; why == "" {
			t.Errorf("a %s of the rule orphan is done without a signature", step)
		}
		if why := key.Checked(key.SignAction(back), sealAt).Unsigned; why == "" {
			t.Errorf("a %s of the rule orphan is done: no operator asks for one", step)
		}
		back.Rule = reconcile.RuleOperator
		back = key.SignAction(back)
		for d, want := range map[time.Duration]bool{0: true, 24 * time.Hour: true, 24*time.Hour + 1: false, -time.Hour: true} {
			if why := key.Checked(back, sealAt.Add(d)).Unsigned; (why == "") != want {
				t.Errorf("a %s after %s: unsigned = %q, want signed = %t", step, d, why, want)
			}
		}
	}
}

// A mode is raised by who has the key, and by no old request that is written once more.
func TestModesNeedTheKeyToBeRaised(t *testing.T) {
	key := Seals{Installation: "prod", Keys: [][]byte{oldKey}}
	by := reconcile.Attribution{Author: "ana", Reason: "drill"}
	ask := func(mode reconcile.Mode, after time.Duration, sign bool) ModeRequest {
		m := ModeRequest{Attribution: by, Rule: "orphan", Mode: mode, At: sealAt.Add(after)}
		if sign {
			m.Seal = key.Sign(ModeOf(&m))
		}
		return m
	}
	for name, tt := range map[string]struct {
		asked []ModeRequest
		want  reconcile.Mode
		told  int
	}{
		"lowered unsigned":              {[]ModeRequest{ask("observe", 0, false)}, "observe", 0},
		"lowered further unsigned":      {[]ModeRequest{ask("observe", 0, false), ask("off", 1, false)}, "off", 0},
		"raised unsigned":               {[]ModeRequest{ask("off", 0, false), ask("observe", 1, false)}, "off", 1},
		"raised":                        {[]ModeRequest{ask("off", 0, false), ask("observe", 1, true)}, "observe", 0},
		"cleared unsigned":              {[]ModeRequest{ask("off", 0, false), ask(ModeConfig, 1, false)}, "off", 1},
		"cleared unsigned, then signed": {[]ModeRequest{ask("off", 0, false), ask(ModeConfig, 1, false), ask(ModeConfig, 2, true)}, "", 0},
		"cleared":                       {[]ModeRequest{ask("off", 0, false), ask(ModeConfig, 1, true)}, "", 0},
		"cleared by an old request":     {[]ModeRequest{ask("off", 5, false), ask(ModeConfig, 1, true)}, "off", 1},
		"given back to the config":      {[]ModeRequest{ask(ModeConfig, 1, false)}, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			c := reconcile.Controls{Modes: map[string]reconcile.Mode{}, Lowered: map[string]reconcile.Lowering{}}
			for _, m := range tt.asked {
				key.AddMode(&c, m)
			}
			if got := c.Modes["orphan"]; got != tt.want || len(c.Unsigned) != tt.told {
				t.Errorf("mode = %q, told %v; want %q and %d told", got, c.Unsigned, tt.want, tt.told)
			}
		})
	}
}
