package decide

import (
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// finds has what finds by each row of [Rules] that is about one subject: a pure function of the
// subject and of what the whole fleet says.
var finds = map[string]func(*view.View, *reconcile.Subject) result{
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

// fleetAnswers has what each row that is about the whole fleet has to do with one subject.
var fleetAnswers = map[string]func(*view.View, *Judgement, *Decision) (says, why string){
	"template-unusable": templateAnswer,
	"systemic":          systemicAnswer,
	"capacity":          capacityAnswer,
}

// A result is what one rule says of one subject.
type result struct {
	found       bool
	due         bool                   // past the rule's threshold
	sandbox     *reconcile.SeenSandbox // the one that it is about; nil for the task
	reason      string
	evidence    []reconcile.Evidence
	suspect     string // suspected, and judged healthy because of this
	healthy     string // why it is plainly healthy; only while a view is telling
	needsLookup bool   // wants a direct look before it can say more
	needsProbe  bool   // wants a probe
	holds       reconcile.HeldBy

	sightings  int  // how many sightings make it due; 0 means that one look is enough
	notYet     bool // another look has to come first, however many sightings there were
	conclusive bool // does not rest on the silence of events
	veto       bool // forbids every fail and requeue of the row
	report     bool // never acted on, whatever the remedy

	// how long ago what it finds began: the stop, the deadline, the last sign of life; 0 when not known
	since time.Duration
}

// healthyResult is the answer that there is nothing to find, in words that need no numbers.
func healthyResult(why string) result { return result{healthy: why} }

// no is the answer that there is nothing to find. The words are made only when somebody asks
// for them: a pass does not pay for them.
func no(v *view.View, why func() string) result {
	if !v.Telling {
		return result{}
	}
	return result{healthy: why()}
}

// apart is the answer on a subject that is not of the kind that the rule judges.
func apart(v *view.View, s *reconcile.Subject, only string) result {
	if !v.Telling {
		return result{}
	}
	return result{healthy: "only " + only + " judged by this rule; " + subjectKind(s)}
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
