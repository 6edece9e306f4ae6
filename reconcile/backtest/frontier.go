package backtest

import (
	"math"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A Point is one choice of a threshold.
type Point = reconcile.CurvePoint

// points is how many thresholds a frontier tries, besides the present one and the one that is suggested.
const points = 24

// frontier is the trade of a rule: false positives against dead work, by threshold.
func frontier(t *tally, samples []sample, of *Result) (out []Point) {
	lived := survivedOf(samples)
	var deaths []millis
	for i := range samples {
		if samples[i].last() > 0 {
			deaths = append(deaths, samples[i].last())
		}
	}
	slices.Sort(deaths)
	for _, after := range thresholds(t, of) {
		wrong, of := lived.beyond(after)
		p := Point{After: after, FalsePositives: wrong, Upper: Upper(wrong, of), Rate: float64(wrong) / float64(max(of, 1)),
			DeadHours: deadHours(samples, after), Delay: min(after, quantile(deaths, .5))}
		out = append(out, p)
	}
	return out
}

// thresholds are those that a frontier tries, spread evenly by their logarithm.
func thresholds(t *tally, of *Result) []time.Duration {
	least := max(of.Measured.P50/2, t.low.Rules[t.rule].After)
	most := max(of.Measured.Max*5/4, of.After*2, least*2)
	step := math.Log(float64(most)/float64(least)) / (points - 1)
	all := []time.Duration{of.After, of.Suggested}
	for i := range points {
		all = append(all, roundUp(time.Duration(float64(least)*math.Exp(step*float64(i)))))
	}
	all = slices.DeleteFunc(all, func(d time.Duration) bool { return d <= 0 })
	slices.Sort(all)
	return slices.Compact(all)
}
