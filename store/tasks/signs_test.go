package tasks

import (
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// However readings follow one another, each event that comes no later than a minute after its time is heard: at once
// where it comes soon, else by a reading a few seconds later. No reading between hears a minute.
func TestEachEventIsHeard(t *testing.T) {
	began := time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC)
	short := 0
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 1))
		s, now := newSigns(), began
		s.heardUpTo(now, true)
		type event struct{ at, seen, heard time.Time }
		var events []event
		for range 60 {
			step := time.Duration(200+r.IntN(3000)) * time.Millisecond
			for range 5 {
				seen := now.Add(time.Duration(r.Int64N(int64(step))))
				events = append(events, event{at: seen.Add(-time.Duration(r.Int64N(int64(signsLate)))), seen: seen})
			}
			now = now.Add(step)
			from, all := s.since(now, r.IntN(20) > 0)
			for i := range events {
				if e := &events[i]; e.heard.IsZero() && e.at.After(from) {
					e.heard = now
				}
			}
			if !all {
				short++
				if from.Before(s.upTo.Add(-signsSoon)) {
					t.Fatalf("seed %d: a reading at %s reads from %s on", seed, now, from)
				}
			}
			s.heardUpTo(now, all)
		}
		for _, e := range events {
			by := e.heard
			if by.IsZero() {
				by = now
			}
			soon := e.seen.Sub(e.at) <= signsSoon
			if late := by.Sub(e.seen); late > signsOften+4*time.Second || soon && late > 4*time.Second {
				t.Fatalf("seed %d: an event of %s that came at %s was heard at %s", seed, e.at, e.seen, e.heard)
			}
		}
	}
	if short < 5000 {
		t.Errorf("%d readings left out what came late: too few to show anything", short)
	}
}

// TestSignsAreTrimmed: what is known of the events of tasks that are over does not grow without end, however seldom a
// reading tells which rows there are.
func TestSignsAreTrimmed(t *testing.T) {
	s, now, most := newSigns(), time.Date(2026, 1, 1, 10, 0, 0, 0, time.UTC), 0
	const each = 2 // new keys a second
	for i := range 12 * int(signsWhole/time.Second) {
		now = now.Add(time.Second)
		for k := range each {
			s.keep(strconv.Itoa(each*i+k), now, &reconcile.Events{Started: now})
		}
		s.trim(now)
		most = max(most, len(s.of))
	}
	lasting := each * int(signsWhole/time.Second)
	if last := strconv.Itoa(each*12*int(signsWhole/time.Second) - 1); !s.tell(last, now, &reconcile.Events{}) {
		t.Error("what was learned last is forgotten")
	}
	if most > 2*lasting+trimmedFrom {
		t.Errorf("%d keys are known, of %d that came within two hours", most, lasting)
	}
}
