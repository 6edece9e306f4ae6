package backtest

import (
	"slices"
	"sort"
	"time"
)

// What a survived holds is what tasks lived on after: the longest that the rule counts of each, sorted. Others than
// completed tasks are samples of a threshold only where they lived on beyond it.
type survived struct{ completed, others []millis }

func survivedOf(samples []sample) *survived {
	out := &survived{}
	for i := range samples {
		switch s := &samples[i]; {
		case s.outcome == Completed:
			out.completed = append(out.completed, s.longest)
		case s.longest > 0:
			out.others = append(out.others, s.longest)
		}
	}
	slices.Sort(out.completed)
	slices.Sort(out.others)
	return out
}

// beyond is how many tasks lived on after more than the threshold, and of how many samples.
func (v *survived) beyond(after time.Duration) (wrong, of int) {
	others := beyond(v.others, after)
	return beyond(v.completed, after) + others, len(v.completed) + others
}

func beyond(sorted []millis, after time.Duration) int {
	return len(sorted) - sort.Search(len(sorted), func(i int) bool { return sorted[i].duration() > after })
}

// suggested is the smallest threshold that keeps the rate with [Confidence], whatever the distribution; 0 when none can
// be said. As many of the completed tasks may lie above it as [Allowed] says. How many that are depends on their number
// alone, so that choosing it by them costs no confidence (Wilks). It is longer where others who lived on ask for that.
func (v *survived) suggested(rate float64, floor time.Duration) time.Duration {
	allowed := Allowed(len(v.completed), rate)
	if allowed < 0 {
		return 0
	}
	among := slices.Clone(v.completed[len(v.completed)-1-allowed:])
	least := among[0]
	among = append(among, v.others[sort.Search(len(v.others), func(i int) bool { return v.others[i] > least }):]...)
	slices.Sort(among)
	at := sort.Search(len(among), func(i int) bool {
		wrong, of := v.beyond(among[i].duration())
		return Upper(wrong, of) <= rate
	})
	return max(roundUp(among[at].duration()+time.Millisecond), floor, time.Second)
}
