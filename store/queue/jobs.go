package queue

import (
	"context"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// The queues: one a kind.
const (
	passQueue   = "passes"
	remedyQueue = "remedies"
	probeQueue  = "probes"
)

// How long a job may run before its context ends. What runs for longer than that, and for
// a minute at least, is taken for a killed process's and rescued. A pass has no other
// bound than what it calls; this one only keeps it from lasting for ever.
const (
	passTimeout   = 15 * time.Minute
	remedyTimeout = 2 * time.Minute
	probeTimeout  = 45 * time.Second
	rescueAfter   = time.Minute
)

// probeTakes is how long a probe that runs keeps its sandbox from being probed again. What
// takes longer is a killed process's: the sandbox must not wait until that is rescued.
const probeTakes = 20 * time.Second

// probersEach is how many probes there are at a time for each remedy: a probe does little but wait for a sandbox, and
// some of those hang for as long as they may.
const probersEach = 2

// remedyAttempts is how often a remedy is tried on its own. The next pass kicks it again
// in any case, as long as it is called for.
const remedyAttempts = 6

// pushedMost is how many sandboxes one pass looks at because of pushes; further ones wait for the next.
const pushedMost = 300

// passArgs are a job to run a pass. It has one attempt: the next turn is the second.
type passArgs struct {
	Pass    reconcile.PassKind `json:"kind"`
	Overdue bool               `json:"overdue,omitempty"` // a watch's, and void when a pass came after all
	Asked   bool               `json:"asked,omitempty"`   // a person's: however lately another pass began
	Pushed  []reconcile.Ref    `json:"pushed,omitempty"`  // a provider's: which sandboxes to look at besides
}

// Kind names the kind of job.
func (passArgs) Kind() string { return "pass" }

// InsertOpts are how such a job is added.
func (passArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: passQueue, MaxAttempts: 1}
}

// remedyArgs are a job to work at a remedy.
type remedyArgs struct {
	ID string `json:"id"`
}

// Kind names the kind of job.
func (remedyArgs) Kind() string { return "remedy" }

// InsertOpts are how such a job is added.
func (remedyArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: remedyQueue, MaxAttempts: remedyAttempts}
}

// probeArgs are a job to probe a sandbox. It has one attempt: its budget was for that one.
type probeArgs struct {
	Provider string `json:"provider"`
	Sandbox  string `json:"sandbox"`
}

// Kind names the kind of job.
func (probeArgs) Kind() string { return "probe" }

// InsertOpts are how such a job is added.
func (probeArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: probeQueue, MaxAttempts: 1}
}

// begins leaves it to the database when a pass job begins, which is at once: River would
// write the leader's time.
type begins struct{ river.HookDefaults }

// InsertBegin changes a job that is about to be added.
func (*begins) InsertBegin(_ context.Context, p *rivertype.JobInsertParams) error {
	if p.Kind == (passArgs{}).Kind() {
		p.ScheduledAt = nil
	}
	return nil
}

// backoff is when a remedy that failed is tried again: after 1, 2, 4 … 30 s.
type backoff struct{}

// NextRetry says when, in the time of the process, as River wants it.
func (backoff) NextRetry(job *rivertype.JobRow) time.Time {
	return time.Now().Add(backoffAfter(job.Attempt))
}

func backoffAfter(attempt int) time.Duration {
	return min(time.Second<<min(max(attempt-1, 0), 5), 30*time.Second)
}
