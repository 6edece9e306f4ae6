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
		return m.WatchSince
	}
	interval := max(p.Full, UsualGap(m))
	//guard:watch-gap P6
	if interval > 0 && m.Now.Sub(m.LastPass) > 2*interval {
		return m.Now
	}
	return m.WatchSince
}

// UsualGap is the median of the last gaps between passes, 0 when there is none.
func UsualGap(m *Memory) time.Duration {
	if len(m.Gaps) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(m.Gaps))
	return sorted[len(sorted)/2]
}
