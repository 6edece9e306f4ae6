package reconcile

import (
	"slices"
	"time"
)

// Watch restarts what the ledger timed itself after a gap of more than two intervals
// between passes: nobody looked, so nothing was seen to last. The interval is the longer
// of the schedule and of what passes do in practice.
func Watch(m *Memory, p *Policy) time.Time {
	if m.Fresh || m.LastPass.IsZero() {
		return m.Now
	}
	interval := max(p.Full, UsualGap(m))
	last := m.LastPass
	// A pass that a listing failed in has read the rows and the other listings: the failed one has a timer of its own.
	if tasks := m.Sources[SourceTasks]; tasks.Trusted {
		last = Latest(last, tasks.LastTrusted)
	}
	//guard:watch-gap P6
	if interval > 0 && m.Now.Sub(last) > 2*interval {
		return m.Now
	}
	return m.WatchSince
}

// Unseen is the latest moment at which a pass looked at all live rows and did not see that of a task; not watched
// when none did.
func (m *Memory) Unseen(task string) (at time.Time, watched bool) {
	tasks, seen := m.Sources[SourceTasks], m.Tasks.Of(task)
	if m.LastPass.IsZero() || !tasks.Trusted {
		return time.Time{}, false
	}
	if seen.FirstSeen.IsZero() {
		return m.LastPass, true
	}
	longest := time.Duration(0)
	for _, gap := range m.Gaps {
		longest = max(longest, gap)
	}
	return seen.FirstSeen.Add(-longest), seen.FirstSeen.After(Latest(m.WatchSince, tasks.RecoveredAt))
}

// UsualGap is the median of the last gaps between passes, 0 when there is none.
func UsualGap(m *Memory) time.Duration {
	if len(m.Gaps) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(m.Gaps))
	return sorted[len(sorted)/2]
}
