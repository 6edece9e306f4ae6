package serve

import (
	"context"
	"time"
)

// A seating has so many seats, and room for some more who wait for one for a while.
type seating struct {
	seats, room chan struct{}
	within      time.Duration
}

func newSeating(seats, waiting int, within time.Duration) *seating {
	return &seating{make(chan struct{}, seats), make(chan struct{}, seats+waiting), within}
}

// sit takes a seat, or waits for one while there is room and somebody waits for the answer. Who got one must rise.
func (s *seating) sit(ctx context.Context) bool {
	select {
	case s.room <- struct{}{}:
	default:
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, s.within)
	defer cancel()
	select {
	case s.seats <- struct{}{}:
		return true
	case <-ctx.Done():
		<-s.room
		return false
	}
}

func (s *seating) rise() { <-s.seats; <-s.room }
