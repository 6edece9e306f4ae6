package reconcile

import "context"

// A Lane says what calls to a provider are for. Where its rate is used up, a lower lane waits for a higher one: a pass
// that is held up by probes sees nothing, and nothing is repaired. None waits for ever.
type Lane int

// The lanes, the highest first.
const (
	LanePass   Lane = iota // listings and look-ups of a pass, and all that says nothing else
	LaneAction             // what is done, and what it rests on
	LaneProbe
	lanes
)

// Lanes is how many there are.
const Lanes = int(lanes)

type laneKey struct{}

// InLane is for calls of the lane.
func InLane(ctx context.Context, l Lane) context.Context { return context.WithValue(ctx, laneKey{}, l) }

// LaneOf is the lane of calls with this context.
func LaneOf(ctx context.Context) Lane {
	l, _ := ctx.Value(laneKey{}).(Lane)
	return l
}
