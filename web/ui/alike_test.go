package ui

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestAlike: sentences that differ in ids are one example.
func TestAlike(t *testing.T) {
	var of []string
	add := func(n int, reason string) {
		for i := range n {
			of = append(of, strings.ReplaceAll(reason, "%", fmt.Sprint(i)))
		}
	}
	add(40, "no task explains sb-%")
	add(2, "disk full")
	for _, word := range []string{"a", "b", "c", "d"} {
		add(1, word)
	}
	lines, more := Alike("reason", of, 5)
	want := []Repeated{{"No task explains sb-0.", 40, true}, {"Disk full.", 2, false}, {"A.", 1, false}, {"B.", 1, false}, {"C.", 1, false}}
	if diff := cmp.Diff(want, lines); diff != "" || more != "And 1 more reason." {
		t.Errorf("reasons (-want +got):\n%s%q", diff, more)
	}
}

func TestDollars(t *testing.T) {
	for usd, want := range map[float64]string{0: "", -1: "", 0.004: "less than $0.01", 0.01: "$0.01", 1234.567: "$1234.57"} {
		if got := Dollars(usd); got != want {
			t.Errorf("Dollars(%v) = %q, want %q", usd, got, want)
		}
	}
}
