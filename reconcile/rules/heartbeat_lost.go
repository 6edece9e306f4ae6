package rules

import (
	"fmt"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// heartbeatLost finds a running task whose worker was due to speak and is silent: its newest sign
// promised another one, a heartbeat or that it waits. Silence alone proves nothing, for platforms'
// events do not mean what their names say: a failed probe of its sandbox, or a look at the worker
// itself, has to agree. A worker whose process is gone need not have promised anything.
func heartbeatLost(v *view.View, s *reconcile.Subject) Result {
	t := s.Task
	if t == nil || s.LinkState != reconcile.LinkLive || t.State != reconcile.TaskRunning {
		return apart(v, s, "running tasks are")
	}
	worker, _ := v.WorkerSeen(s)
	switch {
	case t.LastSeen().IsZero():
		return healthyResult("its worker was never seen, so no silence can be timed; " +
			"assigned-stale covers what never started")
	//guard:silent-beats harm
	case !v.Beats && worker != reconcile.WorkerDead:
		return healthyResult("no worker sends heartbeats here: silence proves nothing")
	}
	limit := max(After(v, "heartbeat-lost", s), v.Limit)
	if worker == reconcile.WorkerDead {
		limit = v.Limit // nobody waits for one that is gone for longer than a sign of life counts
	}
	all := t.AsOf.Sub(v.Sign(t))
	ran, _ := v.StateAge(s) // a sign of an earlier attempt does not time this one's silence
	//guard:silent-ran P5
	//guard:silent-recovered P6
	quiet := min(silentFor(v, t), ran, v.ObservedBy(t.Tenant, reconcile.SourceEvents, reconcile.SourceTasks))
	if quiet <= limit {
		if all > limit {
			return Result{Suspect: fmt.Sprintf("silent for %s, of which only %s count: others were not heard either, "+
				"a source was out, or it has not run for longer", text.Duration(all), text.Duration(quiet))}
		}
		return no(v, func() string {
			return fmt.Sprintf("last seen %s ago, limit %s", text.Duration(all), text.Duration(limit))
		})
	}
	return proven(v, s, fmt.Sprintf("silent for %s", text.Duration(quiet)), func() Result {
		return foundSilent(v, s, min(all, ran), limit)
	})
}

// namedAtRest is the sandbox that the row names, by its id or by its name, and that a direct look
// showed to be paused or to come up; nil when there is none.
func namedAtRest(v *view.View, s *reconcile.Subject) *reconcile.Sandbox {
	rests := func(sb *reconcile.Sandbox) bool {
		return sb.State == reconcile.SandboxSuspended || sb.State == reconcile.SandboxCreating
	}
	for _, ref := range v.LookRefs(s) {
		if look := v.S.Lookups[ref]; rests(&look.Sandbox) {
			return &look.Sandbox
		}
	}
	found := v.S.Finds[s.Task.ID].Sandboxes
	for i := range found {
		if rests(&found[i]) && found[i].CalledBy(s.Task.Sandbox) {
			return &found[i]
		}
	}
	return nil
}

func foundSilent(v *view.View, s *reconcile.Subject, ago, limit time.Duration) Result {
	t := s.Task
	return Result{
		Found: true, Due: true, NeedsProbe: true, Since: ago, Holds: unknowns(v, s),
		Reason: reconcile.Joined(fmt.Sprintf("worker fell silent: last seen %s, %s ago, limit %s",
			text.Time(t.LastSeen()), text.Duration(t.AsOf.Sub(v.Sign(t))), text.Duration(limit)),
			v.State(s), silenceWords(v, s)),
		Evidence: []reconcile.Evidence{
			{Source: "events", At: t.LastSeen(), Fact: "newest sign of life of this worker"},
			{Source: "tasks", At: t.AsOf, Fact: fmt.Sprintf("status %s, %d tasks run", t.Status, v.Running)},
			{Source: "providers", At: v.Now, Fact: reconcile.Joined(v.State(s), silenceWords(v, s))},
		},
	}
}

// unknowns are the task's sandboxes that were looked at in vain: one may be paused, and its task
// goes on. One that a listing shows needs no look.
func unknowns(v *view.View, s *reconcile.Subject) (holds reconcile.HeldBy) {
	for _, ref := range v.LookRefs(s) {
		//guard:silent-unlooked harm
		if look := v.S.Lookups[ref]; look.Error != "" {
			holds = append(holds, reconcile.Held{Kind: reconcile.HeldUnlooked, Reason: v.Unlooked(ref)})
		}
	}
	return holds
}

// silentFor is how long the worker has been silent while others were heard. When nobody
// was heard for a whole heartbeat, silence after the newest sign of all is the pipeline's:
// when that stops, the one who spoke earliest must not be taken for dead before the freeze
// can know.
func silentFor(v *view.View, t *reconcile.Task) time.Duration {
	if v.Running < 3 || t.AsOf.Sub(v.Newest) <= v.Limit/3 {
		return t.AsOf.Sub(v.Sign(t))
	}
	//guard:silent-as-others P6
	return v.Newest.Sub(v.Sign(t))
}
