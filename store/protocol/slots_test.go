package protocol

import (
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

func TestSlotsDrop(t *testing.T) {
	const gap = 50 * time.Millisecond
	five := Slots{First: noon, Left: 5, Gap: gap}
	for name, tc := range map[string]struct {
		slots   Slots
		after   time.Duration
		left    int
		first   time.Duration
		dropped bool
	}{
		"before their time all are there":  {five, -time.Second, 5, 0, false},
		"as late as may be":                {five, Late, 5, 0, false},
		"a moment later the first is gone": {five, Late + 1, 4, gap, true},
		"one gap later, still one":         {five, Late + gap, 4, gap, true},
		"and then the second":              {five, Late + gap + 1, 3, 2 * gap, true},
		"after an hour all are gone":       {five, time.Hour, 0, 5 * gap, true},
		"none are none":                    {Slots{}, time.Hour, 0, 0, false},
		"without a gap all go at once":     {Slots{First: noon, Left: 3}, Late + 1, 0, 0, true},
	} {
		t.Run(name, func(t *testing.T) {
			got, dropped := tc.slots.Drop(noon.Add(tc.after))
			if got.Left != tc.left || dropped != tc.dropped {
				t.Errorf("Drop left %d, dropped %t, want %d, %t", got.Left, dropped, tc.left, tc.dropped)
			}
			if tc.slots.Left > 0 && !got.First.Equal(noon.Add(tc.first)) {
				t.Errorf("first place %s after noon, want %s", got.First.Sub(noon), tc.first)
			}
		})
	}
}

func TestSlotsTake(t *testing.T) {
	s := Slots{First: noon, Left: 2, Gap: time.Second}
	if s = s.Take(); s.Left != 1 || !s.First.Equal(noon.Add(time.Second)) {
		t.Errorf("after one = %+v, want one a second later", s)
	}
	if s = s.Take().Take(); s.Left != 0 {
		t.Errorf("after three of two = %+v, want none", s)
	}
}

// In any second, whatever is dropped and whatever is taken late, there are no more calls
// than the rate and the burst allow.
func TestSlotsKeepTheRate(t *testing.T) {
	const perSecond = 20
	var calls []time.Time
	next, now := noon, noon
	slots := Slots{}
	for i := range 4000 {
		pause := time.Duration(i*i%97) * time.Millisecond
		now = now.Add(pause / 4)
		if slots, _ = slots.Drop(now); slots.Left == 0 {
			if next.Before(now) {
				next = now
			}
			slots = Slots{First: next, Left: Chunk(8, 1, false, perSecond, MostAhead), Gap: Gap(perSecond)}
			next = next.Add(time.Duration(slots.Left) * slots.Gap)
		}
		if now.Before(slots.First) {
			now = slots.First
		}
		calls, slots = append(calls, now), slots.Take()
	}
	const most = perSecond + perSecond/4 + 1
	for i := range calls[most:] {
		if span := calls[i+most].Sub(calls[i]); span < time.Second {
			t.Fatalf("calls %d to %d are %s apart, want no more than %d in a second", i, i+most, span, most)
		}
	}
}

func TestChunk(t *testing.T) {
	for name, tc := range map[string]struct {
		last, waiting int
		wasted        bool
		perSecond     float64
		want          int
	}{
		"the first":                          {0, 1, false, 20, 1},
		"one that was used up doubles":       {2, 1, false, 20, 4},
		"up to a quarter of a second":        {4, 1, false, 20, 5},
		"one that was wasted begins anew":    {4, 1, true, 20, 1},
		"as many as wait, wasted or not":     {1, 4, true, 20, 4},
		"though a thousand wait":             {1, 1000, false, 20, 5},
		"a slow rate gives one":              {8, 9, false, 0.1, 1},
		"a rate of four a second gives one":  {8, 9, false, 4, 1},
		"a rate of eight a second gives two": {8, 9, false, 8, 2},
	} {
		if got := Chunk(tc.last, tc.waiting, tc.wasted, tc.perSecond, MostAhead); got != tc.want {
			t.Errorf("%s: Chunk = %d, want %d", name, got, tc.want)
		}
	}
}

// TestLead: a lower lane waits for a shorter line, longer the longer it has waited, and none waits for ever.
func TestLead(t *testing.T) {
	for name, test := range map[string]struct {
		lane      reconcile.Lane
		waited    time.Duration
		perSecond float64
		want      time.Duration
	}{
		"a pass":                          {reconcile.LanePass, 0, 50, MostAhead},
		"an action":                       {reconcile.LaneAction, 0, 50, 125 * time.Millisecond},
		"an action at a slow rate":        {reconcile.LaneAction, 0, 4, 500 * time.Millisecond},
		"an action that waited":           {reconcile.LaneAction, 10 * time.Second, 50, 2125 * time.Millisecond},
		"a probe":                         {reconcile.LaneProbe, 0, 50, 50 * time.Millisecond},
		"a probe at a slow rate":          {reconcile.LaneProbe, 0, 4, 250 * time.Millisecond},
		"a probe that waited":             {reconcile.LaneProbe, 10 * time.Second, 50, 1050 * time.Millisecond},
		"a probe that waited for minutes": {reconcile.LaneProbe, 5 * time.Minute, 50, MostAhead},
	} {
		if got := Lead(test.lane, test.waited, test.perSecond); got != test.want {
			t.Errorf("%s: Lead = %s, want %s", name, got, test.want)
		}
	}
	if got := Chunk(64, 64, false, 200, 50*time.Millisecond); got != 10 {
		t.Errorf("Chunk of a lane with a lead of 50ms at 200/s = %d, want 10", got)
	}
}
