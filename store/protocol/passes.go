package protocol

import (
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// MostGaps is how many gaps between passes are remembered.
const MostGaps = 5

// Recent is how long a task that left the live set and a sandbox that is gone are still
// recalled.
const Recent = time.Hour

// Remember writes the ends of the newest complete passes, newest first, and of the last
// full one into m.
func Remember(m *reconcile.Memory, ends []time.Time, full time.Time) {
	m.Fresh = len(ends) == 0
	m.LastFull = full
	if m.Fresh {
		return
	}
	m.LastPass = ends[0]
	for i := 1; i < len(ends) && i <= MostGaps; i++ {
		m.Gaps = append(m.Gaps, ends[i-1].Sub(ends[i]))
	}
}

// Known is the set of rules that a ledger knows; nil, which means all, when it keeps no
// list yet.
func Known(rules []string) map[string]bool {
	if rules == nil {
		return nil
	}
	known := make(map[string]bool, len(rules))
	for _, r := range rules {
		known[r] = true
	}
	return known
}
