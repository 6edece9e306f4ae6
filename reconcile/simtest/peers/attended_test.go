package peers

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/simtest"
	"github.com/sandkeeper/sandkeeper/reconcile/simtest/platform"
)

// manyLeaks come at once, so that a breaker opens.
func manyLeaks(t *testing.T) World {
	t.Helper()
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
	return World{Name: "many leaks", Script: s}
}

// TestAttended: what a breaker holds waits for ever where nobody comes, and goes when the operator came who sees that
// all of it is truly left over.
func TestAttended(t *testing.T) {
	w := manyLeaks(t)
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

// TestAttendedInPart: of what a breaker holds the operator releases what is truly wrong, and nothing else.
func TestAttendedInPart(t *testing.T) {
	var account *platform.Account
	spared := ""
	r := simtest.Run(t, manyLeaks(t).Level(), simtest.Options{Collect: true, Tail: time.Hour, Operator: operatorAfter,
		Begun: func(town *platform.Platform) { account = town.Account() },
		Wrong: func(subjects []string) bool {
			spared = reconcile.FirstOf(spared, subjects[0])
			return !slices.Contains(subjects, spared)
		}})
	if r.Err != nil {
		t.Fatal(r.Err)
	}
	var left []string
	for _, w := range account.Wrongs {
		if w.Deed < 0 {
			left = append(left, strings.Replace(w.Subject, "sandbox ", "sandbox:", 1))
		}
	}
	if len(account.Wrongs) != 14 || !slices.Equal(left, []string{spared}) {
		t.Errorf("of %d leaks these were left: %q, want of 14 the one that is none, %q", len(account.Wrongs), left, spared)
	}
}
