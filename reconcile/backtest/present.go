package backtest

import (
	"fmt"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// A present is since when a history is as it is now.
type present struct {
	from   int    // place of the first sample
	ended  uint32 // when its task ended
	words  string // for people; "" where the history never changed
	hidden int    // tasks that sandkeeper ended since then, where it began to end clearly more of them
}

// presentOf finds since when samples in the order of time are of one nature. What sandkeeper ended counts with the
// silence in which it did: that more are cut off is a change as well, and the only one that shows where a rule ends
// whoever became slower.
func presentOf(samples []sample) present {
	var values []millis
	var places []int
	for i := range samples {
		if value, counts := samples[i].seen(); counts {
			values, places = append(values, value), append(places, i)
		}
	}
	at := changed(values)
	if at == 0 {
		return present{}
	}
	from := places[at]
	p := present{from: from, ended: samples[from].ended}
	before, since := countSeen(samples[:from]), countSeen(samples[from:])
	p.words = fmt.Sprintf("%s: only the %d tasks since then count", changedAbout(p.ended), since.told)
	if since.more(before) {
		p.hidden = since.cut
	}
	return p
}

// seen is how long the task was silent as far as anybody could see, and whether it counts for the nature of a history.
func (s *sample) seen() (millis, bool) {
	if s.outcome == Ours {
		return s.cut, s.cut > 0
	}
	return s.longest, s.tells()
}

// A seenCount counts the tasks that tell, and those that sandkeeper ended.
type seenCount struct{ told, cut int }

func countSeen(samples []sample) (n seenCount) {
	for i := range samples {
		n.told += count(samples[i].tells() && samples[i].outcome != Ours)
		n.cut += count(samples[i].outcome == Ours && samples[i].cut > 0)
	}
	return n
}

// more reports whether sandkeeper came to end clearly more of the tasks than before.
func (n seenCount) more(before seenCount) bool {
	return n.cut > 0 && Lower(n.cut, n.cut+n.told) > Upper(before.cut, before.cut+before.told)
}

// hides says what the history cannot show.
func (p present) hides() string {
	if p.hidden == 0 {
		return ""
	}
	return fmt.Sprintf("since about %s sandkeeper ended clearly more tasks than before (%d), and whom it ended cannot "+
		"show that it lived", text.Time(time.Unix(int64(p.ended), 0).UTC()), p.hidden)
}
