package protocol

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// taken is the lease as if it had been taken so long after a minute before noon.
func taken(l reconcile.Lease, after time.Duration) reconcile.Lease {
	l.At = noon.Add(-time.Minute + after)
	return l
}

func TestTake(t *testing.T) {
	held := reconcile.Lease{Holder: "one", Epoch: 7, Until: noon}
	for name, tc := range map[string]struct {
		present reconcile.Lease
		holder  string
		now     time.Time
		want    int64 // epoch, 0 when refused
	}{
		"never taken":                  {reconcile.Lease{}, "two", noon, 1},
		"held by another until later":  {held, "two", noon.Add(-1), 0},
		"held by another until now":    {held, "two", noon, 8},
		"its own, still held":          {held, "one", noon.Add(-time.Hour), 8},
		"dropped":                      {reconcile.Lease{Epoch: 7, Until: noon}, "two", noon.Add(-1), 8},
		"the clock ran back since":     {held, "two", noon.Add(-24 * time.Hour), 0},
		"taken a little in the future": {taken(held, 5*time.Second), "two", noon.Add(-time.Minute), 0},
		"taken in a future that was undone": {
			taken(held, 5*time.Second+1), "two", noon.Add(-time.Minute), 8},
		"nobody cannot take it":            {reconcile.Lease{}, "", noon, 0},
		"nobody cannot take a dropped one": {reconcile.Lease{Epoch: 7}, "", noon, 0},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Take(tc.present, tc.holder, tc.now, time.Minute)
			if (err == nil) != (tc.want > 0) || got.Epoch != tc.want {
				t.Errorf("Take(%+v, %s) = %+v, %v, want epoch %d", tc.present, tc.holder, got, err, tc.want)
			}
		})
	}
}

func TestLiving(t *testing.T) {
	claimed := reconcile.Action{ClaimedBy: "one", ClaimEnds: noon}
	for name, tc := range map[string]struct {
		action            reconcile.Action
		claimEpoch, epoch int64
		now               time.Time
		want              bool
	}{
		"before its end":              {claimed, 3, 3, noon.Add(-1), true},
		"at its end":                  {claimed, 3, 3, noon, false},
		"of a lease taken over":       {claimed, 2, 3, noon.Add(-1), false},
		"free":                        {reconcile.Action{ClaimEnds: noon}, 3, 3, noon.Add(-1), false},
		"when the clock has run back": {claimed, 3, 3, noon.Add(-time.Hour), true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Living(tc.action, tc.claimEpoch, tc.epoch, tc.now); got != tc.want {
				t.Errorf("Living = %t, want %t", got, tc.want)
			}
		})
	}
}

func TestLaterStepWithoutItsFirstIsRefused(t *testing.T) {
	first := reconcile.Action{Seq: 0, Step: reconcile.StepFail, Outcome: reconcile.OutcomeDone}
	later := Request{Action: reconcile.Action{Seq: 1}}
	if err := later.Refuse(reconcile.Claim{}, noon); !errors.Is(err, reconcile.ErrHeld) {
		t.Errorf("without its first step: error = %v, want held", err)
	}
	later.Earlier = []reconcile.Action{first}
	if err := later.Refuse(reconcile.Claim{}, noon); err != nil {
		t.Errorf("with its first step done: error = %v, want none", err)
	}
}

// Results of one batch come to the same in every order.
func TestFoldDoesNotDependOnOrder(t *testing.T) {
	outcomes := []reconcile.ProbeOutcome{
		reconcile.Hung, reconcile.Hung, reconcile.Answered, reconcile.Infrastructure, reconcile.CannotStart, reconcile.Hung,
	}
	var results []reconcile.ProbeResult
	for i, o := range outcomes {
		results = append(results, reconcile.ProbeResult{Outcome: o, At: noon.Add(time.Duration(i) * time.Second)})
	}
	want := Fold(reconcile.ProbeSeen{}, results)
	if len(want.Failures) != 2 || !want.LastAnswered.Equal(noon.Add(2*time.Second)) || want.Last.At != results[5].At {
		t.Fatalf("Fold = %+v, want the two failures after the answer", want)
	}
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		shuffled := slices.Clone(results)
		random.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		if diff := cmp.Diff(want, Fold(reconcile.ProbeSeen{}, shuffled)); diff != "" {
			t.Fatalf("Fold of %v differs (-want +got):\n%s", shuffled, diff)
		}
	}
}

func TestFoldLeavesWhatItWasGiven(t *testing.T) {
	first := reconcile.ProbeResult{Outcome: reconcile.Hung, At: noon}
	seen := Fold(reconcile.ProbeSeen{}, []reconcile.ProbeResult{first})
	kept := slices.Clone(seen.Failures)
	for i := range 2 * LongestRun {
		Fold(seen, []reconcile.ProbeResult{{Outcome: reconcile.Hung, At: noon.Add(time.Duration(i) * time.Second)}})
	}
	if diff := cmp.Diff(kept, seen.Failures); diff != "" {
		t.Errorf("failures changed (-before +after):\n%s", diff)
	}
}

func TestSubject(t *testing.T) {
	for given, want := range map[string]Sought{
		"t-1":                  {"t-1", "t-1", reconcile.Ref{}},
		"task:t-1":             {"task:t-1", "t-1", reconcile.Ref{}},
		"daytona/sb":           {"daytona/sb", "daytona/sb", reconcile.Ref{Provider: "daytona", ID: "sb"}},
		"sandbox:daytona/sb":   {"sandbox:daytona/sb", "daytona/sb", reconcile.Ref{Provider: "daytona", ID: "sb"}},
		"sandbox:k8s/ns/pod-1": {"sandbox:k8s/ns/pod-1", "k8s/ns/pod-1", reconcile.Ref{Provider: "k8s", ID: "ns/pod-1"}},
		"":                     {},
	} {
		if got := Subject(given); got != want {
			t.Errorf("Subject(%q) = %+v, want %+v", given, got, want)
		}
	}
}

func TestBatchStaysInBounds(t *testing.T) {
	for wished, want := range map[int]int{
		-1: MostPurged, 0: MostPurged, 1: 1, MostPurged: MostPurged, MostPurged + 1: MostPurged,
	} {
		if got := Batch(wished); got != want {
			t.Errorf("Batch(%d) = %d, want %d", wished, got, want)
		}
	}
}
