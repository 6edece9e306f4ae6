package reconcile

import (
	"slices"
	"strings"
	"time"
)

// mostVitals is how many measurements of a sandbox are kept.
const mostVitals = 10

// AddVitals adds a measurement to those that are kept of a sandbox, oldest first. Of more
// than ten, the closest one that says the same as both its neighbours is left out, else the
// oldest: a sandbox that is looked at often is still known for as long as it was so. They may
// come in any order.
func AddVitals(kept []Vitals, v Vitals) []Vitals {
	at := len(kept)
	for at > 0 && kept[at-1].At.After(v.At) {
		at--
	}
	kept = slices.Insert(slices.Clip(kept), at, v)
	if len(kept) <= mostVitals {
		return kept
	}
	out := 0
	for i := 1; i < len(kept)-1; i++ {
		if says(&kept[i-1], &kept[i], &kept[i+1]) && (out == 0 || gap(kept, i) < gap(kept, out)) {
			out = i
		}
	}
	return slices.Delete(kept, out, out+1)
}

func gap(kept []Vitals, i int) time.Duration { return kept[i+1].At.Sub(kept[i-1].At) }

// says reports whether the one in the middle says nothing that its neighbours do not.
func says(a, b, c *Vitals) bool {
	return a.alike(b) && b.alike(c) && between(a.Memory, b.Memory, c.Memory) && len(b.Signs) == 0
}

// alike reports whether two measurements belong to one run of whatever a rule looks for.
func (v *Vitals) alike(o *Vitals) bool {
	return loadOf(v.CPU) == loadOf(o.CPU) && queueOf(v.Executions) == queueOf(o.Executions)
}

func between(a, b, c *MemoryUse) bool {
	if a == nil || b == nil || c == nil {
		return a == nil && b == nil && c == nil
	}
	return a.Used < b.Used && b.Used < c.Used || a.Used == b.Used && b.Used == c.Used
}

// A load is what the use of a processor looks like.
type load int

const (
	loadUnknown load = iota // not measured
	loadIdle
	loadNormal
	loadBusy
)

// The bounds of normal use, in percent.
const (
	idleBelow = 1.0
	busyAbove = 95.0
	fullAbove = 90.0 // of memory
)

func loadOf(cpu *float64) load {
	switch {
	case cpu == nil:
		return loadUnknown
	case *cpu <= idleBelow:
		return loadIdle
	case *cpu >= busyAbove:
		return loadBusy
	}
	return loadNormal
}

// A queue is what the executions of a sandbox look like.
type queue int

const (
	queueUnknown queue = iota // not measured
	queueMoving               // nothing waits, or what waits does so behind one that runs
	queueWaiting
)

func queueOf(e *ExecutionsSeen) queue {
	switch {
	case e == nil:
		return queueUnknown
	case e.Queued > 0 && e.Running == 0:
		return queueWaiting
	}
	return queueMoving
}

// full reports whether the memory is nearly used up.
func (m *MemoryUse) full() bool {
	return m != nil && m.Total > 0 && float64(m.Used) >= float64(m.Total)*fullAbove/100
}

// measured reports whether anything could be measured.
func (v *Vitals) measured() bool {
	return v.CPU != nil || v.Memory != nil || v.Executions != nil || len(v.Signs) > 0
}

// strained reports whether something is over a limit, so that the log may tell more.
func (v *Vitals) strained() bool {
	l := loadOf(v.CPU)
	return l == loadIdle || l == loadBusy || v.Memory.full()
}

// wanted are the measurements of the box that count, oldest first: not from before an outage
// of the probes or soon after a resume, and only while the newest is of now.
func (v *view) wanted(b *Box, counts func(*Vitals) bool) []Vitals {
	from := latest(v.sources[probesOf(b.Provider)].RecoveredAt, v.s.Memory.WatchSince)
	if !b.Seen.ResumedAt.IsZero() {
		//guard:vitals-resumed harm
		from = latest(from, b.Seen.ResumedAt.Add(resumeGrace))
	}
	var run []Vitals
	for i := range b.Probes.Vitals {
		//guard:vitals-recovered P6
		if m := &b.Probes.Vitals[i]; !m.At.Before(from) && counts(m) {
			run = append(run, *m)
		}
	}
	//guard:vitals-of-now harm
	if n := len(run); n == 0 || v.now.Sub(run[n-1].At) > max(3*v.p.Providers[b.Provider].Probe.Every, 5*time.Minute) {
		return nil
	}
	return run
}

// trailing is the end of the run for which all hold.
func trailing(run []Vitals, holds func(*Vitals) bool) []Vitals {
	at := len(run)
	for at > 0 && holds(&run[at-1]) {
		at--
	}
	return run[at:]
}

// activeSince reports whether the worker of a live task showed activity after a moment of
// the ledger's clock.
func (v *view) activeSince(s *Subject, at time.Time) bool {
	if s.Task == nil || s.Fate != FateLive {
		return false
	}
	act := s.Task.Activity()
	if s.Task.ahead() {
		act = v.sign(s.Task)
	}
	return !act.IsZero() && s.Task.AsOf.Sub(act) < v.now.Sub(at)
}

// signs are what a log may speak of, with the words that say so, in the order of telling.
var signs = []struct {
	sign  string
	words []string
}{
	{"time-out", []string{
		"timed out", "time-out", "timeouterror", "timeout error", "error: timeout", "timeout exceeded", "timeout after",
		"gateway timeout", "readtimeout", "connecttimeout", "etimedout", "deadline exceeded",
	}},
	{"stack overflow", []string{
		"stack overflow", "stackoverflow", "maximum call stack size exceeded", "recursionerror",
		"maximum recursion depth", "stack level too deep", "goroutine stack exceeds",
	}},
	{"out of memory", []string{
		"out of memory", "outofmemory", "memoryerror", "oom-kill", "oomkilled", "cannot allocate memory", "bad_alloc",
		"enomem", "allocation failed",
	}},
}

// signsIn are the signs of trouble in a log, each once.
func signsIn(log string) []string {
	log = strings.ToLower(log)
	var found []string
	for _, s := range signs {
		if slices.ContainsFunc(s.words, func(word string) bool { return strings.Contains(log, word) }) {
			found = append(found, s.sign)
		}
	}
	return found
}
