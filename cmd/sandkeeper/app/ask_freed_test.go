package app

import (
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/web/api"
)

// TestFreed: a confirmation names what is done once something holds no more, each sandbox and task, and what stays held.
func TestFreed(t *testing.T) {
	breaker := reconcile.Held{Kind: reconcile.HeldBreaker}
	hold := reconcile.Hold{Target: "task:t-run", Reason: "evidence", Author: "ana"}.Held()
	finding := func(rule, task, box string, by ...reconcile.Held) reconcile.Finding {
		return reconcile.Finding{Rule: rule, Subject: reconcile.FirstOf(reconcile.TaskSubject(task), "sandbox:daytona/"+box),
			Provider: "daytona", Task: task, Sandbox: box, Due: true, HeldBy: by}
	}
	waiting := reconcile.Action{Rule: "orphan", Step: reconcile.StepTerminate, Provider: "daytona", Sandbox: "alone", Seq: 1}
	for name, c := range map[string]struct {
		of     reconcile.Finding
		remedy reconcile.Remedy
		change func(*freeing)
		want   string // its steps
		will   string // words of it
		left   string
	}{
		"a sandbox of nobody": {of: finding("orphan", "", "alone", breaker), remedy: reconcile.Terminate,
			want: "sandbox:daytona/alone: terminated (orphan)", will: "1 sandbox is terminated"},
		"a live task, with what its row names": {of: finding("assigned-stale", "t-run", "", breaker), remedy: reconcile.Fail,
			want: "sandbox:daytona/used: terminated (assigned-stale); task:t-run: marked failed (assigned-stale)",
			will: "1 sandbox is terminated, 1 task is marked failed"},
		"a live task that is run again": {of: finding("assigned-stale", "t-run", "", breaker), remedy: reconcile.Requeue,
			want: "sandbox:daytona/used: terminated (assigned-stale); " +
				"task:t-run: set back to be run again, or marked failed (assigned-stale)", will: "set back"},
		"a live task, whose sandboxes are kept": {of: finding("assigned-stale", "t-run", "", breaker), remedy: reconcile.Fail,
			change: func(w *freeing) { w.policy.Tasks.KeepSandboxes = true },
			want:   "task:t-run: marked failed (assigned-stale)", will: "1 task is marked failed"},
		"a task that is over": {of: finding("finished-lingering", "t-done", "over", breaker), remedy: reconcile.Fail,
			want: "sandbox:daytona/over: terminated (finished-lingering)", will: "1 sandbox is terminated"},
		"what is only stopped": {of: finding("orphan", "", "alone", breaker), remedy: reconcile.Quarantine,
			want: "sandbox:daytona/alone: stopped (orphan)", will: "1 further step is taken"},
		"a step that is recorded": {change: func(w *freeing) { w.m.Actions = []reconcile.Action{waiting} },
			want: "sandbox:daytona/alone: terminated (orphan)", will: "1 sandbox is terminated"},
		"held by another too": {of: finding("assigned-stale", "t-run", "", breaker, hold), remedy: reconcile.Fail,
			will: "Nothing that is known now is done because of it.", left: "task:t-run: hold: task:t-run (evidence) by ana"},
		"held by another alone": {of: finding("assigned-stale", "t-run", "", hold), remedy: reconcile.Fail, will: "Nothing"},
		"only reported": {of: finding("orphan", "", "alone", breaker), remedy: reconcile.Report, will: "Nothing",
			left: "orphan only reports"},
		"not due": {of: reconcile.Finding{Rule: "orphan", Sandbox: "alone", HeldBy: reconcile.HeldBy{breaker}},
			remedy: reconcile.Terminate, will: "Nothing"},
	} {
		w := &freeing{m: remembered(), policy: reconcile.Policy{Rules: map[string]reconcile.RulePolicy{
			c.of.Rule: {Mode: reconcile.Enforce, Remedy: c.remedy}}}}
		if c.change != nil {
			c.change(w)
		}
		w.foretell([]reconcile.FindingSeen{{Finding: c.of}}, func(_ *reconcile.Finding, by reconcile.Held) bool { return by == breaker },
			func(a *reconcile.Action) bool { return a.Seq > 0 })
		var p api.Preview
		w.into(&p)
		if got := joined(p.Steps); got != c.want {
			t.Errorf("%s: done is\n%s\nwant\n%s", name, got, c.want)
		}
		will, left := strings.Join(p.Will, " "), joined(p.Left)
		if !strings.Contains(will, c.will) || !strings.Contains(left, c.left) || c.left == "" && left != "" {
			t.Errorf("%s: says %q, leaves %q", name, will, left)
		}
	}
}
