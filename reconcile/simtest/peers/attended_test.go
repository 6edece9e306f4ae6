package peers

import (
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile/simtest"
)

// TestAttended: what a breaker holds waits for ever where nobody comes, and goes when the operator came who sees that
// all of it is truly left over.
func TestAttended(t *testing.T) {
	s, err := simtest.Parse("many leaks", `seed 1
calm 40m
provider lab exclusive=yes
task t1 running work=9h age=1h
task t2 running work=9h age=1h
task t3 running work=9h age=1h
@5m platform leak 14 age=1h
`)
	if err != nil {
		t.Fatal(err)
	}
	w := World{Name: "many leaks", Script: s}
	for janitor, want := range map[string]int{Sandkeeper: 14, Attended: 0} {
		sum := Sum(janitor, []Outcome{Play(t, w, janitor, time.Hour)})
		if sum.Leaks.All != 14 || sum.Leaks.Missed != want || sum.FalseKills() > 0 {
			t.Errorf("%s: %d leaks, %d missed, %d false kills; want 14, %d, 0", janitor, sum.Leaks.All, sum.Leaks.Missed,
				sum.FalseKills(), want)
		}
		if janitor == Attended && sum.Leaks.Quantile(0) < operatorAfter {
			t.Errorf("the first leak went %s after it came, before the operator did", sum.Leaks.Quantile(0))
		}
	}
}
