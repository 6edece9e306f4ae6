package view

import (
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Replaced reports whether a sandbox of a live task is one too many: its row does not name this
// one, and the task has another one or was handed out again since. It says nothing of the task.
func (v *signs) Replaced(s *reconcile.Subject, b *reconcile.SeenSandbox) bool {
	if s.Task == nil || s.LinkState != reconcile.LinkLive {
		return false
	}
	if key := v.keyFor(b, s.Task); key != "" && key == s.Task.Sandbox {
		return false
	}
	other := s.HasBox(func(o *reconcile.SeenSandbox) bool { return o.Ref != b.Ref && !o.Gone && !o.Lost() })
	//guard:replaced-earlier harm
	return other || s.Task.State == reconcile.TaskAssigned && v.Earlier(s, b)
}

// ProbesFrom is from when on probes of the sandbox say something of it.
func (v *signs) ProbesFrom(b *reconcile.SeenSandbox) time.Time {
	//guard:broken-recovered harm
	from := reconcile.Latest(v.Sources[reconcile.ProbesOf(b.Provider)].RecoveredAt, v.S.Memory.WatchSince)
	if !b.Seen.ResumedAt.IsZero() {
		//guard:broken-resumed harm
		from = reconcile.Latest(from, b.Seen.ResumedAt.Add(reconcile.ResumeGrace))
	}
	return from
}

// Earlier reports whether the ledger knew the sandbox before the task's present state began and
// the row does not name it: it may be of an earlier attempt, whenever it was noticed to be gone.
func (v *signs) Earlier(s *reconcile.Subject, b *reconcile.SeenSandbox) bool {
	key := v.keyFor(b, s.Task)
	since := !s.Known || v.earlierThan(b.Seen.FirstSeen, s.Seen.Since)
	return since && (key == "" || key != s.Task.Sandbox)
}
