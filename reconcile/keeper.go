package reconcile

import (
	"log/slog"
	"slices"
	"time"
)

// The times of leases and claims.
const (
	leaseTTL    = 15 * time.Second
	leaseRenew  = 5 * time.Second
	stopGrace   = 20 * time.Second // for what was begun outside when the process is asked to stop
	leastActing = 5 * time.Second  // for beginning what is due, however short the wait is
	settleTime  = 10 * time.Second // for writing down what was done, also after a cancel
)

// A Keeper runs passes. All its fields are set once, before the first pass.
type Keeper struct {
	Policy    Policy
	Tasks     Tasks // nil with `tasks: none`
	Ledger    Ledger
	Providers map[string]Provider
	Queue     Queue    // told what a pass left to do, by [Keeper.Pass]; not used by Once and Look
	Notices   Notices  // what the platform is still to be told; nil: nobody is
	Notifier  Notifier // tells it; nil: nobody is
	Holder    string   // names this process to people: host and process id
	Log       *slog.Logger
	Progress  func(stage string) // called as a pass goes on; may be nil
	Parallel  int                // calls at once; 0 is a good default, 1 makes a pass deterministic

	turn int64 // of those who take turns in being looked at: the number of the pass
}

// A Result is what a pass came to.
type Result struct {
	Pass     int64
	Kind     PassKind
	At       time.Time // the ledger's now
	Complete bool
	Error    string // why it is not complete
	Plan     *Plan
	Open     []PlannedStep // of a look: what earlier passes left open, and a pass would go on with
	Sources  []SourceSeen
	Counts   map[string]int
	Done     map[string]Action // what became of the actions that were worked on, by id
	Waits    map[string]string // why an action that was due was not begun, by id
	Refused  map[string]bool   // actions that a provider refused in this run; they stay open
	Judged   *Judgement

	keeper *Keeper // with the policy and the providers of this pass
}

// Frozen are the sources that are not trusted and whose freeze makes a run of `once` fail:
// listings, tasks, link, events and probes. Clocks are findings, not failures, and workers that
// all do nothing hold the one rule that would judge it.
func (r *Result) Frozen() []SourceSeen {
	var out []SourceSeen
	for _, s := range r.Sources {
		if !s.Trusted && !isClock(s.Name) && s.Name != sourceActivity {
			out = append(out, s)
		}
	}
	return out
}

func isClock(source string) bool { return len(source) > 6 && source[:6] == "clock:" }

func (k *Keeper) progress(stage string) {
	if k.Progress != nil {
		k.Progress(stage)
	}
}

func (k *Keeper) parallel(want int) int {
	if k.Parallel > 0 {
		return k.Parallel
	}
	return want
}

// watch restarts what the ledger timed itself after a gap of more than two intervals
// between passes: nobody looked, so nothing was seen to last. The interval is the longer
// of the schedule and of what passes do in practice.
func watch(m *Memory, p *Policy) time.Time {
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
