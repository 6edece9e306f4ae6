package main

import (
	"testing"
	"time"
)

// TestGarbageIsLeft: the larger what lives, the less of it is left lying about; but where it is known how large the heap
// gets in the end, nothing is collected before it is.
func TestGarbageIsLeft(t *testing.T) {
	for _, c := range []struct {
		live, spare, expected uint64
		want                  int
	}{
		{0, spareBytes, 0, 400}, {1 << 20, spareBytes, 0, 400}, {6 << 20, spareBytes, 0, 400},
		{12 << 20, spareBytes, 0, 200}, {24 << 20, spareBytes, 0, 100}, {96 << 20, spareBytes, 0, 25},
		{4 << 30, spareBytes, 0, 25},
		{10 << 20, spareBytes, 90 << 20, 800}, {60 << 20, spareBytes, 90 << 20, 50}, {60 << 20, spareBytes, 61 << 20, 40},
		{96 << 20, spareBytes, 90 << 20, 25},
		{1 << 20, restBytes, 0, 400}, {60 << 20, restBytes, 0, 6}, {4 << 30, restBytes, 0, 4},
	} {
		if got, _ := paceOf(c.live, c.spare, c.expected); got != c.want {
			t.Errorf("%d MB live of %d: %d %%, want %d %%", c.live>>20, c.expected>>20, got, c.want)
		}
	}
	if _, heap := paceOf(24<<20, spareBytes, 0); heap != 48<<20 {
		t.Errorf("24 MB live and as much garbage are %d MB", heap>>20)
	}
	if _, heap := paceOf(24<<20, spareBytes, 90<<20); heap != 90<<20 {
		t.Errorf("24 MB live of 90 are %d MB at most, want all", heap>>20)
	}
}

// TestGarbageAtRest: where collections are far between, less garbage may lie about, but in a process that ends with one
// pass: it gives nothing back before.
func TestGarbageAtRest(t *testing.T) {
	for _, c := range []struct {
		ago    time.Duration
		ending bool
		want   uint64
		soon   bool
	}{
		{0, false, spareBytes, true}, {restsAfter - 1, false, spareBytes, true}, {restsAfter, false, restBytes, false},
		{time.Hour, false, restBytes, false}, {0, true, spareBytes, true}, {time.Hour, true, spareBytes, false},
	} {
		if spare, soon := spareOf(c.ago, c.ending); spare != c.want || soon != c.soon {
			t.Errorf("%s after the last collection, ending %t: %d MB, soon %t", c.ago, c.ending, spare>>20, soon)
		}
	}
}
