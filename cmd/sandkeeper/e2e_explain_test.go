package main

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/result"
	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// explained is what explain says of an id, as JSON.
func (a *arena) explained(id string) result.Explanation {
	a.Helper()
	var e result.Explanation
	if err := json.Unmarshal([]byte(a.must("explain", id, "-o", "json")), &e); err != nil {
		a.Fatalf("explain %s is no JSON: %v", id, err)
	}
	return e
}

// TestExplainTellsTheStory: of a task that was failed for good reason, explain has the row,
// the sandbox, the last pass, the log that was saved and everything in the order of time.
func TestExplainTellsTheStory(t *testing.T) {
	a := newArena(t, settings{})
	ws := a.working(3)
	stale := a.task(row{status: "assigned", key: "omoios-stale", created: time.Hour, updated: 4 * time.Minute})
	box := a.cloud.Put(simulated.Sandbox{Template: "ai-agent-dev-light", CreatedAt: time.Now().Add(-4 * time.Minute),
		Log: "worker: cannot reach the model", Labels: map[string]string{"project": "omoios", "task_id": stale}})
	a.once(0)
	a.later(30*time.Second, ws...)
	a.once(0)
	e := a.explained(stale)
	if e.Task == nil || e.Task.Status != "failed" || e.LastPass == nil || !e.LastPass.Complete || e.LastPass.Number < 2 {
		t.Fatalf("row %+v and last pass %+v", e.Task, e.LastPass)
	}
	if len(e.Logs) != 1 || !strings.Contains(e.Logs[0].Text, "cannot reach the model") {
		t.Errorf("saved logs = %+v, want the sandbox's last words", e.Logs)
	}
	if !slices.IsSortedFunc(e.Moments, func(a, b result.Moment) int { return a.At.Compare(b.At) }) {
		t.Errorf("moments are not in the order of time: %+v", e.Moments)
	}
	sources := map[string]bool{}
	for _, m := range e.Moments {
		sources[m.Source] = true
	}
	for _, want := range []string{result.ByTasks, result.ByLedger} {
		if !sources[want] {
			t.Errorf("no moment by %s in %+v", want, e.Moments)
		}
	}
	said := ""
	for _, m := range e.Moments {
		said += m.What + "\n"
	}
	last := 0
	for _, want := range []string{"task created", "sandbox " + box.ID + " first seen", "finding: assigned-stale", "fail planned by rule assigned-stale",
		"action: fail: done", "terminate requested", "confirmed gone after our terminate"} {
		at := strings.Index(said, want)
		if at < last {
			t.Errorf("%q is missing, or not after what comes before it, in:\n%s", want, said)
		}
		last = max(last, at)
	}
}

// TestExplainOfAHealthyOne: also what nobody suspects is explained, and nothing is listed
// for it.
func TestExplainOfAHealthyOne(t *testing.T) {
	a := newArena(t, settings{})
	ws := a.working(3)
	a.once(0)
	before := len(a.cloud.Calls())
	e := a.explained(ws[0].task)
	if e.Kept == "" || e.Whole || len(e.Sandboxes) != 1 || !e.Sandboxes[0].Here || e.Sandboxes[0].ID != ws[0].sandbox {
		t.Errorf("explanation of a healthy task: %+v", e)
	}
	for _, c := range a.cloud.Calls()[before:] {
		if c.Kind == simulated.List {
			t.Errorf("a provider was listed for one task")
		}
	}
	for i, name := range reconcile.RuleNames {
		if i >= len(e.Answers) || e.Answers[i].Rule != name || e.Answers[i].Why == "" || e.Answers[i].Mode == "" {
			t.Fatalf("no answer of rule %s in %+v", name, e.Answers)
		}
	}
	events := slices.ContainsFunc(e.Moments, func(m result.Moment) bool { return m.Source == result.ByEvents })
	cloud := slices.ContainsFunc(e.Moments, func(m result.Moment) bool { return m.Source == "daytona" })
	if !events || !cloud {
		t.Errorf("the worker's events: %t, the provider's word: %t, in %+v", events, cloud, e.Moments)
	}
}

// TestExplainOfSomebodyElses: it says that it is not ours, and exits with 1.
func TestExplainOfSomebodyElses(t *testing.T) {
	a := newArena(t, settings{})
	a.working(3)
	other := a.cloud.Put(simulated.Sandbox{CreatedAt: time.Now().Add(-time.Hour), Labels: map[string]string{"project": "b"}})
	a.once(0)
	if code, _, errs := a.run("explain", other.ID); code != 1 || !strings.Contains(errs, "not ours") {
		t.Errorf("exit code %d: %s", code, errs)
	}
}
