package tasks

import (
	"hash/maphash"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Signs are the newest events by what they are found by, as the last reading of the live tasks left them. The next one
// reads what came since. They are a part of what the events tell, never more, but for events that were deleted since:
// who would make something of a row by them reads all its events first.
type signs struct {
	seeds [2]maphash.Seed
	of    map[signKey]*keySigns
	deaf  bool      // nobody takes what is heard, or more was heard than is remembered
	heard []string  // keys of which something else may be known than at the last [signs.takeHeard]
	upTo  time.Time // the task database's now of the last reading; zero before the first
	late  time.Time // the same of the last one that heard what came late
	left  int       // how many keys the last [signs.trim] left
}

// A signKey stands for a text: a large fleet has many, and they are long.
type signKey [2]uint64

// keySigns are of one key.
type keySigns struct {
	newest [5]int64 // microseconds since 1970, in the order of [reconcile.Events]; 0 for none
	whole  uint32   // when all its events were read, in seconds since 1970
	asked  uint32   // the reading that asked for them last, by its now, see [readingOf]
}

// The bounds of what is remembered of events, by the task database's clock.
const (
	// An event carries the time at which its transaction began, or one that its writer's clock told. So much later it
	// may come to be seen. What comes later yet is found when all events of its key are read.
	signsLate = time.Minute
	// Where readings follow one another closely only each so far apart hears all that came late, and the others what came
	// so much later than its time. What is heard later so makes a row plain later, no more: one that is not plain by what
	// is known is read with all its events.
	signsOften = 10 * time.Second
	signsSoon  = 5 * time.Second
	// After so long without a reading everything is read again.
	signsLast = 15 * time.Minute
	// So long after all events of a key were read they are read again, and of each at a time of its own in the second
	// half of it.
	signsWhole = 2 * time.Hour
)

func newSigns() *signs {
	return &signs{seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}, of: map[signKey]*keySigns{}, deaf: true}
}

// stand reports whether what is remembered may be gone on from. A clock that was set back would hide what came.
func (s *signs) stand(now time.Time) bool {
	since := now.Sub(s.upTo)
	return !s.upTo.IsZero() && since >= 0 && since <= signsLast
}

// since is from when on events are new, and whether none that came late is left out.
func (s *signs) since(now time.Time, often bool) (from time.Time, all bool) {
	after := now.Sub(s.late)
	if often && after >= 0 && after < signsOften {
		return s.upTo.Add(-signsSoon), false
	}
	return s.late.Add(-signsLate), true
}

// heardUpTo notes a reading.
func (s *signs) heardUpTo(now time.Time, all bool) {
	if s.upTo = now; all {
		s.late = now
	}
}

func (s *signs) key(text string) signKey {
	return signKey{maphash.String(s.seeds[0], text), maphash.String(s.seeds[1], text)}
}

// due reports whether all events of a key are to be read again.
func (k signKey) due(s *keySigns, now time.Time) bool {
	const half = int64(signsWhole / time.Second / 2)
	age := now.Unix() - int64(s.whole)
	return age < 0 || age > half+int64(k[0]%uint64(half))
}

// come adds events that are new. Of a key that nothing is known of all events are read.
func (s *signs) come(text string, e *reconcile.Events) {
	known, is := s.of[s.key(text)]
	if !is {
		s.hear(text)
		return
	}
	before := known.newest
	for i, at := range micros(e) {
		known.newest[i] = max(known.newest[i], at)
	}
	if known.newest != before {
		s.hear(text)
	}
}

// hear remembers a key for [signs.takeHeard], as far as somebody may take it soon.
func (s *signs) hear(text string) {
	switch {
	case s.deaf:
	case len(s.heard) > 1000+2*len(s.of):
		s.deaf, s.heard = true, nil
	default:
		s.heard = append(s.heard, text)
	}
}

// takeHeard are the keys of which something else is known than when they were taken last; all is false where they
// were too many to be remembered.
func (s *signs) takeHeard() (heard []string, all bool) {
	heard, all = list(s.heard), !s.deaf
	s.heard, s.deaf = nil, false
	return heard, all
}

// tell sets what is remembered of a key, and reports whether that will do.
func (s *signs) tell(text string, now time.Time, e *reconcile.Events) bool {
	k := s.key(text)
	known, is := s.of[k]
	if !is || k.due(known, now) {
		return false
	}
	known.asked = readingOf(now)
	*e = eventsOf(known.newest)
	return true
}

// keep remembers what all events of a key tell. A row without one and a row whose key is "" look alike here.
func (s *signs) keep(text string, now time.Time, e *reconcile.Events) {
	if text == "" {
		return
	}
	k, newest := s.key(text), micros(e)
	if known, is := s.of[k]; is && known.newest != newest {
		s.hear(text)
	}
	//nolint:gosec // until 2106
	s.of[k] = &keySigns{newest: newest, whole: uint32(now.Unix()), asked: readingOf(now)}
}

// end forgets what no row asked for, where that is much, and ends a reading.
func (s *signs) end(now time.Time, rows int) {
	s.heardUpTo(now, true)
	if len(s.of) <= rows+rows/8 {
		return
	}
	for k, known := range s.of {
		if known.asked != readingOf(now) {
			delete(s.of, k)
		}
	}
}

// trimmedFrom is how many keys are kept whatever is known of them.
const trimmedFrom = 1000

// trim forgets, where there are twice as many keys as it left last, those of which all events would be read again: a
// reading that asks for few rows cannot tell which others still have one. So what is kept is of the rows of two hours,
// or twice that.
func (s *signs) trim(now time.Time) {
	if len(s.of) <= 2*s.left+trimmedFrom {
		return
	}
	for k, known := range s.of {
		if k.due(known, now) {
			delete(s.of, k)
		}
	}
	s.left = len(s.of)
}

// readingOf tells a reading from others: one of which two could not be told apart comes once in an hour and more.
func readingOf(now time.Time) uint32 { return uint32(now.UnixMicro()) } //nolint:gosec // the last bits do

func micros(e *reconcile.Events) (out [5]int64) {
	for i, at := range [...]time.Time{e.Started, e.Activity, e.Heartbeat, e.Waiting, e.Finished} {
		if !at.IsZero() {
			out[i] = at.UnixMicro()
		}
	}
	return out
}

func eventsOf(newest [5]int64) reconcile.Events {
	at := func(i int) time.Time {
		if newest[i] == 0 {
			return time.Time{}
		}
		return time.UnixMicro(newest[i]).UTC()
	}
	return reconcile.Events{Started: at(0), Activity: at(1), Heartbeat: at(2), Waiting: at(3), Finished: at(4)}
}
