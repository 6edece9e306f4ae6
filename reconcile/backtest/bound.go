package backtest

import (
	"math"
	"sort"
)

// Confidence is how sure a bound is.
const Confidence = 0.95

// Upper is the upper end of the one-sided interval of Clopper and Pearson: with so many wrong, of so many, the
// true rate is below it with [Confidence]. Of none it is 1.
func Upper(wrong, of int) float64 {
	switch {
	case of <= 0 || wrong >= of:
		return 1
	case wrong <= 0:
		return 1 - math.Pow(1-Confidence, 1/float64(of))
	}
	low, high := float64(wrong)/float64(of), 1.0
	for high-low > 1e-12 {
		middle := (low + high) / 2
		// The chance of more than so many wrong grows with the rate.
		if betaShare(middle, float64(wrong)+1, float64(of-wrong)) < Confidence {
			low = middle
		} else {
			high = middle
		}
	}
	return high
}

// Lower is the lower end of the interval, with the same confidence: the true rate is above it.
func Lower(wrong, of int) float64 {
	if wrong <= 0 || of <= 0 {
		return 0
	}
	return 1 - Upper(of-wrong, of)
}

// Allowed is how many of so many may be wrong so that [Upper] stays within the rate; -1 when even none is too
// few to say.
func Allowed(of int, rate float64) int {
	return sort.Search(of, func(wrong int) bool { return Upper(wrong, of) > rate }) - 1
}

// betaShare is the regularised incomplete beta function: the part of a beta distribution that lies below x.
func betaShare(x, a, b float64) float64 {
	if x <= 0 || x >= 1 {
		return min(max(x, 0), 1)
	}
	if x > (a+1)/(a+b+2) { // the fraction converges fast on the other side
		return 1 - betaShare(1-x, b, a)
	}
	whole, _ := math.Lgamma(a + b)
	left, _ := math.Lgamma(a)
	right, _ := math.Lgamma(b)
	front := math.Exp(whole - left - right + a*math.Log(x) + b*math.Log1p(-x))
	return front * betaFraction(x, a, b) / a
}

// betaFraction is the continued fraction of the incomplete beta function, by Lentz's method.
func betaFraction(x, a, b float64) float64 {
	const tiny, enough, most = 1e-300, 1e-15, 10000
	c, d := 1.0, 1/nonZero(1-(a+b)*x/(a+1), tiny)
	out := d
	for m := 1.0; m < most; m++ {
		even := m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m))
		odd := -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))
		step := 1.0
		for _, by := range [...]float64{even, odd} {
			d = 1 / nonZero(1+by*d, tiny)
			c = nonZero(1+by/c, tiny)
			step = c * d
			out *= step
		}
		if math.Abs(step-1) < enough {
			break
		}
	}
	return out
}

func nonZero(x, tiny float64) float64 {
	if math.Abs(x) < tiny {
		return tiny
	}
	return x
}
