package main

import "testing"

// TestGarbageIsLeft: the larger what lives, the less of it is left lying about.
func TestGarbageIsLeft(t *testing.T) {
	for _, c := range []struct {
		live uint64
		want int
	}{{0, 400}, {1 << 20, 400}, {12 << 20, 400}, {24 << 20, 200}, {48 << 20, 100}, {96 << 20, 50}, {4 << 30, 50}} {
		if got := percentOf(c.live); got != c.want {
			t.Errorf("%d MB live: %d %%, want %d %%", c.live>>20, got, c.want)
		}
	}
}
