package main

import "testing"

// TestGarbageIsLeft: the larger what lives, the less of it is left lying about.
func TestGarbageIsLeft(t *testing.T) {
	for _, c := range []struct {
		live uint64
		want int
	}{{0, 400}, {1 << 20, 400}, {6 << 20, 400}, {12 << 20, 200}, {24 << 20, 100}, {96 << 20, 25}, {4 << 30, 25}} {
		if got := percentOf(c.live); got != c.want {
			t.Errorf("%d MB live: %d %%, want %d %%", c.live>>20, got, c.want)
		}
	}
}
