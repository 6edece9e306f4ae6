package reconcile

import (
	"cmp"
	"slices"
	"time"
)

// mostTurns is how many failed attempts of a task the ledger remembers.
const mostTurns = 10

// endedBadly reports whether an attempt of the task ended without success since the ledger's
// last look: it failed, it waits again, or it was handed out anew. One transition is one
// turn: that a failed row is requeued afterwards says nothing new.
func (s *TaskSeen) endedBadly(t *Task) bool {
	switch {
	case s.State != TaskRunning && s.State != TaskAssigned:
		return false
	case t.State == TaskFailed || t.State == TaskPending:
		return true
	case t.State == TaskAssigned:
		return s.State == TaskRunning || s.Status == t.Status && s.retried(t)
	case t.State == TaskRunning:
		return s.State == TaskRunning && (s.retried(t) || s.replaced(t))
	}
	return false
}

// retried reports whether the row counts more attempts than it did.
func (s *TaskSeen) retried(t *Task) bool { return t.entrySum()>>32 > s.EntrySum>>32 }

// replaced reports whether the row names another session or another sandbox than the one
// that it named. Its first session or sandbox replaces nothing.
func (s *TaskSeen) replaced(t *Task) bool {
	const session = 1<<32 - 1
	before, now := s.EntrySum&session, t.entrySum()&session
	return s.EntrySum>>32 == t.entrySum()>>32 && before != 0 && now != 0 && before != now ||
		s.Sandbox != "" && t.Sandbox != "" && s.Sandbox != t.Sandbox
}

// turned adds a turn. The list is the ledger's own and is not written to.
func turned(turns []time.Time, at time.Time) []time.Time {
	if len(turns) >= mostTurns {
		turns = turns[len(turns)-mostTurns+1:]
	}
	return append(slices.Clone(turns), at)
}

// recreated reports whether the task, live, got another sandbox than the one before.
func (s *TaskSeen) recreated(t *Task) bool {
	return t.State.Live() && t.Sandbox != "" && t.Sandbox != s.Sandbox && (s.Sandbox != "" || len(s.Turns) > 0)
}

// rememberBack forgets that the task got another sandbox once that has come to something: its
// worker showed life, or the task is completed.
func (v *view) rememberBack(seen *TaskSeen, t *Task) {
	if seen.Recreated.IsZero() {
		return
	}
	sign := v.sign(t.told())
	heard := t.State.Live() && !sign.IsZero() && t.AsOf.Sub(sign) < v.now.Sub(seen.Recreated)
	if heard || t.State == TaskCompleted {
		seen.Recreated = time.Time{}
	}
}

// rememberLate keeps the newest life sign that a stopped task's worker gave after the stop.
func (v *view) rememberLate(seen *TaskSeen, t *Task) {
	if t.State != TaskStopped {
		seen.LateSign = time.Time{}
		return
	}
	s := Subject{Task: t, Seen: *seen, Known: true}
	age, by := v.stateAge(&s)
	if by == "" || t.ahead() {
		return
	}
	if sign := t.told().LifeSign(); sign.After(latest(t.AsOf.Add(-age), seen.LateSign)) {
		seen.LateSign = sign
	}
}

// rememberWork keeps when a sandbox that came back was first seen to work: a probe was
// answered, or its task's worker gave a life sign.
func (v *view) rememberWork(seen *SandboxSeen, s *Subject, b *Box) {
	if seen.ResumedAt.IsZero() || !seen.WorkedAt.IsZero() || b.State != SandboxRunning {
		return
	}
	worked := b.Probes.LastAnswered.After(seen.ResumedAt)
	if t := s.Task; t != nil && s.Fate == FateLive {
		sign := v.sign(t.told())
		worked = worked || !sign.IsZero() && t.AsOf.Sub(sign) < v.now.Sub(seen.ResumedAt)
	}
	if worked {
		seen.WorkedAt = v.now
	}
}

// tallies are what this pass adds to the counters of lives, from what it remembers anew. Each
// event counts once: what the ledger knows already is no news.
func (v *view) tallies(tasks []TaskSeen, boxes []SandboxSeen) []Counter {
	counted := map[Counter]int64{}
	count := func(name, provider string, news bool) {
		if news {
			counted[Counter{Name: name, Provider: provider}]++
		}
	}
	for i := range tasks {
		after, before := &tasks[i], v.s.Memory.Tasks[tasks[i].ID]
		provider := v.providerOf(after)
		count("recreations", provider, !after.Recreated.IsZero() && !after.Recreated.Equal(before.Recreated))
		count("recreations_back", provider, after.Recreated.IsZero() && !before.Recreated.IsZero())
		count("work_after_stop", provider, after.LateSign.After(before.LateSign))
	}
	for i := range boxes {
		after, before := &boxes[i], v.s.Memory.Sandboxes[boxes[i].Ref]
		count("resumes", after.Provider, !after.ResumedAt.Equal(before.ResumedAt) && !before.resuming())
		count("resumes_worked", after.Provider, !after.WorkedAt.IsZero() && before.WorkedAt.IsZero())
	}
	out := make([]Counter, 0, len(counted))
	for c, n := range counted {
		c.Value = n
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b Counter) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Provider, b.Provider))
	})
	return out
}

// resuming reports whether the sandbox is on its way back already: what comes next is the
// same resume.
func (s *SandboxSeen) resuming() bool {
	return s.State == SandboxCreating && !s.ResumedAt.IsZero() && s.ResumedAt.Equal(s.StateSince)
}

// providerOf is the provider entry of a task, where there is no doubt which.
func (v *view) providerOf(seen *TaskSeen) string {
	t := v.live[seen.ID]
	if row, ok := v.s.Rows[seen.ID]; t == nil && ok {
		t = &row
	}
	if t == nil {
		return ""
	}
	if names := v.candidates(t); len(names) == 1 {
		return names[0]
	}
	return ""
}
