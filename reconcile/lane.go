package reconcile

import (
	"context"
	"errors"
	"time"
)

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
type latestKey struct{}

// InLane is for calls of the lane.
func InLane(ctx context.Context, l Lane) context.Context { return context.WithValue(ctx, laneKey{}, l) }

// LaneOf is the lane of calls with this context.
func LaneOf(ctx context.Context) Lane {
	l, _ := ctx.Value(laneKey{}).(Lane)
	return l
}

// NotAfter is for calls that rest on what was seen a moment ago: none of them is begun later.
func NotAfter(ctx context.Context, at time.Time) context.Context {
	return context.WithValue(ctx, latestKey{}, at)
}

// TooLate is the error of a call that would be begun later than its [NotAfter]. Both clocks are asked: the monotonic
// one stands still while a machine sleeps, the other may be set.
func TooLate(ctx context.Context) error {
	at, limited := ctx.Value(latestKey{}).(time.Time)
	//guard:effect-late harm
	if now := time.Now(); limited && (now.After(at) || now.Round(0).After(at.Round(0))) {
		return errors.New("not begun: what it rests on was seen too long ago; this process stood still, or waited long")
	}
	return nil
}

// Sleep waits, and returns why the context ended where it ended before.
func Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
