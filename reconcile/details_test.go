package reconcile

import "testing"

// TestBreakerLimit: by which limit a breaker holds is known again in what it says; where it says none, none is told.
func TestBreakerLimit(t *testing.T) {
	b := Breaker{Rule: "orphan", Subjects: []string{"sandbox:daytona/a", "sandbox:daytona/b"}, Hash: "h1"}
	by := HeldByBreaker(&b, 14, "10%")
	const says = "2 due of a fleet of 14 exceed 10%; release with: sandkeeper release orphan --hash h1"
	if by.Kind != HeldBreaker || by.Reason != says {
		t.Errorf("it holds as %+v, want %q", by, says)
	}
	for reason, want := range map[string]string{says: "2 due of a fleet of 14 exceed 10%",
		"2 due; release with: sandkeeper release orphan --hash h1": "", "": ""} {
		if got := BreakerLimit(Held{Kind: HeldBreaker, Reason: reason}); got != want {
			t.Errorf("%q: the limit is %q, want %q", reason, got, want)
		}
	}
	if got := BreakerLimit(Held{Kind: HeldHold, Reason: says}); got != "" {
		t.Errorf("a hold of an operator tells the limit %q", got)
	}
}
