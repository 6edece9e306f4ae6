package rules

import (
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// Finds has what finds by each row of [reconcile.Rules] that is about one subject: a pure function of the
// subject and of what the whole fleet says.
var Finds = map[string]func(*view.View, *reconcile.Subject) Result{
	"finished-unrecorded":      finishedUnrecorded,
	"assigned-stale":           assignedStale,
	"sandbox-missing":          sandboxMissing,
	"heartbeat-lost":           heartbeatLost,
	"inactive":                 inactive,
	"deadline-exceeded":        deadlineExceeded,
	"stop-ignored":             stopIgnored,
	"finished-lingering":       finishedLingering,
	"pending-stuck":            pendingStuck,
	"awake":                    awake,
	"looping":                  looping,
	"orphan":                   orphan,
	"duplicate":                duplicate,
	"record-without-container": recordWithoutContainer,
	"provisioning-stuck":       provisioningStuck,
	"idle-broken":              idleBroken,
	"executions-stuck":         executionsStuck,
	"errored":                  errored,
	"over-age":                 overAge,
	"terminating-stuck":        terminatingStuck,
	"runaway":                  runaway,
}

// A Result is what one rule says of one subject.
type Result struct {
	Found       bool
	Due         bool                   // past the rule's threshold
	Sandbox     *reconcile.SeenSandbox // the one that it is about; nil for the task
	Reason      string
	Evidence    []reconcile.Evidence
	Suspect     string // suspected, and judged healthy because of this
	Healthy     string // why it is plainly healthy; only while a view is telling
	NeedsLookup bool   // wants a direct look before it can say more
	NeedsProbe  bool   // wants a probe
	Holds       reconcile.HeldBy

	Sightings  int  // how many sightings make it due; 0 means that one look is enough
	Anew       bool // what was found until now was something else: it is sighted for the first time
	Conclusive bool // does not rest on the silence of events
	Veto       bool // forbids every fail and requeue of the row
	Report     bool // never acted on, whatever the remedy

	// how long ago what it finds began: the stop, the deadline, the last sign of life; 0 when not known
	Since time.Duration
}

// Wants says what the rule still wants to see.
func (a *Result) Wants() string {
	switch {
	case a.NeedsLookup:
		return "a direct look has to settle it"
	case a.NeedsProbe:
		return "a probe has to settle it"
	}
	return ""
}

// healthyResult is the answer that there is nothing to find, in words that need no numbers.
func healthyResult(why string) Result { return Result{Healthy: why} }

// no is the answer that there is nothing to find. The words are made only when somebody asks
// for them: a pass does not pay for them.
func no(v *view.View, why func() string) Result {
	if !v.Telling {
		return Result{}
	}
	return Result{Healthy: why()}
}

// apart is the answer on a subject that is not of the kind that the rule judges.
func apart(v *view.View, s *reconcile.Subject, only string) Result {
	if !v.Telling {
		return Result{}
	}
	return Result{Healthy: "only " + only + " judged by this rule; " + subjectKind(s)}
}

// subjectKind says in words what kind of subject it is.
func subjectKind(s *reconcile.Subject) string {
	switch {
	case s.Task == nil:
		return "this is a sandbox without a task"
	case s.LinkState == reconcile.LinkLive || s.LinkState == reconcile.LinkEnded:
		return "this task is " + reconcile.FirstOf(string(s.Task.State), "in a status that is not mapped")
	}
	if s.Task.State.Rests() {
		return "this task is " + string(s.Task.State)
	}
	return "this task is outside of what may be judged"
}
