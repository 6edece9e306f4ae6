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
	seen := seenOf(samples)
	at := changed(seen)
	if at == 0 || drifts(seen, at) {
		return present{}
	}
	from := sort.Search(len(samples), func(i int) bool { return samples[i].ended >= seen[at].ended })
	p := present{from: from, ended: samples[from].ended}
	before, since := countSeen(samples[:from]), countSeen(samples[from:])
	p.words = fmt.Sprintf("%s: only the %d tasks since then count", changedAbout(p.ended), since.told)
	if since.more(before) {
		p.hidden = since.cut
	}
	return p
}

// drifts reports whether a steady growth explains more of what was measured than a change at the place.
func drifts(seen []measured, at int) bool {
	d := driftOf(seen).from(driftClear)
	return d.perDay > 0 && d.left < stepLeft(seen, seen[at].ended)
}

// seen is how long the task was silent as far as anybody could see, and whether it counts for the nature of a history.
func (s *sample) seen() (millis, bool) {
	if s.outcome == Ours {
		return s.cut(), s.cut() > 0
	}
	return s.longest, s.tells()
}

// A seenCount counts the tasks that tell, those that sandkeeper ended, and those that died in a span that counts: what
// a rule ends once it acts died by itself before.
type seenCount struct{ told, cut, died int }

func countSeen(samples []sample) (n seenCount) {
	for i := range samples {
		n.told += count(samples[i].tells() && samples[i].outcome != Ours)
		n.cut += count(samples[i].cut() > 0)
		n.died += count(samples[i].last() > 0 && !samples[i].tells())
	}
	return n
}

// moreChance is the chance of saying that sandkeeper ends more tasks while it does not.
const moreChance = 1e-3

// more reports whether sandkeeper came to end clearly more of the tasks than it ended, or than died, before. Where
// clearly more die by themselves as well, there is a reason for that besides the rule: an incident, say.
func (n seenCount) more(before seenCount) bool {
	was := before.cut + before.died
	return n.cut > 0 && clearlyMore(n.cut+n.died, n.told, was, before.told) &&
		!clearlyMore(n.died, n.told, before.died, before.told)
}

// clearlyMore reports whether it is now clearly more beside those that tell than it was before.
func clearlyMore(now, told, was, toldBefore int) bool {
	if now == 0 || was+toldBefore == 0 {
		return false
	}
	usual := Upper(was, was+toldBefore)
	return usual < 1 && betaShare(usual, float64(now), float64(told+1)) < moreChance
}

// newestDays are the last days whose tasks are looked at alone, as too few for a change of what is measured: the fewest
// first. What rises slowly shows in the longer ones.
var newestDays = []time.Duration{2 * 24 * time.Hour, 7 * 24 * time.Hour, 14 * 24 * time.Hour}

// suddenly is since when sandkeeper ends clearly more tasks, if that is only some days ago.
func suddenly(samples []sample) (present, bool) {
	if len(samples) == 0 {
		return present{}, false
	}
	last := time.Unix(int64(samples[len(samples)-1].ended), 0)
	for _, days := range newestDays {
		from := last.Add(-days).Unix()
		at := sort.Search(len(samples), func(i int) bool { return int64(samples[i].ended) >= from })
		now := countSeen(samples[at:])
		if !now.more(countSeen(samples[:at])) {
			continue
		}
		return present{from: at, ended: samples[at].ended, hidden: now.cut,
			words: fmt.Sprintf("%s: only the %d tasks since then count", changedAbout(samples[at].ended), now.told)}, true
	}
	return present{}, false
}

// hides says what the history cannot show.
func (p present) hides() string {
	if p.hidden == 0 {
		return ""
	}
	return fmt.Sprintf("since about %s sandkeeper ended clearly more tasks than before (%d), and whom it ended cannot "+
		"show that it lived", text.Time(time.Unix(int64(p.ended), 0).UTC()), p.hidden)
}
