package view

import (
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// MostTurns is how many failed attempts of a task the ledger remembers.
const MostTurns = 10

// taskSeenEndedBadly reports whether an attempt of the task ended without success since the ledger's
// last look: it failed, it waits again, or it was handed out again. One transition is one
// turn: that a failed row is requeued afterwards says nothing new.
func taskSeenEndedBadly(s *reconcile.TaskSeen, t *reconcile.Task) bool {
	switch {
	case s.State != reconcile.TaskRunning && s.State != reconcile.TaskAssigned:
		return false
	case t.State == reconcile.TaskFailed || t.State == reconcile.TaskPending:
		return true
	case t.State == reconcile.TaskAssigned:
		return s.State == reconcile.TaskRunning || s.Status == t.Status && taskSeenRetried(s, t)
	case t.State == reconcile.TaskRunning:
		return s.State == reconcile.TaskRunning && (taskSeenRetried(s, t) || taskSeenReplaced(s, t))
	}
	return false
}

// taskSeenRetried reports whether the row counts more attempts than it did.
func taskSeenRetried(s *reconcile.TaskSeen, t *reconcile.Task) bool {
	return reconcile.EntryAttempts(t.EntrySum()) > reconcile.EntryAttempts(s.EntrySum)
}

// taskSeenReplaced reports whether the row names another session or another sandbox than the one
// that it named. Its first session or sandbox replaces nothing.
func taskSeenReplaced(s *reconcile.TaskSeen, t *reconcile.Task) bool {
	const session = 1<<32 - 1
	before, now := s.EntrySum&session, t.EntrySum()&session
	counted := reconcile.EntryAttempts(s.EntrySum) != reconcile.EntryAttempts(t.EntrySum())
	return !counted && before != 0 && now != 0 && before != now ||
		s.Sandbox != "" && t.Sandbox != "" && s.Sandbox != t.Sandbox
}

// Turned adds a turn. The list is the ledger's own and is not written to.
func Turned(attempts []time.Time, at time.Time) []time.Time {
	if len(attempts) >= MostTurns {
		attempts = attempts[len(attempts)-MostTurns+1:]
	}
	return append(slices.Clone(attempts), at)
}

// taskSeenRecreated reports whether the task, live, got another sandbox than the one before.
func taskSeenRecreated(s *reconcile.TaskSeen, t *reconcile.Task) bool {
	return t.State.Live() && t.Sandbox != "" && t.Sandbox != s.Sandbox && (s.Sandbox != "" || len(s.Attempts) > 0)
}
