package decide

import (
	"maps"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/worldtest"
)

// TestAges: how old the sandboxes of a whole listing are, and nothing of one that is not.
func TestAges(t *testing.T) {
	w := worldtest.NewWorld(t, worldtest.Anchor, "box daytona/a running task=t1 created=1m; box daytona/b running task=t2 created=2h; task t{1..2} running")
	got := JudgeWorld(w).Counts
	for key, want := range map[string]int{
		"age:daytona:60": 1, "age:daytona:3600": 2, "age:daytona:10800": 3, "age:daytona:+Inf": 3, "ages:daytona": 10_860,
	} {
		if got[key] != want {
			t.Errorf("%s = %d, want %d", key, got[key], want)
		}
	}
	w.S.Kind = reconcile.Quick
	if n, there := JudgeWorld(w).Counts["age:daytona:+Inf"]; there {
		t.Errorf("a quick pass counts %d ages", n)
	}
}

// TestVerdictTallies: a leak counts from its beginning to the verdict, with what it cost; how late a verdict
// comes is counted where its beginning is known.
func TestVerdictTallies(t *testing.T) {
	for name, c := range map[string]struct {
		world          string
		millis, micros int64
	}{
		"an orphan": {"box daytona/a running created=2h; " +
			"finding orphan sandbox:daytona/a first=10m last=2m sighted=2m sightings=3", 7_200_000, 2_000_000},
		"one whose task ended an hour and a half ago": {
			"row t1 completed updated=90m; box daytona/a running created=9h task=t1 active=90m", 5_400_000, 1_500_000},
		"one that is younger than the end of its task": {
			"row t1 completed updated=9h; box daytona/a running created=2h task=t1 active=2h", 7_200_000, 2_000_000},
	} {
		w := worldtest.NewWorld(t, worldtest.Anchor, "price daytona cents=100; "+c.world)
		j := JudgeWorld(w)
		sums := map[string]int64{}
		for _, c := range VerdictTallies(j.View, j.Decisions, j.Verdicts) {
			sums[c.Name] += c.Value
		}
		if len(j.Verdicts) != 1 {
			t.Fatalf("%s: %d verdicts, want one", name, len(j.Verdicts))
		}
		want := map[string]int64{reconcile.Leaks: 1, reconcile.LeakedMillis: c.millis, reconcile.LeakedMicros: c.micros}
		maps.DeleteFunc(sums, func(name string, _ int64) bool { return want[name] == 0 })
		if diff := cmp.Diff(want, sums); diff != "" {
			t.Errorf("%s: counted (-want +got):\n%s", name, diff)
		}
	}
}
