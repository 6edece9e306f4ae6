package protocol

import (
	"math"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Window is the time that the scores look back.
const Window = 24 * time.Hour

// What counts as fast. It is counted here, so that no reader needs each time.
const (
	FastGone = 30 * time.Second
	FastStop = 5 * time.Second
	FastSeen = time.Minute
)

// Facts are what the scores are made of, read in one snapshot.
type Facts struct {
	Ends     []Terminate    // begun, and settled in the window or overdue
	Verdicts []RuleVerdicts // of the window
	Hours    []HourSum      // of the window and before it
	Passes   []reconcile.PassSeen
}

// A Terminate is one that was begun.
type Terminate struct {
	Rule                     string
	Outcome                  reconcile.Outcome
	Began, FirstActed, Ended time.Time
}

// RuleVerdicts counts the verdicts of one rule.
type RuleVerdicts struct {
	Rule             string
	All, Known, Soon int // of all, those whose begin is known; of these, those within FastSeen of their threshold
}

// An HourSum is what the hours in the window, or those before it, come to.
type HourSum struct {
	Lately     bool
	Name, What string
	Value      int64
}

// Score is what the facts come to.
func Score(f Facts) reconcile.Scores {
	s := reconcile.Scores{Window: Window, Ended: map[string]int{}}
	scoreEnds(&s, f.Ends)
	for _, v := range f.Verdicts {
		if v.Rule == "inactive" {
			s.Inactive += v.All
		}
		if reconcile.Watched(v.Rule) { // it finds workers that are stuck or silent
			s.Stuck, s.StuckFast = s.Stuck+v.Known, s.StuckFast+v.Soon
		}
	}
	for _, h := range f.Hours {
		scoreHour(&s, h)
	}
	s.Active, s.Live = present(f.Passes)
	return s
}

func scoreEnds(s *reconcile.Scores, ends []Terminate) {
	var stops, deadlines []time.Duration
	for _, e := range ends {
		s.Asked++
		if e.Outcome != reconcile.OutcomeConfirmed {
			continue
		}
		s.Confirmed++
		s.Gone++
		if e.Ended.Sub(e.FirstActed) <= FastGone {
			s.GoneFast++
		}
		switch took := max(e.Ended.Sub(e.Began), 0); {
		case e.Began.IsZero():
		case e.Rule == RuleDeadline:
			deadlines = append(deadlines, took)
		case e.Rule == RuleStop:
			stops = append(stops, took)
			if e.FirstActed.Sub(e.Began) <= FastStop {
				s.StopsFast++
			}
		}
	}
	s.Stops = len(stops)
	s.StopGone, s.DeadlineGone = Quantiles(stops), Quantiles(deadlines)
}

// Quantiles sum up measured times: each is the smallest that so many are not above.
func Quantiles(took []time.Duration) reconcile.Quantiles {
	sorted := slices.Sorted(slices.Values(took))
	at := func(share float64) time.Duration {
		if len(sorted) == 0 {
			return 0
		}
		return sorted[int(math.Ceil(share*float64(len(sorted))))-1]
	}
	return reconcile.Quantiles{Count: len(sorted), P50: at(0.5), P95: at(0.95)}
}

func scoreHour(s *reconcile.Scores, h HourSum) {
	n := int(h.Value)
	if h.Name == "probes" {
		scoreProbes(s, h)
		return
	}
	if !h.Lately {
		return
	}
	switch h.Name {
	case "tasks_ended":
		s.Ended[h.What] += n
	case "recreations":
		s.Recreated += n
	case "recreations_back":
		s.Back += n
	case "resumes":
		s.Resumed += n
	case "resumes_worked":
		s.Worked += n
	case "work_after_stop":
		s.WorkAfterStop += n
	}
}

// scoreProbes counts the probes that say something of their sandbox.
func scoreProbes(s *reconcile.Scores, h HourSum) {
	outcome := reconcile.ProbeOutcome(h.What)
	if outcome != reconcile.Answered && !outcome.Failed() {
		return
	}
	all, failed := &s.Probes, &s.ProbesFailed
	if !h.Lately {
		all, failed = &s.Before, &s.BeforeFailed
	}
	*all += int(h.Value)
	if outcome.Failed() {
		*failed += int(h.Value)
	}
}

// present counts the sandboxes that run and the tasks that live by the newest full pass
// that ended; -1 for what it did not measure.
func present(passes []reconcile.PassSeen) (active, live int) {
	full := newest(passes, func(p reconcile.PassSeen) bool { return !p.EndedAt.IsZero() })[reconcile.Full]
	active, live = -1, -1
	for key, n := range full.Counts {
		switch of := reconcile.ParseCount(key); {
		case of.What == reconcile.CountOwned:
			active = max(active, 0) // listed, though nothing runs
		case of.What == reconcile.CountSandboxes && of.State == string(reconcile.SandboxRunning):
			active = max(active, 0) + n
		case of.What == reconcile.CountTasks && reconcile.TaskState(of.State).Live():
			live = max(live, 0) + n
		}
	}
	return active, live
}
