package protocol

import (
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// How places for calls are given out.
const (
	// Late is how long after its time a place may still be used. What was not used by then
	// is dropped, so that an idle process saves nothing up for a burst.
	Late = 250 * time.Millisecond
	// Resumed is how long ago a line may have ended that goes on where it ended: its next places are late, as any may
	// be, and none is lost while a process asks for them.
	Resumed = Late / 5
	// MostAhead is how far ahead a place may be. Who would wait longer is refused.
	MostAhead = 30 * time.Second
)

// Lead is how far ahead a lane may take places, after it has waited for so long for one. A pass takes them as far ahead
// as anybody may. The lower lanes wait for a short line, so that a pass finds it short: at its tenth second a probe
// joins a line of a second, and is not starved.
func Lead(l reconcile.Lane, waited time.Duration, perSecond float64) time.Duration {
	lead := MostAhead
	switch l {
	case reconcile.LaneAction:
		lead = max(Late/2, 2*Gap(perSecond)) + waited/5
	case reconcile.LaneProbe:
		lead = max(Late/5, Gap(perSecond)) + waited/10
	}
	return min(lead, MostAhead)
}

// Slots are places for calls that one process has reserved, evenly spaced. Their times are
// its own: of the moment when it learned of them, so never too early.
type Slots struct {
	First time.Time
	Left  int
	Gap   time.Duration
}

// Drop leaves out the places that it is too late for and reports whether there were any.
func (s Slots) Drop(now time.Time) (Slots, bool) {
	late := now.Add(-Late).Sub(s.First)
	if s.Left == 0 || late <= 0 {
		return s, false
	}
	gone := s.Left
	if s.Gap > 0 {
		gone = int(min((late+s.Gap-1)/s.Gap, time.Duration(s.Left)))
	}
	return s.after(gone), true
}

// Take uses the first place.
func (s Slots) Take() Slots { return s.after(min(1, s.Left)) }

func (s Slots) after(n int) Slots {
	s.First, s.Left = s.First.Add(time.Duration(n)*s.Gap), s.Left-n
	return s
}

// Gap is the time between two calls at a rate.
func Gap(perSecond float64) time.Duration {
	return time.Duration(float64(time.Second) / perSecond)
}

// Chunk is how many places to reserve at once: as many as wait for one, and twice as many
// as the last time when none of those was wasted; never more than Late at this rate,
// because others want their turn as well, and never more than the lead of a lane.
func Chunk(last, waiting int, wasted bool, perSecond float64, lead time.Duration) int {
	size := max(2*last, waiting)
	if wasted {
		size = max(1, waiting)
	}
	most := int(perSecond * min(Late, lead).Seconds())
	return max(1, min(size, most))
}
