package decide

import (
	"fmt"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// subjectAttempt tells one attempt of a task from another: its count, its session and its sandbox,
// each by its own bits, so that a column that was merely cleared shows.
func subjectAttempt(s *reconcile.Subject) uint64 {
	if s.Task == nil {
		return 0
	}
	return s.Task.Attempt()
}

// parts are the count, the session and the sandbox of an attempt, the latter two 0 for none.
func parts(attempt uint64) (count, session, sandbox uint64) {
	const bits = 1<<24 - 1
	return attempt >> 48, attempt >> 24 & bits, attempt & bits
}

// falsePositive looks what became of the tasks that were marked failed.
func falsePositive(v *view.View, j *Judgement) {
	if v.P.Tasks.None || !v.Trusted(reconcile.SourceTasks) {
		return
	}
	news := map[string][]string{} // by rule: the tenant of each
	for _, w := range view.MemoryWatched(&v.S.Memory) {
		what, over := lives(v, w)
		if over {
			j.Over = append(j.Over, w.Number)
		}
		if what == "" {
			continue
		}
		j.FalsePositives = append(j.FalsePositives, reconcile.FalsePositive{Verdict: w.Number, Rule: w.Rule,
			At: v.Now, What: what})
		if w.Enforced && verdictActed(w) && w.Number > v.S.Memory.Armed[w.Rule] {
			news[w.Rule] = append(news[w.Rule], v.TenantOfSubject(reconcile.TaskSubject(w.Task)))
		}
	}
	usedAfter(v, j)
	j.Refuted = map[string][]string{}
	for _, rule := range reconcile.RuleNames {
		d, ok := demotion(v, rule, len(news[rule]))
		tenants := refutedBy(v, rule, news[rule])
		switch {
		case !ok:
		//guard:refuted-tenants live
		case len(tenants) > 0:
			j.Refuted[rule] = tenants
		case len(news[rule]) > 0:
			j.Demoted = append(j.Demoted, d)
		}
	}
}

// refutedBy are the tenants whose tasks alone refute a rule; none when they are so many, or so little known, that it
// is wrong for anybody.
func refutedBy(v *view.View, rule string, news []string) []string {
	tenants := slices.Concat(v.S.Memory.RefutedBy[rule], news)
	slices.Sort(tenants)
	tenants = slices.Compact(tenants)
	if !v.P.Tasks.Tenants || len(tenants) >= reconcile.FalsePositivesLeast || slices.Contains(tenants, "") {
		return nil
	}
	return tenants
}

// lives says what life a task showed after its verdict; over says that it cannot show any
// more, because it was handed out again or is gone.
func lives(v *view.View, w *reconcile.Verdict) (what string, over bool) {
	t := row(v, w.Task)
	if t == nil {
		return "", v.S.Absent[w.Task]
	}
	if t.State == reconcile.TaskStopped || handedOut(w, t) {
		return "", true
	}
	sign := reconcile.SignOf(w.Rule, t)
	if t.State != reconcile.TaskRunning || verdictActed(w) {
		sign = view.TaskWorkerSign(t, w.Rule)
	}
	switch {
	case t.State == reconcile.TaskCompleted:
		return fmt.Sprintf("completed, seen %s after the verdict", text.Duration(v.Now.Sub(w.At))), false
	case t.State == reconcile.TaskRunning && !w.FailedAt.IsZero() && sandboxSince(t, w.Attempt):
		return fmt.Sprintf("%s again in the same sandbox, seen %s after the verdict", t.Status,
			text.Duration(v.Now.Sub(w.At))), false
	// no clock that its worker winds
	case sign.After(w.Sign) && sign.After(w.TaskAt) && sign.Sub(t.AsOf) <= reconcile.Skew:
		return fmt.Sprintf("seen alive at %s, %s after the verdict", text.Time(sign),
			text.Duration(sign.Sub(w.TaskAt))), false
	}
	return "", false
}

// verdictActed reports whether something of ours was done: what follows may be the platform's answer.
func verdictActed(w *reconcile.Verdict) bool { return !w.ActedAt.IsZero() }

// row is a task's row, live or read by key; nil when it was not read or is not there.
func row(v *view.View, id string) *reconcile.Task {
	if t := v.Live[id]; t != nil {
		return t
	}
	if t, ok := v.S.Rows[id]; ok {
		return &t
	}
	return nil
}

// sandboxSince reports whether the row names the same sandbox as it did in an attempt.
func sandboxSince(t *reconcile.Task, attempt uint64) bool {
	_, _, was := parts(attempt)
	_, _, is := parts(t.Attempt())
	return was != 0 && was == is
}

// handedOut reports whether the row is of another attempt than the verdict's. Where that
// cannot be told it counts as one: what a platform or a person starts again refutes nothing.
func handedOut(w *reconcile.Verdict, t *reconcile.Task) bool {
	wasCount, wasSession, wasSandbox := parts(w.Attempt)
	count, session, sandbox := parts(t.Attempt())
	if count != wasCount {
		return t.State != reconcile.TaskPending || !reconcile.Marked(t.Error) // our own requeue, which nobody has taken up
	}
	stands := t.State == reconcile.TaskFailed && reconcile.Marked(t.Error)
	if t.State == reconcile.TaskPending || verdictBegunAnew(w, t, stands) {
		return true
	}
	if stands {
		return false // as we left it: whoever writes to it now is the old worker
	}
	if verdictChanged(w, t, wasSession, session) || verdictChanged(w, t, wasSandbox, sandbox) {
		return true
	}
	return verdictActed(w) && (t.State == reconcile.TaskAssigned || t.State == reconcile.TaskRunning &&
		taskBegan(t).IsZero())
}

// verdictBegunAnew reports whether a worker started after the verdict, of a task that had one before
// or that we ended meanwhile. While the row stands as we left it the first one started late.
func verdictBegunAnew(w *reconcile.Verdict, t *reconcile.Task, stands bool) bool {
	return taskBegan(t).After(w.TaskAt) && (!w.Sign.IsZero() || verdictActed(w) && !stands)
}

// taskBegan is the newest start of a worker that the row or its events tell of.
func taskBegan(t *reconcile.Task) time.Time { return reconcile.Latest(t.StartedAt, t.Events.Started) }

// verdictChanged reports whether a column tells of another attempt. Our own write clears it, and the
// row's first attempt may fill it in late.
func verdictChanged(w *reconcile.Verdict, t *reconcile.Task, was, is uint64) bool {
	switch {
	case was == is:
		return false
	case is == 0:
		return t.State.Live()
	}
	return was != 0 || verdictActed(w)
}

// demotion lowers an enforced rule whose regrets, these new ones included, are too many among
// its last verdicts that were carried out.
func demotion(v *view.View, rule string, news int) (reconcile.Demotion, bool) {
	t := v.S.Memory.FalsePositives[rule]
	t.FalsePositives += news
	t.Verdicts = max(t.Verdicts, t.FalsePositives)
	//guard:regret-demotes harm
	if v.P.Rules[rule].Mode != reconcile.Enforce || t.FalsePositives < reconcile.FalsePositivesLeast ||
		t.FalsePositives*100 <= reconcile.FalsePositivesMost*t.Verdicts {
		return reconcile.Demotion{}, false
	}
	reason := fmt.Sprintf("%d of the last %d tasks that it marked failed came back to life, more than %d%%: it only "+
		"observes now; raise its threshold, then arm it again with: sandkeeper mode %s clear",
		t.FalsePositives, t.Verdicts, reconcile.FalsePositivesMost, rule)
	return reconcile.Demotion{Rule: rule, Reason: reason}, true
}
