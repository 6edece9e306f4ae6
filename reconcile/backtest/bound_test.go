package backtest

import (
	"math"
	"testing"
)

// TestUpper compares with values that were summed term by term.
func TestUpper(t *testing.T) {
	for _, c := range []struct {
		wrong, of int
		want      float64
	}{
		{0, 10, 0.258865550893}, {1, 10, 0.394163302437}, {5, 100, 0.102253377643}, {10, 100, 0.163717623276}, {9, 10, 0.994883803108}, {0, 149, 0.019904816221}, {3, 412, 0.018711231672}, {157, 412, 0.422183970014},
		{0, 0, 1}, {10, 10, 1}, {0, 1, .95},
	} {
		if got := Upper(c.wrong, c.of); math.Abs(got-c.want) > 1e-9 {
			t.Errorf("Upper(%d, %d) = %.12f, want %.12f", c.wrong, c.of, got, c.want)
		}
	}
	if got := Upper(20_000, 1_000_000); got < .02 || got > .0203 {
		t.Errorf("of a million, Upper = %f", got)
	}
}

// TestAllowed: one more would break the bound, and 148 tasks are too few for 2 %.
func TestAllowed(t *testing.T) {
	for of, want := range map[int]int{0: -1, 1: -1, 148: -1, 149: 0, 235: 0, 236: 1, 1000: 12} {
		got := Allowed(of, .02)
		if got != want {
			t.Errorf("Allowed(%d) = %d, want %d", of, got, want)
		}
		if got >= 0 && (Upper(got, of) > .02 || Upper(got+1, of) <= .02) {
			t.Errorf("Allowed(%d) = %d is no boundary", of, got)
		}
	}
}

func TestQuantile(t *testing.T) {
	s := spreadOf([]millis{5000, 1000, 4000, 2000, 3000})
	if s.P50.Seconds() != 3 || s.P99.Seconds() != 5 || s.Max.Seconds() != 5 {
		t.Errorf("spread = %+v", s)
	}
	if s := spreadOf(nil); s != (Spread{}) {
		t.Errorf("of nothing: %+v", s)
	}
}

// hourly are values that tasks showed, one an hour.
func hourly(values []millis) (out []measured) {
	for i, v := range values {
		out = append(out, measured{uint32(day0.Unix()) + 3600*uint32(i), v})
	}
	return out
}

func TestChanged(t *testing.T) {
	steady, turned := make([]millis, 400), make([]millis, 400)
	for i := range steady {
		steady[i] = millis(i * 7919 % 400)
		turned[i] = steady[i]
		if i >= 200 {
			turned[i] += 300
		}
	}
	if at := changed(hourly(steady)); at != 0 {
		t.Errorf("a steady history changed at %d", at)
	}
	if at := changed(hourly(turned)); at != 200 {
		t.Errorf("changed at %d, want 200", at)
	}
	if at := changed(hourly(turned[:60])); at != 0 {
		t.Errorf("few samples tell of a change at %d", at)
	}
}
