package backtest

import (
	"fmt"
	"math"
	"time"
)

const (
	driftDays   = 30  // the newest days that tell of a drift
	driftLeast  = 10  // days with tasks: fewer tell nothing
	driftLikely = 1.6 // standard errors above none from which on a learned threshold allows for it: chance 1 in 20
	driftClear  = 2.3 // from which on a proof does: chance 1 in 100
)

// day is a day in the seconds of [measured].
const day = 24 * 60 * 60

// A drift is a steady growth of what a rule measures: so much each day, as if all tasks became slower alike.
type drift struct {
	perDay float64 // of the logarithm; 0: no growth
	score  float64 // how many standard errors of the growth lie between it and none
	left   float64 // what a steady growth does not explain: squares around it, of the means of days
	until  uint32  // when the newest task ended
}

// A dayMean is the mean of the logarithm of what a rule measured on one day, and of how many tasks.
type dayMean struct{ at, tasks, mean float64 }

// dayMeans are those of the newest days, from the last that has tasks backwards. Days and not tasks are what a drift is
// told by: the tasks of a day may be alike.
func dayMeans(seen []measured) (out []dayMean) {
	if len(seen) == 0 {
		return nil
	}
	days := make([]dayMean, driftDays)
	last := seen[len(seen)-1].ended
	for i := len(seen) - 1; i >= 0; i-- {
		ago := int(last-seen[i].ended) / day
		if ago >= driftDays {
			break
		}
		days[ago].tasks++
		days[ago].mean += math.Log(max(float64(seen[i].value), 1000)) // what is below a second says nothing
	}
	for ago := driftDays - 1; ago >= 0; ago-- {
		if d := days[ago]; d.tasks > 0 {
			out = append(out, dayMean{float64(-ago), d.tasks, d.mean / d.tasks})
		}
	}
	return out
}

// driftOf is the growth over the newest days of a history, by least squares; zero when it does not grow.
func driftOf(seen []measured) drift {
	days := dayMeans(seen)
	if len(days) < driftLeast {
		return drift{}
	}
	at, mean, tasks := middle(days)
	var wide, along float64
	for _, d := range days {
		wide += d.tasks * (d.at - at) * (d.at - at)
		along += d.tasks * (d.at - at) * (d.mean - mean)
	}
	out := drift{perDay: along / wide, until: seen[len(seen)-1].ended}
	for _, d := range days {
		off := d.mean - mean - out.perDay*(d.at-at)
		out.left += d.tasks * off * off
	}
	out.score = out.perDay / math.Sqrt(max(out.left, 1e-9*tasks)/float64(len(days)-2)/wide)
	return out
}

// middle are the means of the days and of what was measured, by task, and how many tasks there were.
func middle(days []dayMean) (at, mean, tasks float64) {
	for _, d := range days {
		at, mean, tasks = at+d.tasks*d.at, mean+d.tasks*d.mean, tasks+d.tasks
	}
	return at / tasks, mean / tasks, tasks
}

// stepLeft is what a change at that moment does not explain of the newest days, as [drift.left].
func stepLeft(seen []measured, moment uint32) (left float64) {
	days := dayMeans(seen)
	place := 0
	for place < len(days) && days[place].at < (float64(moment)-float64(seen[len(seen)-1].ended))/day {
		place++
	}
	for _, side := range [][]dayMean{days[:place], days[place:]} {
		_, mean, _ := middle(side)
		for _, d := range side {
			left += d.tasks * (d.mean - mean) * (d.mean - mean)
		}
	}
	return left
}

// from is the drift, where it is so many standard errors above none; else none.
func (d drift) from(score float64) drift {
	if d.score < score {
		return drift{}
	}
	return d
}

// atMost is a growth that is not likely to be exceeded: a standard error more.
func (d drift) atMost() drift {
	if d.perDay > 0 {
		d.perDay += d.perDay / d.score
	}
	return d
}

// tomorrow is how long a task that ended then would be a day after the newest: until then a threshold counts.
func (d drift) tomorrow(value millis, ended uint32) millis {
	if d.perDay <= 0 || value == 0 {
		return value
	}
	days := min(float64(d.until)-float64(ended), driftDays*day)/day + 1
	return millis(min(float64(value)*math.Exp(d.perDay*days), math.MaxUint32))
}

// grown are the samples as they would be a day after the newest.
func (d drift) grown(samples []sample) []sample {
	if d.perDay <= 0 {
		return samples
	}
	out := make([]sample, len(samples))
	for i, s := range samples {
		s.longest = d.tomorrow(s.longest, s.ended)
		out[i] = s
	}
	return out
}

// beyond are the samples that are within the threshold of their class, and would be no more a day after the newest.
func (d drift) beyond(t *tally, samples []sample, after time.Duration) (more int) {
	if d.perDay <= 0 {
		return 0
	}
	for i := range samples {
		s := &samples[i]
		limit, own := t.after[s.class]
		if !own {
			limit = after
		}
		counts := s.tells() && !s.is(wronged) && !s.is(spared) && !s.is(ownLimit)
		more += count(counts && s.longest.duration() <= limit && d.tomorrow(s.longest, s.ended).duration() > limit)
	}
	return more
}

// growing says of a result that what it measures grows; "" when it does not.
func (r *Result) growing() string {
	switch {
	case r.Growth <= 0:
		return ""
	case r.Longer == 0:
		return "what it measures grows by about " + percent(r.Growth) + " a day"
	}
	return fmt.Sprintf("what it measures grows by about %s a day: %d more would be longer tomorrow", percent(r.Growth),
		r.Longer)
}
