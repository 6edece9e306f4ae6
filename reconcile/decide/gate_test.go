package decide

import (
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/worldtest"
)

// TestGate: in enforce a rule acts once it is proven here, by what and for which subjects.
func TestGate(t *testing.T) {
	const world = "task t1 assigned updated=1h template=gpu; find t1 none; rule assigned-stale after=3m; "
	const none = "held fail t1: unproven: not proven on your history: it was not held against it yet"
	const stale = "held fail t1: unproven: not proven on your history: its proof was made for another config, and is made again"
	goes := do("fail t1")
	testPlan(t, map[string]planCase{
		"nobody asks for a proof":                 {world, goes},
		"nothing is known":                        {world + "proof needed", []string{none}},
		"a backtest shows it":                     {world + "proof assigned-stale", goes},
		"what was observed shows it":              {world + "proof assigned-stale kind=observed", goes},
		"as many cases as are asked for":          {world + "proof assigned-stale samples=200", goes},
		"one case less":                           {world + "proof assigned-stale samples=199", []string{"held fail t1: unproven: proven on your history"}},
		"as many false positives as are allowed":  {world + "proof assigned-stale upper=2", goes},
		"a few more":                              {world + "proof assigned-stale upper=2.1", []string{"held fail t1: unproven: not proven on your history: 2.1 % of all"}},
		"a proof of another rule":                 {world + "proof orphan", []string{none}},
		"a proof for another config":              {world + "proof assigned-stale sum=x", []string{stale}},
		"the threshold changed after the proof":   {"proof assigned-stale; " + strings.ReplaceAll(world, "3m", "4m"), []string{stale}},
		"the proof is as old as it may be":        {world + "proof assigned-stale made=888h", goes},
		"it is older":                             {world + "proof assigned-stale made=888h1s", []string{"held fail t1: unproven: not proven on your history: its proof of 2026-01-23 14:59:59 UTC is too old"}},
		"the clock ran backwards since the proof": {world + "proof assigned-stale made=-1h", goes},
		"one kind shows it, the other does not":   {world + "proof assigned-stale upper=9; proof assigned-stale kind=observed", goes},
		"the subject's class shows it":            {world + "proof assigned-stale upper=9; proof assigned-stale class=template=gpu", goes},
		"another class shows it":                  {world + "proof assigned-stale upper=9; proof assigned-stale class=template=cpu", []string{"held fail t1: unproven: not proven on your history: 9 % of all"}},
		"the subject's class is clearly worse":    {world + "proof assigned-stale; proof assigned-stale class=template=gpu upper=60 lower=40", []string{"held fail t1: unproven: not proven on your history: 60 % of template=gpu"}},
		"it is not clearly worse":                 {world + "proof assigned-stale; proof assigned-stale class=template=gpu upper=12 lower=2 samples=30", goes},
		"an operator armed it":                    {world + "proof needed; arms assigned-stale", goes},
		"an operator armed another one":           {world + "proof needed; arms orphan", []string{none}},
		"it enforced before":                      {world + "proof needed; grace assigned-stale lasts=1s", goes},
		"its grace is over":                       {world + "proof needed; grace assigned-stale lasts=0s", []string{none}},
		"it only looks":                           {world + "proof needed; rule assigned-stale mode=observe", []string{"held fail t1: observe"}},
	})
}

// TestGateOfWhatIsUsed: that no event tells of use after the end does not prove a clean-up of which cases were followed
// and found to be used. A worker that lived says less of a rule whose rate is of all tasks.
func TestGateOfWhatIsUsed(t *testing.T) {
	const world = "row t1 completed updated=2h; box daytona/s1 running task=t1; rule finished-lingering after=1h; " +
		"proof finished-lingering; proof finished-lingering kind=observed samples=12 wrong="
	goes := do("terminate daytona/s1")
	testPlan(t, map[string]planCase{
		"most of them were used":   {world + "3 upper=50 lower=9", []string{"held terminate daytona/s1: unproven: not proven on your history: 50 % of all"}},
		"too few to say":           {world + "2 upper=50 lower=9", goes},
		"hardly any were":          {world + "3 upper=50 lower=2", goes},
		"an operator knows better": {world + "3 upper=50 lower=9; arms finished-lingering", goes},
		"a rule about workers": {"task t1 assigned updated=1h; find t1 none; rule assigned-stale after=3m; proof assigned-stale; " +
			"proof assigned-stale kind=observed samples=12 wrong=3 upper=50 lower=9", do("fail t1")},
	})
}

// TestUnprovenIsAVerdict: what an unproven rule would have done counts as observed, and rules anew once it is proven.
func TestUnprovenIsAVerdict(t *testing.T) {
	const world = "task t1 assigned updated=1h; find t1 none; rule assigned-stale after=3m; "
	for name, c := range map[string]struct {
		more              string
		verdicts, enforce int
	}{
		"held for the first time":              {"proof needed", 1, 0},
		"proven":                               {"proof assigned-stale", 1, 1},
		"held before, and still":               {"proof needed; finding assigned-stale task:t1 due=yes held=unproven:_not_proven", 0, 0},
		"held before, and proven now":          {"proof assigned-stale; finding assigned-stale task:t1 due=yes held=unproven:_not_proven", 1, 1},
		"only silence spoke for it before":     {"proof assigned-stale; finding assigned-stale task:t1 due=yes held=only_silence:_x", 1, 1},
		"held by silence, as it was once said": {"proof needed; finding assigned-stale task:t1 due=yes held=unproven:_its_probe_was_answered,_and_only_silence_speaks", 1, 0},
	} {
		t.Run(name, func(t *testing.T) {
			w := worldtest.NewWorld(t, worldtest.Anchor, world+c.more)
			for key, f := range w.S.Memory.Findings { // words of a line have no spaces
				for i := range f.HeldBy {
					f.HeldBy[i] = reconcile.ParseHeld(strings.ReplaceAll(f.HeldBy[i].String(), "_", " "))
				}
				w.S.Memory.Findings[key] = f
			}
			j, _ := PlanWorld(w)
			enforced := 0
			for _, v := range j.Verdicts {
				if v.Enforced {
					enforced++
				}
			}
			if len(j.Verdicts) != c.verdicts || enforced != c.enforce {
				t.Errorf("%d verdicts, %d of them enforced, want %d and %d: %+v", len(j.Verdicts), enforced, c.verdicts, c.enforce, j.Verdicts)
			}
		})
	}
}

// TestOnlyStopsByNow: an end that was planned before its rule was told to stop and never to end is not carried out.
func TestOnlyStopsByNow(t *testing.T) {
	for remedy, want := range map[string]bool{"stop": true, "terminate": false} {
		t.Run(remedy, func(t *testing.T) {
			j, _ := PlanWorld(worldtest.NewWorld(t, worldtest.Anchor, "rule orphan remedy="+remedy))
			a := &reconcile.Action{Rule: "orphan", Step: reconcile.StepTerminate, Subject: "sandbox:daytona/s1", Provider: "daytona",
				Sandbox: "s1"}
			if _, held := Holds(j.View, a, &Facts{Now: j.View.Now}).Of(reconcile.HeldOnlyReports); held != want {
				t.Errorf("its end is held: %v, want %v", held, want)
			}
		})
	}
}

// TestQuarantineEndIsGated: the end of a quarantine is a decision of its own, long after its verdict.
func TestQuarantineEndIsGated(t *testing.T) {
	w := worldtest.NewWorld(t, worldtest.Anchor, "proof needed")
	j, _ := PlanWorld(w)
	a := &reconcile.Action{Rule: "orphan", Step: reconcile.StepTerminate, Seq: 1, Subject: "sandbox:daytona/s1", Provider: "daytona",
		Sandbox: "s1", Evidence: []reconcile.Evidence{reconcile.AfterQuarantine(j.View.Now, 0)}}
	held := func(c reconcile.Controls) bool {
		_, held := Holds(j.View, a, &Facts{Now: j.View.Now, Controls: c}).Of(reconcile.HeldUnproven)
		return held
	}
	if !held(reconcile.Controls{}) {
		t.Error("the quarantine of an unproven rule ends by itself")
	}
	if held(reconcile.Controls{Arms: map[string]reconcile.Arm{"orphan": {}}}) {
		t.Error("the quarantine of an armed rule is held")
	}
}
