package view

import (
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Replaced reports whether a sandbox may say nothing against the live task that it is one of: its
// row does not name this one, and the task has another one or was handed out again since.
func (v *signs) Replaced(s *reconcile.Subject, b *reconcile.SeenSandbox) bool {
	return s.Task != nil && s.LinkState == reconcile.LinkLive && !v.Testifies(s, b)
}

// AwaitsTurn reports whether the live task that a sandbox is one of waits for its turn: nothing works for it in there,
// and its next attempt may get one that is well. Where its row names one that is coming up since, the platform leaves
// the row so until it is up.
func (v *signs) AwaitsTurn(s *reconcile.Subject, b *reconcile.SeenSandbox) bool {
	if s.Task == nil || s.LinkState != reconcile.LinkLive || s.Task.State != reconcile.TaskPending {
		return false
	}
	age, by := v.StateAge(s)
	//guard:pending-coming live
	if b.State == reconcile.SandboxCreating && v.Vouched(s, b) && by != "" && v.Born(*b) <= age {
		return false
	}
	return true
}

// Testifies reports whether what is wrong with a sandbox may be held against its live task. A label alone is
// anybody's word: it counts only of the one sandbox that the task has, and of none that was there before the task
// was handed out. What the row names always may.
func (v *signs) Testifies(s *reconcile.Subject, b *reconcile.SeenSandbox) bool {
	if v.Vouched(s, b) {
		return true
	}
	other := s.HasBox(func(o *reconcile.SeenSandbox) bool {
		//guard:label-named harm
		return o.Ref != b.Ref && !o.Gone && (!o.Lost() || v.Vouched(s, o))
	})
	//guard:replaced-earlier harm
	return !other && (s.Task.State == reconcile.TaskRunning || !b.Known || !v.Earlier(s, b))
}

// LeftBehind reports whether a sandbox may not be the one that its live task is in: it is replaced, or was there
// before the present attempt began, and the row names another one, which may be on its way.
func (v *signs) LeftBehind(s *reconcile.Subject, b *reconcile.SeenSandbox) bool {
	if s.Task == nil || s.LinkState != reconcile.LinkLive {
		return false
	}
	//guard:label-elsewhere harm
	elsewhere := s.Task.Sandbox != "" && v.keyFor(b, s.Task) != "" && b.Known && v.Earlier(s, b)
	return elsewhere || v.Replaced(s, b)
}

// Vouched reports whether more than a label that anybody may have set says that the sandbox is the task's:
// its row names it.
func (v *signs) Vouched(s *reconcile.Subject, b *reconcile.SeenSandbox) bool {
	key := v.keyFor(b, s.Task)
	return key != "" && key == s.Task.Sandbox
}

// ProbesFrom is from when on probes of the sandbox say something of it.
func (v *signs) ProbesFrom(b *reconcile.SeenSandbox) time.Time {
	//guard:broken-recovered harm
	from := reconcile.Latest(v.Sources[reconcile.ProbesOf(b.Provider)].RecoveredAt, v.S.Memory.WatchSince)
	if !b.Seen().ResumedAt.IsZero() {
		//guard:broken-resumed harm
		from = reconcile.Latest(from, b.Seen().ResumedAt.Add(reconcile.ResumeGrace))
	}
	return from
}

// Earlier reports whether the ledger knew the sandbox before the task's present state began and
// the row does not name it: it may be of an earlier attempt, whenever it was noticed to be gone.
func (v *signs) Earlier(s *reconcile.Subject, b *reconcile.SeenSandbox) bool {
	since := !s.Known || v.earlierThan(b.Seen().FirstSeen, s.Seen().Since)
	return since && !v.Vouched(s, b)
}

// OfEarlier reports whether a sandbox that the row names may have ended before the task's present state began: the
// ledger knew it before, and has not seen it at work since. A name outlives a sandbox, and an id stays in the row for
// as long as nobody writes another; a row that got the id a moment after a listing showed it has no earlier one.
func (v *signs) OfEarlier(s *reconcile.Subject, b *reconcile.SeenSandbox) bool {
	seen := b.Seen()
	active := seen.StateSince
	//guard:earlier-gone harm
	if !seen.GoneAt.IsZero() { // its state was left then, and not come to
		active = reconcile.Latest(seen.RanAt, seen.ResumedAt)
	}
	if s.Known && seen.State.Active() && !v.earlierThan(active, s.Seen().Since) {
		return false
	}
	age, _ := v.StateAge(s)
	longer := v.Since(b.Seen().FirstSeen)-age > reconcile.ProviderSkew || v.P.Providers[b.Provider].ByKey(s.Task)
	return longer && (!s.Known || v.earlierThan(b.Seen().FirstSeen, s.Seen().Since))
}
