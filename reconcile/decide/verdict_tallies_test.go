package decide

import (
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
	w := worldtest.NewWorld(t, worldtest.Anchor, "price daytona cents=100; box daytona/a running created=2h; finding orphan sandbox:daytona/a first=10m last=2m sighted=2m sightings=3")
	j := JudgeWorld(w)
	sums := map[string]int64{}
	for _, c := range VerdictTallies(j.View, j.Decisions, j.Verdicts) {
		sums[c.Name] += c.Value
	}
	if len(j.Verdicts) != 1 {
		t.Fatalf("%d verdicts, want that of the orphan", len(j.Verdicts))
	}
	want := map[string]int64{reconcile.Leaks: 1, reconcile.LeakedMillis: 7_200_000, reconcile.LeakedMicros: 2_000_000}
	for name := range sums {
		if _, leak := want[name]; !leak {
			delete(sums, name)
		}
	}
	if diff := cmp.Diff(want, sums); diff != "" {
		t.Errorf("counted (-want +got):\n%s", diff)
	}
}
