package backtest

import (
	"math"
	"slices"
	"time"
)

// A millis is a duration of up to 49 days, the longest standing for all beyond: a history has millions.
type millis uint32

func millisOf(d time.Duration) millis {
	return millis(min(max(d.Milliseconds(), 0), math.MaxUint32))
}

func (m millis) duration() time.Duration { return time.Duration(m) * time.Millisecond }

// A Spread says how what a rule measures is distributed over tasks.
type Spread struct{ P50, P99, P999, Max time.Duration }

// spreadOf is the spread of the values, which it sorts.
func spreadOf(values []millis) Spread {
	slices.Sort(values)
	return Spread{quantile(values, .5), quantile(values, .99), quantile(values, .999), quantile(values, 1)}
}

// quantile is the least of the sorted values that is not below so large a part of them.
func quantile(sorted []millis, part float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	at := int(math.Ceil(part*float64(len(sorted)))) - 1
	return sorted[min(max(at, 0), len(sorted)-1)].duration()
}

// roundUp is a threshold that a person would write, not below d.
func roundUp(d time.Duration) time.Duration {
	step := time.Second
	switch {
	case d > 6*time.Hour:
		step = 10 * time.Minute
	case d > time.Hour:
		step = time.Minute
	case d > 10*time.Minute:
		step = 10 * time.Second
	}
	return (d + step - 1) / step * step
}
