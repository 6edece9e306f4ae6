package backtest

import (
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// buckets is into how many parts the time of a history is cut to tell what all workers did: memory is bounded,
// whatever the number of events.
const buckets = 1 << 20

// bucketLeast is the shortest part.
const bucketLeast = 5 * time.Second

// A fleet is what all workers together did, over the time of the history.
type fleet struct {
	From time.Time
	Step time.Duration
	Runs []int32 // change of the number of running tasks, by part
	Told []uint8 // whether anybody was heard in the part
}

const (
	heard uint8 = 1 << iota
	active
)

func newFleet(from, to time.Time) *fleet {
	step := max(bucketLeast, to.Sub(from)/buckets+1)
	n := int(max(to.Sub(from), 0)/step) + 2
	return &fleet{From: from, Step: step, Runs: make([]int32, n), Told: make([]uint8, n)}
}

func (f *fleet) place(at time.Time) int {
	return min(max(int(at.Sub(f.From)/f.Step), 0), len(f.Runs)-1)
}

// watch adds what one worker did.
func (f *fleet) watch(l *Life) {
	began := l.started()
	if began.IsZero() {
		return
	}
	end := len(f.Runs) - 1
	if !l.Ended.IsZero() {
		end = f.place(l.Ended)
	}
	if f.place(began) >= end && end == 0 {
		return // it was over before
	}
	f.Runs[f.place(began)]++
	f.Runs[end]--
	for _, s := range l.Signs {
		if s.At.Before(f.From) {
			continue
		}
		told := heard
		if s.Kind&Heartbeat == 0 {
			told |= active
		}
		f.Told[f.place(s.At)] |= told
	}
}

// An outage is a time in which three or more tasks ran and nobody was heard, or nobody was active.
type outage struct{ from, to time.Time }

// outages are those in which nothing of the kind came for longer than the limit.
func (f *fleet) outages(kind uint8, limit time.Duration) (out []outage) {
	running, last := int32(0), 0
	for i := range f.Runs {
		running += f.Runs[i]
		if f.Told[i]&kind == 0 && running >= 3 {
			continue
		}
		if silent := time.Duration(i-last) * f.Step; silent > limit {
			out = append(out, outage{f.From.Add(time.Duration(last) * f.Step), f.From.Add(time.Duration(i) * f.Step)})
		}
		last = i
	}
	return out
}

// A guide answers what the others did at a moment.
type guide struct {
	*fleet
	running []int32
	outages []outage
}

func (f *fleet) guide(kind uint8, limit time.Duration) *guide {
	g := &guide{fleet: f, outages: f.outages(kind, limit), running: make([]int32, len(f.Runs))}
	n := int32(0)
	for i, by := range f.Runs {
		n += by
		g.running[i] = n
	}
	return g
}

// at is the crowd around a running task at a moment.
func (g *guide) at(at time.Time) crowd {
	place := g.place(at)
	c := crowd{running: int(max(g.running[place]-1, 0))}
	for i := place; i >= 0 && (c.newest.IsZero() || c.active.IsZero()); i-- {
		when := g.From.Add(time.Duration(i+1) * g.Step)
		if when.After(at) {
			when = at
		}
		if g.Told[i]&heard != 0 {
			c.newest = reconcile.Latest(c.newest, when)
		}
		if g.Told[i]&active != 0 {
			c.active = reconcile.Latest(c.active, when)
		}
	}
	for _, o := range g.outages {
		if !o.to.After(at) {
			c.recovered = reconcile.Latest(c.recovered, o.to)
		}
	}
	return c
}

// doubtful reports whether something of all workers may speak for one that was silent then.
func (g *guide) doubtful(from, to time.Time) bool {
	for _, o := range g.outages {
		if o.from.Before(to) && o.to.After(from) {
			return true
		}
	}
	return false
}
