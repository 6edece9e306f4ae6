package backtest

import (
	"math"
	"slices"
)

const (
	changeLeast  = 40   // samples on each side of a change: fewer tell nothing
	changeMost   = 4000 // samples that are compared
	changeChance = 1e-4 // of calling a history changed that is not, at each place
	changePlaces = 40   // parts of the history, between which a change may lie
)

// changed is the place among samples in the order of time from which on they are of another nature than
// before; 0 when they are of one. It is the two-sample test of Kolmogorov and Smirnov at some places of the
// history, the clearest first.
func changed(values []millis) int {
	place, clearest := 0, math.Log(2/changeChance)
	for part := 1; part < changePlaces; part++ {
		at := len(values) * part / changePlaces
		if at < changeLeast || len(values)-at < changeLeast {
			continue
		}
		if far := apart(thinned(values[:at]), thinned(values[at:])); far > clearest {
			place, clearest = at, far
		}
	}
	return place
}

// thinned is about so many of the values as are compared, in order of size: one of each few, at places that no rhythm
// of the tasks is in step with.
func thinned(values []millis) []millis {
	step := max(1, len(values)/changeMost)
	out := make([]millis, 0, len(values)/step+1)
	for i := 0; i < len(values); i += step {
		at := i + int(uint32(i)*2654435761>>16)%step // multiplied by the golden ratio, as Knuth has it
		out = append(out, values[min(at, len(values)-1)])
	}
	slices.Sort(out)
	return out
}

// sameNature is the chance that two samples of one distribution are as far apart as these, which are sorted.
func sameNature(one, two []millis) float64 { return min(1, 2*math.Exp(-apart(one, two))) }

// apart is how far two samples are apart, which are sorted, as the logarithm of that chance: of clear changes in a long
// history the chance itself is too small for a number.
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
