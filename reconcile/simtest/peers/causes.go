package peers

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile/simtest/platform"
)

// Causes is, for each thing that goes wrong, how much of it each janitor dealt with and how
// soon. What went away by itself is not counted.
func Causes(outcomes []Outcome) string {
	found := map[string]map[string]*Found{}
	for _, o := range outcomes {
		for _, w := range o.Wrongs {
			if w.Deed < 0 && !w.Lasts {
				continue
			}
			cause := w.Kind + ": " + w.Cause
			if found[cause] == nil {
				found[cause] = map[string]*Found{}
			}
			of := found[cause]
			if of[o.Janitor] == nil {
				of[o.Janitor] = &Found{}
			}
			of[o.Janitor].add(w)
		}
	}
	var b strings.Builder
	b.WriteString("| | " + strings.Join(Janitors(), " | ") + " |\n|---|" + strings.Repeat("---|", len(Janitors())) + "\n")
	for _, cause := range slices.Sorted(maps.Keys(found)) {
		b.WriteString("| " + cause + " |")
		for _, j := range Janitors() {
			b.WriteString(" " + found[cause][j].brief() + " |")
		}
		b.WriteString("\n")
	}
	return b.String()
}

// Known says how soon those dead tasks were dealt with of which anything but the time told: without the starts for
// which no sandbox was made, and of which no row, event or sandbox says so before their time to begin is over.
func Known(outcomes []Outcome) string {
	var b strings.Builder
	b.WriteString("| | dead tasks with evidence | missed | median | p95 | starts that time alone tells of | median |\n")
	b.WriteString("|---|--:|--:|--:|--:|--:|--:|\n")
	for _, j := range []string{Sandkeeper, Attended} {
		var known, timed Found
		for _, o := range outcomes {
			for _, w := range o.Wrongs {
				switch {
				case o.Janitor != j || w.Kind != platform.WrongTask:
				case w.Cause == platform.NeverMade:
					timed.add(w)
				default:
					known.add(w)
				}
			}
		}
		slices.Sort(known.Times)
		slices.Sort(timed.Times)
		fmt.Fprintf(&b, "| %s | %s | %d | %s |\n", j, known.row(), timed.All, brief(timed.Quantile(0.5)))
	}
	return b.String()
}

// brief is "11 of 12, 1m30s": found of all, and the median time.
func (f *Found) brief() string {
	if f == nil {
		return "none"
	}
	slices.Sort(f.Times)
	if len(f.Times) == 0 {
		return fmt.Sprintf("0 of %d", f.All)
	}
	return fmt.Sprintf("%d of %d, %s", len(f.Times), f.All, brief(f.Quantile(0.5)))
}
