package reconcile

import (
	"slices"
	"strings"
	"time"
)

// MostMeasurements is how many measurements of a sandbox are kept.
const MostMeasurements = 10

// AddMeasurements adds a measurement to those that are kept of a sandbox, oldest first. Of more
// than ten, the closest one that says the same as both its neighbours is left out, else the
// oldest: a sandbox that is looked at often is still known for as long as it was so. They may
// come in any order.
func AddMeasurements(kept []Measurements, v Measurements) []Measurements {
	at := len(kept)
	for at > 0 && kept[at-1].At.After(v.At) {
		at--
	}
	kept = slices.Insert(slices.Clip(kept), at, v)
	if len(kept) <= MostMeasurements {
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

func gap(kept []Measurements, i int) time.Duration { return kept[i+1].At.Sub(kept[i-1].At) }

// says reports whether the one in the middle says nothing that its neighbours do not.
func says(a, b, c *Measurements) bool {
	return a.alike(b) && b.alike(c) && between(a.Memory, b.Memory, c.Memory) && len(b.Signs) == 0
}

func between(a, b, c *MemoryUse) bool {
	if a == nil || b == nil || c == nil {
		return a == nil && b == nil && c == nil
	}
	return a.Used < b.Used && b.Used < c.Used || a.Used == b.Used && b.Used == c.Used
}

// A Load is what the use of a processor looks like.
type Load int

// The loads.
const (
	loadUnknown Load = iota // not measured
	LoadIdle
	loadNormal
	LoadBusy
)

// The bounds of normal use, in percent.
const (
	idleBelow = 1.0
	busyAbove = 95.0
	usedAbove = 10.0 // more than what waits needs
	fullAbove = 90.0 // of memory
)

// LoadOf is what a use of the processor in percent looks like; nil: it was not measured.
func LoadOf(cpu *float64) Load {
	switch {
	case cpu == nil:
		return loadUnknown
	case *cpu <= idleBelow:
		return LoadIdle
	case *cpu >= busyAbove:
		return LoadBusy
	}
	return loadNormal
}

// Computes reports whether the processor was used, and not by what only waits.
func (v *Measurements) Computes() bool { return v.CPU != nil && *v.CPU > usedAbove }

// A QueueState is what the executions of a sandbox look like.
type QueueState int

// The states of a queue.
const (
	QueueUnknown QueueState = iota // not measured
	QueueMoving                    // nothing waits, or what waits does so behind one that runs
	QueueWaiting
)

// QueueOf is what the executions look like; nil: they were not counted.
func QueueOf(e *ExecutionsSeen) QueueState {
	switch {
	case e == nil:
		return QueueUnknown
	case e.Queued > 0 && e.Running == 0:
		return QueueWaiting
	}
	return QueueMoving
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

// SignsIn are the signs of trouble in a log, each once.
func SignsIn(log string) []string {
	log = strings.ToLower(log)
	var found []string
	for _, s := range signs {
		if slices.ContainsFunc(s.words, func(word string) bool { return strings.Contains(log, word) }) {
			found = append(found, s.sign)
		}
	}
	return found
}
