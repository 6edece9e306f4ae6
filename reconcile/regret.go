package reconcile

import (
	"fmt"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// The bounds of looking for regrets.
const (
	watchFor    = 2 * time.Hour // so long after its verdict a task may come back to life
	watchMost   = 500           // rows read for it in one pass
	regretMost  = 2             // percent of a rule's verdicts; more, and it goes back to observe
	regretLeast = 3             // fewer prove nothing
)

// signOf is the newest sign of life that would refute the rule.
func signOf(rule string, t *Task) time.Time {
	if RuleNamed(rule).RefutedBy == ByActivity {
		return t.Activity()
	}
	return t.LifeSign()
}

// attempt tells one attempt of a task from another: its count, its session and its sandbox,
// each by its own bits, so that a column that was merely cleared shows.
func (s *Subject) attempt() uint64 {
	if s.Task == nil {
		return 0
	}
	return s.Task.attempt()
}

func (t *Task) attempt() uint64 {
	const bits = 1<<24 - 1
	return uint64(t.Attempts)<<48 | sum(t.Session)&bits<<24 | sum(t.Sandbox)&bits
}

// parts are the count, the session and the sandbox of an attempt, the latter two 0 for none.
func parts(attempt uint64) (count, session, sandbox uint64) {
	const bits = 1<<24 - 1
	return attempt >> 48, attempt >> 24 & bits, attempt & bits
}

// watched are the verdicts of a memory that life could still refute, at most [watchMost] of
// them, the newest.
func (m *Memory) watched() []*Verdict {
	var out []*Verdict
	for i := range m.Verdicts {
		w := &m.Verdicts[i]
		if Watched(w.Rule) && w.Task != "" && !w.Over && w.RegretAt.IsZero() && m.Now.Sub(w.At) < watchFor {
			out = append(out, w)
		}
	}
	return out[max(len(out)-watchMost, 0):]
}

// regret looks what became of the tasks that were called dead.
func (v *view) regret(j *Judgement) {
	if v.p.Tasks.None || !v.trusted(sourceTasks) {
		return
	}
	news := map[string]int{}
	for _, w := range v.s.Memory.watched() {
		what, over := v.lives(w)
		if over {
			j.Over = append(j.Over, w.Number)
		}
		if what == "" {
			continue
		}
		j.Regrets = append(j.Regrets, Regret{Verdict: w.Number, Rule: w.Rule, At: v.now, What: what})
		if w.Enforced && w.acted() && w.Number > v.s.Memory.Armed[w.Rule] {
			news[w.Rule]++
		}
	}
	for _, rule := range sortedKeys(news) {
		if d, ok := v.demotion(rule, news[rule]); ok {
			j.Demoted = append(j.Demoted, d)
		}
	}
}

// lives says what life a task showed after its verdict; over says that it cannot show any
// more, because it was handed out anew or is gone.
func (v *view) lives(w *Verdict) (what string, over bool) {
	t := v.row(w.Task)
	if t == nil {
		return "", v.s.Absent[w.Task]
	}
	if t.State == TaskStopped || w.handedOut(t) {
		return "", true
	}
	sign := signOf(w.Rule, t)
	if t.State != TaskRunning || w.acted() {
		sign = t.workerSign(w.Rule)
	}
	switch {
	case t.State == TaskCompleted:
		return fmt.Sprintf("completed, seen %s after the verdict", text.Duration(v.now.Sub(w.At))), false
	case t.State == TaskRunning && !w.FailedAt.IsZero() && t.sandboxSince(w.Attempt):
		return fmt.Sprintf("%s again in the same sandbox, seen %s after the verdict", t.Status, text.Duration(v.now.Sub(w.At))), false
	case sign.After(w.Sign) && sign.After(w.TaskAt) && sign.Sub(t.AsOf) <= skew: // no clock that its worker winds
		return fmt.Sprintf("life sign %s, %s after the verdict", text.Time(sign), text.Duration(sign.Sub(w.TaskAt))), false
	}
	return "", false
}

// acted reports whether something of ours was done: what follows may be the platform's answer.
func (w *Verdict) acted() bool { return !w.ActedAt.IsZero() }

// row is a task's row, live or read by key; nil when it was not read or is not there.
func (v *view) row(id string) *Task {
	if t := v.live[id]; t != nil {
		return t
	}
	if t, ok := v.s.Rows[id]; ok {
		return &t
	}
	return nil
}

// sandboxSince reports whether the row names the same sandbox as it did in an attempt.
func (t *Task) sandboxSince(attempt uint64) bool {
	_, _, was := parts(attempt)
	_, _, is := parts(t.attempt())
	return was != 0 && was == is
}

// handedOut reports whether the row is of another attempt than the verdict's. Where that
// cannot be told it counts as one: what a platform or a person starts anew refutes nothing.
func (w *Verdict) handedOut(t *Task) bool {
	wasCount, wasSession, wasSandbox := parts(w.Attempt)
	count, session, sandbox := parts(t.attempt())
	if count != wasCount {
		return t.State != TaskPending || !marked(t.Error) // our own requeue, which nobody has taken up
	}
	stands := t.State == TaskFailed && marked(t.Error)
	if t.State == TaskPending || w.begunAnew(t, stands) {
		return true
	}
	if stands {
		return false // as we left it: whoever writes to it now is the old worker
	}
	if w.changed(t, wasSession, session) || w.changed(t, wasSandbox, sandbox) {
		return true
	}
	return w.acted() && (t.State == TaskAssigned || t.State == TaskRunning && t.began().IsZero())
}

// begunAnew reports whether a worker started after the verdict, of a task that had one before
// or that we ended meanwhile. While the row stands as we left it the first one started late.
func (w *Verdict) begunAnew(t *Task, stands bool) bool {
	return t.began().After(w.TaskAt) && (!w.Sign.IsZero() || w.acted() && !stands)
}

// began is the newest start of a worker that the row or its events tell of.
func (t *Task) began() time.Time { return latest(t.StartedAt, t.Events.Started) }

// changed reports whether a column tells of another attempt. Our own write clears it, and the
// row's first attempt may fill it in late.
func (w *Verdict) changed(t *Task, was, is uint64) bool {
	switch {
	case was == is:
		return false
	case is == 0:
		return t.State.Live()
	}
	return was != 0 || w.acted()
}

// demotion lowers an enforced rule whose regrets, these new ones included, are too many among
// its last verdicts that were carried out.
func (v *view) demotion(rule string, news int) (Demotion, bool) {
	t := v.s.Memory.Regrets[rule]
	t.Regrets += news
	t.Verdicts = max(t.Verdicts, t.Regrets)
	//guard:regret-demotes harm
	if v.p.Rules[rule].Mode != Enforce || t.Regrets < regretLeast || t.Regrets*100 <= regretMost*t.Verdicts {
		return Demotion{}, false
	}
	reason := fmt.Sprintf("%d of the last %d tasks that it called dead came back to life, more than %d%%: it only "+
		"observes now; raise its threshold, then arm it again with: sandkeeper mode %s clear",
		t.Regrets, t.Verdicts, regretMost, rule)
	return Demotion{Rule: rule, Reason: reason}, true
}
