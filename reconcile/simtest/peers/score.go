package peers

import (
	"math"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile/simtest/platform"
)

// A Score sums up what one janitor came to in some worlds.
type Score struct {
	Janitor string
	Worlds  int
	Harmed  int // worlds with a false kill

	Kills   map[string]int // false kills by what was lost, see [platform.Kill]
	Excused int            // losses that nobody who sees rows, events and sandboxes could have known of

	Tasks  Found // rows that are live although nobody works at them
	Leaks  Found // sandboxes that are billed and that nobody needs
	Wasted time.Duration
}

// Found counts things that were wrong and what became of them.
type Found struct {
	All    int
	Missed int             // still wrong at the end
	Times  []time.Duration // from the onset to the deed, shortest first
}

// Sum sums up the outcomes of one janitor.
func Sum(janitor string, outcomes []Outcome) Score {
	s := Score{Janitor: janitor, Kills: map[string]int{}}
	for _, o := range outcomes {
		if o.Janitor == janitor {
			s.add(o)
		}
	}
	slices.Sort(s.Tasks.Times)
	slices.Sort(s.Leaks.Times)
	return s
}

func (s *Score) add(o Outcome) {
	s.Worlds++
	before := s.FalseKills()
	for _, k := range o.Kills {
		if k.Excused != "" {
			s.Excused++
		} else {
			s.Kills[k.Kind]++
		}
	}
	if s.FalseKills() > before {
		s.Harmed++
	}
	for _, w := range o.Wrongs {
		if w.Kind == platform.WrongTask {
			s.Tasks.add(w)
			continue
		}
		s.Leaks.add(w)
		s.Wasted += w.Until - w.Since
	}
}

func (f *Found) add(w *platform.Wrong) {
	f.All++
	if w.Lasts {
		f.Missed++
	}
	if w.Deed >= 0 {
		f.Times = append(f.Times, w.Deed-w.Since)
	}
}

// FalseKills are all of them, whatever was lost.
func (s *Score) FalseKills() int {
	sum := 0
	for _, n := range s.Kills {
		sum += n
	}
	return sum
}

// Quantile is the time within which a share of what was found was found, by nearest rank; below
// 0 when nothing was.
func (f *Found) Quantile(share float64) time.Duration {
	if len(f.Times) == 0 {
		return -1
	}
	at := int(math.Ceil(share*float64(len(f.Times)))) - 1
	return f.Times[max(at, 0)]
}
