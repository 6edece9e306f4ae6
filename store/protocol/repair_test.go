package protocol

import (
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// step is a settled step of a rule's remedy on a task in a sandbox.
func step(s reconcile.Step, seq int, o reconcile.Outcome) reconcile.Action {
	return reconcile.Action{
		ID: "a", Remedy: "r", Seq: seq, Rule: "inactive", Task: "t", Provider: "daytona", Sandbox: "sb", Step: s, Outcome: o,
		Announce: true,
	}
}

func TestWhatASettledStepEnds(t *testing.T) {
	for name, tc := range map[string]struct {
		settled reconcile.Action
		want    End
	}{
		"a first step withdrawn ends all": {
			step(reconcile.StepFail, 0, reconcile.OutcomeWithdrawn), End{Why: "the first step was withdrawn"}},
		"a first quarantine withdrawn ends all": {
			step(reconcile.StepQuarantine, 0, reconcile.OutcomeWithdrawn), End{Why: "the first step was withdrawn"}},
		"a later quarantine withdrawn ends its sandbox's": {
			step(reconcile.StepQuarantine, 1, reconcile.OutcomeWithdrawn), End{"its quarantine was withdrawn", true}},
		"a later terminate withdrawn ends nothing": {step(reconcile.StepTerminate, 1, reconcile.OutcomeWithdrawn), End{}},
		"a failure ends all": {
			step(reconcile.StepTerminate, 1, reconcile.OutcomeFailed), End{Why: "the earlier step failed"}},
		"what was done ends nothing":     {step(reconcile.StepQuarantine, 0, reconcile.OutcomeDone), End{}},
		"what was accepted ends nothing": {step(reconcile.StepQuarantine, 1, reconcile.OutcomeAccepted), End{}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := EndsRemedy(tc.settled); got != tc.want {
				t.Errorf("EndsRemedy = %+v, want %+v", got, tc.want)
			}
		})
	}
}

// asked is a step that the provider was asked for.
func asked(a reconcile.Action) reconcile.Action {
	a.FirstActed = noon
	return a
}

func TestWhatASettledStepRepairsAndTells(t *testing.T) {
	for name, tc := range map[string]struct {
		settled                reconcile.Action
		repairs, fails, notice bool
	}{
		"a row failed":               {step(reconcile.StepFail, 0, reconcile.OutcomeDone), true, true, true},
		"a row set back to pending":  {step(reconcile.StepRequeue, 0, reconcile.OutcomeDone), true, true, true},
		"a row that was not written": {step(reconcile.StepFail, 0, reconcile.OutcomeWithdrawn), false, false, false},
		"a sandbox gone":             {asked(step(reconcile.StepTerminate, 1, reconcile.OutcomeConfirmed)), true, false, true},
		"a sandbox gone, unasked":    {step(reconcile.StepTerminate, 1, reconcile.OutcomeConfirmed), false, false, true},
		"a sandbox still there":      {step(reconcile.StepTerminate, 1, reconcile.OutcomeAccepted), false, false, false},
		"a sandbox stopped":          {step(reconcile.StepQuarantine, 1, reconcile.OutcomeDone), true, false, false},
		"a sandbox back":             {step(reconcile.StepResume, 0, reconcile.OutcomeDone), false, false, false},
		"a row restored":             {step(reconcile.StepRestore, 0, reconcile.OutcomeDone), false, false, true},
		"a template activated":       {step(reconcile.StepActivate, 0, reconcile.OutcomeConfirmed), false, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			_, notice := Notice(tc.settled, noon)
			if Repairs(tc.settled) != tc.repairs || Fails(tc.settled) != tc.fails || notice != tc.notice {
				t.Errorf("repairs %t, fails %t, notice %t, want %t, %t, %t", Repairs(tc.settled), Fails(tc.settled), notice,
					tc.repairs, tc.fails, tc.notice)
			}
			tc.settled.Rule = reconcile.RuleOperator
			if Repairs(tc.settled) {
				t.Error("what a person asked for carries out a verdict")
			}
			tc.settled.Task = ""
			if _, notice := Notice(tc.settled, noon); notice {
				t.Error("a notice of no task")
			}
			tc.settled.Task, tc.settled.Announce = "t", false
			if _, notice := Notice(tc.settled, noon); notice {
				t.Error("a notice that nobody asked for")
			}
		})
	}
}

func TestPause(t *testing.T) {
	for tried, want := range map[int]time.Duration{
		-1: 5 * time.Second, 0: 5 * time.Second, 1: 10 * time.Second, 6: 320 * time.Second, 7: 10 * time.Minute,
		8: 10 * time.Minute, 1 << 40: 10 * time.Minute,
	} {
		if got := Pause(tried); got != want {
			t.Errorf("Pause(%d) = %s, want %s", tried, got, want)
		}
	}
}

func TestGivenUp(t *testing.T) {
	for after, want := range map[time.Duration]bool{72*time.Hour - 1: false, 72 * time.Hour: true, -time.Hour: false} {
		if got := GivenUp(noon, noon.Add(after)); got != want {
			t.Errorf("GivenUp after %s = %t, want %t", after, got, want)
		}
	}
}

func TestQuantiles(t *testing.T) {
	upTo := func(n int) []time.Duration {
		var took []time.Duration
		for i := range n {
			took = append(took, time.Duration(n-i)*time.Second)
		}
		return took
	}
	for n, want := range map[int]reconcile.Quantiles{
		0:   {},
		1:   {Count: 1, P50: time.Second, P95: time.Second},
		2:   {Count: 2, P50: time.Second, P95: 2 * time.Second},
		20:  {Count: 20, P50: 10 * time.Second, P95: 19 * time.Second},
		21:  {Count: 21, P50: 11 * time.Second, P95: 20 * time.Second},
		100: {Count: 100, P50: 50 * time.Second, P95: 95 * time.Second},
	} {
		if got := Quantiles(upTo(n)); got != want {
			t.Errorf("Quantiles of 1s to %ds = %+v, want %+v", n, got, want)
		}
	}
}

// The clock of a later process may be behind: no time is negative.
func TestScoreOfAClockThatRanBack(t *testing.T) {
	s := Score(Facts{Ends: []Terminate{{
		Rule: RuleStop, Outcome: reconcile.OutcomeConfirmed, Began: noon.Add(time.Minute), FirstActed: noon.Add(time.Second),
		Ended: noon,
	}}})
	if s.GoneFast != 1 || s.StopsFast != 1 || s.StopGone.P95 != 0 {
		t.Errorf("scores = %+v, want all of them fast, in no time", s)
	}
}
