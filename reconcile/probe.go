package reconcile

import "time"

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

// Failed reports whether the outcome speaks against the sandbox.
func (o ProbeOutcome) Failed() bool { return o == CannotStart || o == Hung }

// A ProbeResult is one probe of one sandbox: a real exec and a real file listing.
type ProbeResult struct {
	Ref
	Outcome ProbeOutcome
	Detail  string    // what failed, in the provider's words: "exec: 502 Bad Gateway; files: 404"
	At      time.Time // ledger's clock
	Took    time.Duration
}
