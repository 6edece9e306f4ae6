package reconcile

import (
	"fmt"
	"strings"
	"time"
)

// assignedStale finds a task that was handed out and whose worker never started: no start
// time, no event ever. A sandbox that is still coming up is exempt until
// provisioning-stuck. A proven failure shortens the threshold; an unusable template only
// names the cause.
func assignedStale(v *view, s *Subject) answer {
	t := s.Task
	if t == nil || s.Fate != FateLive || t.State != TaskAssigned && t.State != TaskRunning {
		return v.apart(s, "assigned and running tasks are")
	}
	if v.started(s) {
		return v.no(func() string {
			return "its worker has started: started " + stamp(s.presentStart()) + ", " + lifeLine(t)
		})
	}
	if age, alive := v.alive(t); alive {
		if !v.heard(t) {
			return answer{kept: fmt.Sprintf("its row was changed %s ago: it is being set up", short(age))}
		}
		return answer{kept: fmt.Sprintf("a worker of it gave a life sign %s ago, before it was handed out", short(age))}
	}
	if b := s.comingUp(); b != nil {
		return answer{kept: fmt.Sprintf("its sandbox %s is still %s", b.ID, b.Raw)}
	}
	proof, conclusive := v.conclusive(s)
	after := v.threshold("assigned-stale", s)
	if conclusive {
		after = min(after, v.p.Rules["assigned-stale"].Conclusive)
	}
	age, by := v.unstartedFor(s, conclusive)
	if age < after {
		return answer{kept: fmt.Sprintf("%s for %s of %s", t.Status, short(age), short(after))}
	}
	if why := v.maybeStarted(s); why != "" {
		return answer{kept: why}
	}
	where, ok := v.whereabouts(s)
	if !ok {
		return answer{look: v.canLook(t), kept: where}
	}
	out := v.neverStarted(s, where, proof, fmt.Sprintf("status %s for %s by %s, limit %s, no start time",
		t.Status, short(age), by, short(after)))
	out.conclusive, out.ago = conclusive, age
	return out
}

// unstartedFor is for how long the task has certainly been handed out while all that could
// tell of a start was watched.
func (v *view) unstartedFor(s *Subject, conclusive bool) (time.Duration, string) {
	age, by := v.stateAge(s)
	age -= max(s.Task.AsOf.Sub(v.s.T0), 0) // the state must have begun before the listings did
	if !conclusive {
		age = min(age, v.observed(sourceEvents))
	}
	return max(min(age, v.observed(sourceTasks), v.observedListings(s.Task)), 0), by
}

// maybeStarted says why the worker may have started although nothing tells of it here.
func (v *view) maybeStarted(s *Subject) string {
	if b := s.unknownBox(); b != nil {
		return fmt.Sprintf("its sandbox %s is in the unknown state %q", b.ID, b.Raw)
	}
	if b, ago := v.busyElsewhere(s); b != nil {
		return fmt.Sprintf("its sandbox %s was active %s ago at the provider, and its worker may report to "+
			"another environment that shares the account (exclusive: false)", b.ID, short(ago))
	}
	return ""
}

func (v *view) neverStarted(s *Subject, where, proof, clock string) answer {
	t := s.Task
	cause, because := v.cause(s)
	return answer{
		found: true, due: true,
		reason: strings.Join(nonEmpty("worker never started: "+where, proof, cause), "; "),
		evidence: append([]Evidence{
			{Source: "tasks", At: t.AsOf, Fact: clock},
			{Source: "events", At: t.AsOf, Fact: "no event of this worker ever"},
			{Source: "providers", At: v.now, Fact: where},
		}, because...),
	}
}

// conclusive reports a proof that the start failed: the platform wrote an error during
// the present state, or the task's own sandbox was there and is failed or gone.
func (v *view) conclusive(s *Subject) (string, bool) {
	if s.Seen.ErrorChanged && s.Seen.Status == s.Task.Status && s.Task.Error != "" && !marked(s.Task.Error) {
		return "the platform noted: " + clip(s.Task.Error, 200), true
	}
	if len(s.Boxes) == 0 {
		return "", false
	}
	for _, b := range s.Boxes {
		if !b.Known || s.past(&b) || !b.Lost() && b.State != SandboxFailed {
			return "", false
		}
	}
	return "", true
}

// busyElsewhere is a running sandbox of the task that the provider saw active a moment ago,
// where the account may be shared: on a copy of the database its worker seems never to have
// started, while it reports to the original.
func (v *view) busyElsewhere(s *Subject) (*Box, time.Duration) {
	for i := range s.Boxes {
		b := &s.Boxes[i]
		if !b.Here || b.State != SandboxRunning || v.p.Providers[b.Provider].Exclusive || b.LastActivityAt.IsZero() {
			continue
		}
		if ago := b.AsOf.Sub(b.LastActivityAt); ago <= v.limit {
			return b, ago
		}
	}
	return nil, 0
}

// comingUp is a sandbox of the subject that is on its way to running.
func (s *Subject) comingUp() *Box {
	for i := range s.Boxes {
		if s.Boxes[i].Here && s.Boxes[i].State == SandboxCreating {
			return &s.Boxes[i]
		}
	}
	return nil
}

// unknownBox is a sandbox in a state that the adapter does not know: nothing is done
// because of it.
func (s *Subject) unknownBox() *Box {
	for i := range s.Boxes {
		if s.Boxes[i].Here && s.Boxes[i].State == SandboxUnknown {
			return &s.Boxes[i]
		}
	}
	return nil
}

// observedListings is for how long the listings that matter to the task have been
// trusted without an outage.
func (v *view) observedListings(t *Task) time.Duration {
	observed := forever
	for _, provider := range v.candidates(t) {
		observed = min(observed, v.observed(listingOf(provider)))
	}
	return observed
}
