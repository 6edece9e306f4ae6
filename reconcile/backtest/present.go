package backtest

import (
	"fmt"
	"sort"
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
	if p, is := suddenly(samples); is {
		return p
	}
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
		return s.cut(), s.cut() > 0
	}
	return s.longest, s.tells()
}

// A seenCount counts the tasks that tell, and those that sandkeeper ended.
type seenCount struct{ told, cut int }

func countSeen(samples []sample) (n seenCount) {
	for i := range samples {
		n.told += count(samples[i].tells() && samples[i].outcome != Ours)
		n.cut += count(samples[i].cut() > 0)
	}
	return n
}

// moreChance is the chance of saying that sandkeeper ends more tasks while it does not.
const moreChance = 1e-3

// more reports whether sandkeeper came to end clearly more of the tasks than before.
func (n seenCount) more(before seenCount) bool {
	if n.cut == 0 || before.cut+before.told == 0 {
		return false
	}
	usual := Upper(before.cut, before.cut+before.told)
	return usual < 1 && betaShare(usual, float64(n.cut), float64(n.told+1)) < moreChance
}

// newestDays are those whose tasks are looked at alone, as too few for a change of what is measured.
const newestDays = 2 * 24 * time.Hour

// suddenly is since when sandkeeper ends clearly more tasks, if that is only a few days ago.
func suddenly(samples []sample) (present, bool) {
	if len(samples) == 0 {
		return present{}, false
	}
	last := time.Unix(int64(samples[len(samples)-1].ended), 0).Add(-newestDays).Unix()
	at := sort.Search(len(samples), func(i int) bool { return int64(samples[i].ended) >= last })
	newest := countSeen(samples[at:])
	if !newest.more(countSeen(samples[:at])) {
		return present{}, false
	}
	return present{from: at, ended: samples[at].ended, hidden: newest.cut,
		words: fmt.Sprintf("%s: only the %d tasks since then count", changedAbout(samples[at].ended), newest.told)}, true
}

// hides says what the history cannot show.
func (p present) hides() string {
	if p.hidden == 0 {
		return ""
	}
	return fmt.Sprintf("since about %s sandkeeper ended clearly more tasks than before (%d), and whom it ended cannot "+
		"show that it lived", text.Time(time.Unix(int64(p.ended), 0).UTC()), p.hidden)
}
