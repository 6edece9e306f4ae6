package decide

import (
	"cmp"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// rememberBack forgets that the task got another sandbox once that has come to something: its
// worker showed life, or the task is completed.
func rememberBack(v *view.View, seen *reconcile.TaskSeen, t *reconcile.Task) {
	if seen.Recreated.IsZero() {
		return
	}
	sign := v.Sign(view.TaskTold(t))
	heard := t.State.Live() && !sign.IsZero() && t.AsOf.Sub(sign) < v.Now.Sub(seen.Recreated)
	if heard || t.State == reconcile.TaskCompleted {
		seen.Recreated = time.Time{}
	}
}

// rememberLate keeps the newest sign of life that a stopped task's worker gave after the stop.
func rememberLate(v *view.View, seen *reconcile.TaskSeen, t *reconcile.Task) {
	if t.State != reconcile.TaskStopped {
		seen.LateSign = time.Time{}
		return
	}
	s := reconcile.Subject{Task: t, Was: seen.Compact(), Known: true}
	age, by := v.StateAge(&s)
	if by == "" || view.TaskAhead(t) {
		return
	}
	if sign := view.TaskTold(t).LastSeen(); sign.After(reconcile.Latest(t.AsOf.Add(-age), seen.LateSign)) {
		seen.LateSign = sign
	}
}

// rememberWork keeps when a sandbox that came back was first seen to work: a probe was
// answered, or its task's worker gave a sign of life.
func rememberWork(v *view.View, seen *reconcile.SandboxSeen, s *reconcile.Subject, b *reconcile.SeenSandbox) {
	if seen.ResumedAt.IsZero() || !seen.WorkedAt.IsZero() || b.State != reconcile.SandboxRunning {
		return
	}
	worked := b.Probes.LastAnswered.After(seen.ResumedAt)
	if t := s.Task; t != nil && s.LinkState == reconcile.LinkLive {
		sign := v.Sign(view.TaskTold(t))
		worked = worked || !sign.IsZero() && t.AsOf.Sub(sign) < v.Now.Sub(seen.ResumedAt)
	}
	if worked {
		seen.WorkedAt = v.Now
	}
}

// Tallies are what this pass adds to the counters of lives, from what it remembers again. Each
// event counts once: what the ledger knows already is no news.
func Tallies(v *view.View, tasks []reconcile.TaskSeen, boxes []reconcile.SandboxSeen) []reconcile.Counter {
	counted := map[reconcile.Counter]int64{}
	count := func(name, provider string, news bool) {
		if news {
			counted[reconcile.Counter{Name: name, Provider: provider}]++
		}
	}
	for i := range tasks {
		after, before := &tasks[i], v.S.Memory.Tasks.Of(tasks[i].ID)
		provider := providerOf(v, after)
		count("recreations", provider, !after.Recreated.IsZero() && !after.Recreated.Equal(before.Recreated))
		count("recreations_back", provider, after.Recreated.IsZero() && !before.Recreated.IsZero())
		count("work_after_stop", provider, after.LateSign.After(before.LateSign))
	}
	for i := range boxes {
		after, before := &boxes[i], v.S.Memory.Sandboxes.Of(boxes[i].Ref)
		count("resumes", after.Provider, !after.ResumedAt.Equal(before.ResumedAt) && !sandboxSeenResuming(&before))
		count("resumes_worked", after.Provider, !after.WorkedAt.IsZero() && before.WorkedAt.IsZero())
	}
	out := make([]reconcile.Counter, 0, len(counted))
	for c, n := range counted {
		c.Value = n
		out = append(out, c)
	}
	slices.SortFunc(out, func(a, b reconcile.Counter) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Provider, b.Provider))
	})
	return out
}

// sandboxSeenResuming reports whether the sandbox is on its way back already: what comes next is the
// same resume.
func sandboxSeenResuming(s *reconcile.SandboxSeen) bool {
	return s.State == reconcile.SandboxCreating && !s.ResumedAt.IsZero() && s.ResumedAt.Equal(s.StateSince)
}

// providerOf is the provider entry of a task, where there is no doubt which.
func providerOf(v *view.View, seen *reconcile.TaskSeen) string {
	t := v.Live[seen.ID]
	if row, ok := v.S.Rows[seen.ID]; t == nil && ok {
		t = &row
	}
	if t == nil {
		return ""
	}
	if names := v.P.Candidates(t); len(names) == 1 {
		return names[0]
	}
	return ""
}
