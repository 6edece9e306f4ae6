package main

import "testing"

// TestGarbageIsLeft: the larger what lives, the less of it is left lying about; but where it is known how large the heap
// gets in the end, nothing is collected before it is.
func TestGarbageIsLeft(t *testing.T) {
	for _, c := range []struct {
		live, expected uint64
		want           int
	}{
		{0, 0, 400}, {1 << 20, 0, 400}, {6 << 20, 0, 400}, {12 << 20, 0, 200}, {24 << 20, 0, 100}, {96 << 20, 0, 25},
		{4 << 30, 0, 25},
		{10 << 20, 90 << 20, 800}, {60 << 20, 90 << 20, 50}, {60 << 20, 61 << 20, 40}, {96 << 20, 90 << 20, 25},
	} {
		if got, _ := paceOf(c.live, c.expected); got != c.want {
			t.Errorf("%d MB live of %d: %d %%, want %d %%", c.live>>20, c.expected>>20, got, c.want)
		}
	}
	if _, heap := paceOf(24<<20, 0); heap != 48<<20 {
		t.Errorf("24 MB live and as much garbage are %d MB", heap>>20)
	}
	if _, heap := paceOf(24<<20, 90<<20); heap != 90<<20 {
		t.Errorf("24 MB live of 90 are %d MB at most, want all", heap>>20)
	}
}
