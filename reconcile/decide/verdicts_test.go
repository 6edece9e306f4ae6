package decide

import (
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/worldtest"
)

// TestVerdicts: which findings rule, and for the first time. The cases are about task t1 that
// is past its deadline.
func TestVerdicts(t *testing.T) {
	const (
		ruled = "finding deadline-exceeded task:t1 first=5m due=yes "
		late  = "task t1 running started=1h timeout=10m ev.heartbeat=9s; box daytona/s1 running task=t1; "
	)
	for name, c := range map[string]struct {
		world string
		want  []string // rule, and observed when its rule may not act
	}{
		"found for the first time":            {late, []string{"deadline-exceeded"}},
		"not found":                           {"task t1 running started=1m ev.heartbeat=9s; box daytona/s1 running task=t1", nil},
		"found before, not due then":          {late + "finding deadline-exceeded task:t1 first=5m", []string{"deadline-exceeded"}},
		"ruled before":                        {late + ruled + "; verdict deadline-exceeded task:t1 ago=3m", nil},
		"ruled before, its remedy is planned": {late + ruled + "; action a1 deadline-exceeded task:t1 fail", nil},
		"only reported before": {
			"provider daytona id=yes; task t1 running started=1h ev.heartbeat=9s sandbox=s1; box daytona/s1 running task=t1; " +
				"box daytona/s2 running task=t1; finding duplicate task:t1 first=5m due=yes", []string{"duplicate"}},
		"ruled before, held by a budget": {late + ruled + `held="budget: per_pass 20"`, nil},
		"held by a freeze before":        {late + ruled + "held=tasks-untrusted", []string{"deadline-exceeded"}},
		"held by a freeze, and ruled before that": {
			late + ruled + "held=tasks-untrusted; verdict deadline-exceeded task:t1 ago=9m", nil},
		"resolved by a freeze, and ruled before that": {late + "verdict deadline-exceeded task:t1 ago=9m", nil},
		"ruled before, and came back to life": {
			late + "verdict deadline-exceeded task:t1 ago=9m regret=5m", []string{"deadline-exceeded"}},
		"ruled before, in another attempt": {
			late + "verdict deadline-exceeded task:t1 ago=9m attempts=1", []string{"deadline-exceeded"}},
		"held by a freeze now": {
			late + "source listing:daytona untrusted; source tasks untrusted; tasks standby", nil},
		"vetoed":                       {late + "task t1b running; task t9 running started=1h timeout=10m ev.finished=2m", []string{"deadline-exceeded"}},
		"observed":                     {"rule deadline-exceeded mode=observe; " + late, []string{"deadline-exceeded observed"}},
		"rolled out to none":           {"rule deadline-exceeded rollout=0; " + late, []string{"deadline-exceeded observed"}},
		"paused":                       {late + "pause all", []string{"deadline-exceeded"}},
		"held":                         {late + "hold task:t1", []string{"deadline-exceeded"}},
		"its remedy is to report":      {"rule deadline-exceeded remedy=report; " + late, nil},
		"observed before, armed since": {late + ruled + "held=observe", []string{"deadline-exceeded"}},
		"observed before, observed still": {
			"rule deadline-exceeded mode=observe; " + late + ruled + "held=observe", nil},
		"its remedy is under way": {late + "action a1 deadline-exceeded task:t1 fail claimed=1m", nil},
		"only the decisive one": {
			"rule heartbeat-lost mode=enforce; task t1 running started=1h timeout=10m ev.heartbeat=9m; " +
				"box daytona/s1 failed task=t1", []string{"heartbeat-lost"}},
		"it decides now, and another did before": {
			"task t1 running started=1h ev.heartbeat=9s; row t2 failed updated=1h; box daytona/s2 failed task=t2; " +
				"finding errored task:t2 first=5m due=yes; finding heartbeat-lost task:t2 first=5m due=yes; " +
				"rule finished-lingering mode=off", []string{"errored"}},
		"clean-up has verdicts too": {oneOrphan, []string{"orphan"}},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, v := range JudgeWorld(worldtest.NewWorld(t, worldtest.Anchor, c.world)).Verdicts {
				if v.Enforced {
					got = append(got, v.Rule)
				} else {
					got = append(got, v.Rule+" observed")
				}
			}
			if name == "vetoed" {
				got = slices.DeleteFunc(got, func(s string) bool { return s == "heartbeat-lost" })
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("verdicts = %q, want %q\nworld: %s", got, c.want, c.world)
			}
		})
	}
}

// TestVerdict: what a verdict keeps of its failure.
func TestVerdict(t *testing.T) {
	w := worldtest.NewWorld(t, "price daytona cents=10", "task t1 running started=1h timeout=10m ev.heartbeat=9s sandbox=s1 "+
		"attempts=2/3; worker 1.4.2 t1; box daytona/s1 running task=t1 template=gpu region=us created=2h")
	w.Only("deadline-exceeded")
	got := JudgeWorld(w).Verdicts
	if len(got) != 1 {
		t.Fatalf("%d verdicts, want one", len(got))
	}
	v := got[0]
	v.Signature, v.Reason, v.Began, v.Late = "", "", time.Time{}, 0
	want := reconcile.Verdict{Rule: "deadline-exceeded", Subject: "task:t1", Task: "t1", Provider: "daytona", Sandbox: "s1",
		Template: "gpu", Region: "us", Worker: "1.4.2", At: worldtest.LedgerNow, TaskAt: worldtest.TaskNow, Sign: worldtest.TaskNow.Add(-9 * time.Second),
		Attempt: (&reconcile.Task{Attempts: 2, Sandbox: "s1"}).Attempt(), Enforced: true, Cost: 0.2, PerHour: 0.1}
	if fmt.Sprintf("%+v", v) != fmt.Sprintf("%+v", want) {
		t.Errorf("verdict = %+v\n   want = %+v", v, want)
	}
}

// TestVerdictBySize: two leaks at one provider cost what sandboxes of their size do.
func TestVerdictBySize(t *testing.T) {
	w := worldtest.NewWorld(t, worldtest.Anchor, "price daytona cents=10; price daytona cents=40 cpu=4 gib=8",
		"box daytona/a running created=2h cpu=4 gib=8; box daytona/b running created=2h cpu=2 gib=8; "+
			"finding orphan sandbox:daytona/a first=10m last=2m sighted=2m sightings=3; "+
			"finding orphan sandbox:daytona/b first=10m last=2m sighted=2m sightings=3")
	got := map[string]float64{}
	for _, v := range JudgeWorld(w).Verdicts {
		got[v.Sandbox] = v.PerHour
	}
	if want := map[string]float64{"a": 0.4, "b": 0.1}; !maps.Equal(got, want) {
		t.Errorf("the leaks cost %v an hour, want %v", got, want)
	}
}

// TestLate: how long after its threshold a failure was found.
func TestLate(t *testing.T) {
	w := worldtest.NewWorld(t, worldtest.Anchor, "task w{1..3} running started=1h ev.heartbeat=9s; box daytona/w{1..3} running task=w{1..3}; "+
		"task t1 running started=1h ev.heartbeat=110s; box daytona/s1 running task=t1; probe daytona/s1 failed=10s; "+
		"probe daytona/w1 answered=10s")
	w.Only("heartbeat-lost")
	got := JudgeWorld(w).Verdicts
	if len(got) != 1 || got[0].Late != 20*time.Second || !got[0].Began.Equal(worldtest.LedgerNow.Add(-110*time.Second)) {
		t.Errorf("verdicts = %+v, want one that began 110s ago and is 20s late", got)
	}
}
