package backtest

import (
	"math"
	"slices"
	"sort"
	"time"
)

const (
	changeLeast  = 40   // samples on each side of a change: fewer tell nothing
	changeMost   = 4000 // samples that are compared
	changeChance = 1e-4 // of calling a history changed that is not, at each place
	changePlaces = 40   // parts of the history, between which a change may lie
)

// A measured is what a task showed of what a rule measures, and when it ended, in seconds since 1970.
type measured struct {
	ended uint32
	value millis
}

// clearly is how far apart two samples are, by [apart], that are called of another nature.
var clearly = math.Log(2 / changeChance)

// changed is the place among samples in the order of time from which on they are of another nature than
// before; 0 when they are of one. It is the two-sample test of Kolmogorov and Smirnov at some places of the
// history, the clearest first.
func changed(seen []measured) int {
	place, clearest := 0, clearly
	for part := 1; part < changePlaces; part++ {
		at := len(seen) * part / changePlaces
		if at < changeLeast || len(seen)-at < changeLeast {
			continue
		}
		if far := differ(seen[:at], seen[at:], clearest); far > clearest {
			place, clearest = at, far
		}
	}
	return place
}

// differ is how far apart what was measured before and since is, where that is more than least. A week has its rhythm:
// where the history is long enough, whole weeks are compared with whole weeks, or days with the same days of weeks.
func differ(before, since []measured, least float64) float64 {
	far := apart(thinned(before), thinned(since))
	if far <= least {
		return 0
	}
	if past, now := alike(before, since); len(past) >= changeLeast && len(now) >= changeLeast {
		if apart(thinned(past), thinned(now)) <= clearly {
			return 0
		}
	}
	return far
}

// weekLong is a week in the seconds of [measured].
const weekLong = int64(learnWeek / time.Second)

// alike are the samples of both sides that are of the same parts of the week; none, where neither side has a whole one.
func alike(before, since []measured) (past, now []measured) {
	turn := int64(since[0].ended)
	left, right := turn-int64(before[0].ended), int64(since[len(since)-1].ended)-turn
	within := func(of []measured, from, until int64) []measured { // in seconds after the turn, within a week
		return slices.DeleteFunc(slices.Clone(of), func(m measured) bool {
			phase := ((int64(m.ended)-turn)%weekLong + weekLong) % weekLong
			return phase < from || phase > until
		})
	}
	switch {
	case left < weekLong && right < weekLong:
		return nil, nil
	case left < weekLong:
		return before, within(since, weekLong-left, weekLong)
	case right < weekLong:
		return within(before, 0, right), since
	}
	first := sort.Search(len(before), func(i int) bool { return turn-int64(before[i].ended) <= left/weekLong*weekLong })
	last := sort.Search(len(since), func(i int) bool { return int64(since[i].ended)-turn > right/weekLong*weekLong })
	return before[first:], since[:last]
}

// thinned is about so many of what was measured as is compared, in order of size: one of each few, at places that no
// rhythm of the tasks is in step with.
func thinned(seen []measured) []millis {
	step := max(1, len(seen)/changeMost)
	out := make([]millis, 0, len(seen)/step+1)
	for i := 0; i < len(seen); i += step {
		at := i + int(uint32(i)*2654435761>>16)%step // multiplied by the golden ratio, as Knuth has it
		out = append(out, seen[min(at, len(seen)-1)].value)
	}
	slices.Sort(out)
	return out
}

// apart is how far two samples are apart, which are sorted: the logarithm of 2 by the chance that two of one
// distribution are. Of clear changes in a long history the chance itself is too small for a number.
func apart(one, two []millis) float64 {
	n, m := float64(len(one)), float64(len(two))
	furthest := 0.0
	for i, j := 0, 0; i < len(one) && j < len(two); {
		at := min(one[i], two[j])
		for i < len(one) && one[i] == at {
			i++
		}
		for j < len(two) && two[j] == at {
			j++
		}
		furthest = max(furthest, math.Abs(float64(i)/n-float64(j)/m))
	}
	n, m = min(n, changeMost), min(m, changeMost)
	return 2 * furthest * furthest * n * m / (n + m)
}
