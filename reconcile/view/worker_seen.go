package view

import (
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// SinceSilent reports whether a moment of the ledger's clock lies after the worker's newest sign.
func (v *signs) SinceSilent(s *reconcile.Subject, at time.Time) bool {
	//guard:silent-future harm
	if at.After(v.Now) {
		return false
	}
	return !at.IsZero() && v.Now.Sub(at) <= s.Task.AsOf.Sub(v.Sign(s.Task))
}

// WorkerSeen is what the newest probe since the worker's newest sign learnt of the worker itself, and
// when. A command that says of every worker that it is dead is wrong, and says nothing.
func (v *signs) WorkerSeen(s *reconcile.Subject) (seen reconcile.WorkerState, at time.Time) {
	for i := range s.Boxes {
		b := &s.Boxes[i]
		last := b.Probes.Last
		if !b.Here || b.State != reconcile.SandboxRunning || v.Replaced(s, b) || last.Outcome != reconcile.Answered ||
			!v.SinceSilent(s, last.At) {
			continue
		}
		//guard:worker-ours live
		if !b.Owned && !v.P.Providers[b.Provider].Referenced || BoxAnothers(b, s.Task) {
			continue
		}
		if v.Now.Sub(last.At) > 2*v.P.Full || last.At.Before(b.Seen().ResumedAt) {
			continue // it may have ended, or been started again, since: it is asked once more
		}
		//guard:worker-began harm
		if last.Worker == reconcile.WorkerDead && !v.wasThere(s, b) {
			continue
		}
		//guard:worker-resumed harm
		if last.Worker == reconcile.WorkerDead && (last.At.Before(v.ProbesFrom(b)) || !v.WorkersSeen(b.Provider)) {
			continue
		}
		//guard:worker-any harm
		if last.Worker == reconcile.WorkerAlive {
			return last.Worker, last.At
		}
		if last.Worker == reconcile.WorkerDead {
			seen, at = last.Worker, last.At
		}
	}
	return seen, at
}

// WorkerGone reports whether the worker of the task's present state was found alive by a probe, and by the newest
// one dead: nothing that is being set up yet looks like that.
func (v *signs) WorkerGone(s *reconcile.Subject) (at time.Time, gone bool) {
	worker, at := v.WorkerSeen(s)
	gone = worker == reconcile.WorkerDead && s.HasBox(func(b *reconcile.SeenSandbox) bool {
		//guard:stale-worker-heir harm
		if b.Task != s.Task.ID && !v.Vouched(s, b) {
			return false // it only goes on with a name: of another task that has that name, too, its worker may be
		}
		//guard:stale-worker-found harm
		return b.Probes.Last.At.Equal(at) && b.Ours() && found(s, b)
	})
	return at, gone
}

// AsksWorker reports whether a probe can tell whether the worker of the task is there, and would keep nothing
// awake.
func (v *signs) AsksWorker(s *reconcile.Subject) bool {
	return s.HasBox(func(b *reconcile.SeenSandbox) bool {
		p := v.P.Providers[b.Provider]
		return p.Probe.Worker != "" && !p.Probe.Off && !p.KeptAwake && b.Here && b.State == reconcile.SandboxRunning &&
			b.Ours() && !v.Replaced(s, b) && !BoxAnothers(b, s.Task)
	})
}

// BoxAnothers reports whether the sandbox names another task by its label: what is seen in it says nothing
// of the one whose row names it.
func BoxAnothers(b *reconcile.SeenSandbox, t *reconcile.Task) bool {
	return b.Task != "" && b.Task != t.ID
}

// wasThere reports whether the worker of the present attempt is known to have been in the sandbox: a probe
// found it, or it said so itself.
func (v *signs) wasThere(s *reconcile.Subject, b *reconcile.SeenSandbox) bool {
	return found(s, b) || spoke(s)
}

// found reports whether a probe found a worker in the sandbox since the task's present state began.
func found(s *reconcile.Subject, b *reconcile.SeenSandbox) bool {
	return s.Known && !b.Probes.WorkerAt.IsZero() && !b.Probes.WorkerAt.Before(s.Seen().Since)
}

// spoke reports whether the worker of the present attempt said so itself that it had begun.
func spoke(s *reconcile.Subject) bool {
	e := &s.Task.Events
	return !e.Started.IsZero() && !e.Started.Before(SubjectPresentStart(s)) || !TaskHeartbeat(s.Task).IsZero()
}

// WorkersSeen reports whether the provider's command for workers has found some worker alive: one
// that never does is misspelt, or looks for what this platform does not run.
func (v *signs) WorkersSeen(provider string) bool {
	for ref, seen := range v.S.Memory.Probes {
		if ref.Provider == provider && !seen.WorkerAt.IsZero() {
			return true
		}
	}
	//guard:worker-command harm
	return false
}
