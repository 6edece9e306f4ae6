package reconcile

import "time"

// alike reports whether two measurements belong to one run of whatever a rule looks for.
func (v *Measurements) alike(o *Measurements) bool {
	return LoadOf(v.CPU) == LoadOf(o.CPU) && QueueOf(v.Executions) == QueueOf(o.Executions)
}

// Full reports whether the memory is nearly used up.
func (m *MemoryUse) Full() bool {
	return m != nil && m.Total > 0 && float64(m.Used) >= float64(m.Total)*fullAbove/100
}

// Measured reports whether anything could be measured.
func (v *Measurements) Measured() bool {
	return v.CPU != nil || v.Memory != nil || v.Executions != nil || len(v.Signs) > 0
}

// Strained reports whether something is over a limit, so that the log may tell more.
func (v *Measurements) Strained() bool {
	l := LoadOf(v.CPU)
	return l == LoadIdle || l == LoadBusy || v.Memory.Full()
}

// A ProbeOutcome says what a probe of a sandbox met.
type ProbeOutcome string

// The outcomes of a probe. Only [CannotStart] and [Hung] speak against the sandbox.
const (
	Answered       ProbeOutcome = "answered"       // exec ran and files were listed
	CannotStart    ProbeOutcome = "cannot-start"   // the sandbox's own data plane refused or failed
	Hung           ProbeOutcome = "hung"           // no answer within the time-out
	Infrastructure ProbeOutcome = "infrastructure" // control plane, network, limit: nothing is known of the sandbox
	NotAllowed     ProbeOutcome = "not-allowed"    // not in this state
)

// A WorkerState is what a probe learnt of the worker itself, in a sandbox that answers.
type WorkerState string

// The states of a worker. The zero value is not known: no command is configured, or it did not tell.
const (
	WorkerUnknown WorkerState = ""
	WorkerAlive   WorkerState = "alive"
	WorkerDead    WorkerState = "dead"
)

// Failed reports whether the outcome speaks against the sandbox.
func (o ProbeOutcome) Failed() bool { return o == CannotStart || o == Hung }

// A ProbeResult is one probe of one sandbox: a real exec and a real file listing.
type ProbeResult struct {
	Ref
	Outcome      ProbeOutcome
	Detail       string    // what failed, in the provider's words: "exec: 502 Bad Gateway; files: 404"
	At           time.Time // ledger's clock
	Took         time.Duration
	Exit         *int          // exit code of the command; nil when it gave none
	Worker       WorkerState   // of the sandbox's worker, where a command tells
	Measurements *Measurements // what was measured beside it; nil when nothing could be
}

// Measurements are what was measured inside or about a sandbox together with a probe. What could
// not be measured is nil, never 0.
type Measurements struct {
	At         time.Time       `json:"at"`            // ledger's clock
	CPU        *float64        `json:"cpu,omitempty"` // percent of what it may use
	Memory     *MemoryUse      `json:"memory,omitempty"`
	Executions *ExecutionsSeen `json:"executions,omitempty"`
	// Signs are what its log speaks of: "time-out", "stack overflow", "out of memory".
	Signs []string `json:"signs,omitempty"`
}

// MemoryUse is used memory and its limit, in bytes.
type MemoryUse struct {
	Used  int64 `json:"used"`
	Total int64 `json:"total"`
}

// ExecutionsSeen is what a sandbox was asked to run and has not finished.
type ExecutionsSeen struct {
	Queued    int           `json:"queued"`
	Running   int           `json:"running"`
	QueuedFor time.Duration `json:"queued_for"` // of the oldest queued one, by the provider's clocks
}
