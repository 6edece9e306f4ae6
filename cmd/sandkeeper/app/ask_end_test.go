package app

import (
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/web/api"
)

// remembered is a ledger's memory of a running task with its sandbox, a finished one with its, and one that nobody
// explains.
func remembered() *reconcile.Memory {
	box := func(id, task string) reconcile.SandboxSeen {
		return reconcile.SandboxSeen{Ref: reconcile.Ref{Provider: "daytona", ID: id}, Name: "name-" + id, Task: task,
			State: reconcile.SandboxRunning}
	}
	m := &reconcile.Memory{Now: time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC),
		Tasks: reconcile.RememberedOf(map[string]reconcile.TaskSeen{
			"t-run":  {ID: "t-run", Status: "running", State: reconcile.TaskRunning, Live: true, Sandbox: "name-used"},
			"t-done": {ID: "t-done", Status: "completed", State: reconcile.TaskCompleted},
		})}
	for _, b := range []reconcile.SandboxSeen{box("used", ""), box("over", "t-done"), box("alone", "")} {
		m.Sandboxes.Put(b.Ref, b)
	}
	return m
}

// TestEndings: what is asked for without a look at the worlds is never more than a verb would end.
func TestEndings(t *testing.T) {
	hold := func(target string) func(*reconcile.Memory) {
		return func(m *reconcile.Memory) {
			m.Controls.Holds = []reconcile.Hold{{Target: target, Reason: "evidence", Author: "ana"}}
		}
	}
	alone := reconcile.Ref{Provider: "daytona", ID: "alone"}
	change := func(of func(*reconcile.SandboxSeen)) func(*reconcile.Memory) {
		return func(m *reconcile.Memory) {
			b := m.Sandboxes.Of(alone)
			of(&b)
			m.Sandboxes.Put(alone, b)
		}
	}
	for name, c := range map[string]struct {
		id      string // "": all
		running bool
		change  func(*reconcile.Memory)
		end     string // ids
		left    string // words of why
		refused string
	}{
		"by its id":             {id: "alone", end: "alone"},
		"by provider/id":        {id: "daytona/alone", end: "alone"},
		"by its name":           {id: "name-alone", end: "alone"},
		"as a subject":          {id: "sandbox:daytona/alone", end: "alone"},
		"by its task":           {id: "t-done", end: "over"},
		"by a task's row":       {id: "t-run", running: true, end: "used"},
		"in use":                {id: "used", left: "task t-run is running in it"},
		"in use, all the same":  {id: "used", running: true, end: "used"},
		"all":                   {end: "alone over", left: "include_running"},
		"all, at work too":      {running: true, end: "alone over used"},
		"nothing":               {id: "none", refused: "on record"},
		"held":                  {id: "alone", change: hold("sandbox:alone"), left: "evidence"},
		"its provider is held":  {id: "alone", change: hold("provider:daytona"), left: "evidence"},
		"its task is held":      {id: "over", change: hold("task:t-done"), left: "evidence"},
		"the task of its row":   {id: "used", running: true, change: hold("task:t-run"), left: "evidence"},
		"gone":                  {id: "alone", change: change(func(b *reconcile.SandboxSeen) { b.GoneAt = time.Now() }), refused: "on record"},
		"on its way out":        {id: "alone", change: change(func(b *reconcile.SandboxSeen) { b.State = reconcile.SandboxDeleting })},
		"of a provider unknown": {id: "alone", change: change(func(b *reconcile.SandboxSeen) { b.Provider = "old" }), left: "does not name its provider"},
		"two of one name": {id: "name-alone", change: func(m *reconcile.Memory) {
			b := m.Sandboxes.Of(alone)
			b.Provider = "e2b"
			m.Sandboxes.Put(b.Ref, b)
		}, refused: "several go by"},
		"an untrusted listing": {id: "alone", change: func(m *reconcile.Memory) {
			m.Sources = map[string]reconcile.SourceSeen{"listing:daytona": {Name: "listing:daytona"}}
		}, left: "--anyway"},
		"recorded already": {id: "alone", change: func(m *reconcile.Memory) {
			m.Actions = []reconcile.Action{{ID: "a1", Rule: reconcile.RuleOperator, Author: "ana", PlannedAt: m.Now, Step: reconcile.StepTerminate,
				Provider: "daytona", Sandbox: "alone", Outcome: reconcile.OutcomePending}}
		}, left: "recorded already"},
	} {
		t.Run(name, func(t *testing.T) {
			m := remembered()
			if c.change != nil {
				c.change(m)
			}
			e := &ending{m: m, rule: reconcile.RuleOperator, running: c.running,
				known: func(provider string) bool { return provider == "daytona" || provider == "e2b" }}
			e.index()
			var err error
			if c.id == "" {
				e.all("")
			} else {
				err = e.one(c.id)
			}
			var ids []string
			for _, b := range e.end {
				ids = append(ids, b.ID)
			}
			if got := strings.Join(ids, " "); got != c.end {
				t.Errorf("ends %q, want %q", got, c.end)
			}
			if got := joined(e.left); (got == "") != (c.left == "") || !strings.Contains(got, c.left) {
				t.Errorf("leaves %q, want %q", got, c.left)
			}
			if (err != nil) != (c.refused != "") || err != nil && !strings.Contains(err.Error(), c.refused) {
				t.Errorf("refused: %v, want %q", err, c.refused)
			}
		})
	}
}

// TestListsAreRepeated: yes is said to the list that was shown, and to no other.
func TestListsAreRepeated(t *testing.T) {
	p := &api.Preview{Count: 2, Hash: "h"}
	for name, c := range map[string]struct {
		act  api.Act
		must bool
		want bool
	}{
		"it":                      {api.Act{Count: 2, Hash: "h"}, true, true},
		"another one":             {api.Act{Count: 2, Hash: "x"}, false, false},
		"of another length":       {api.Act{Count: 3, Hash: "h"}, false, false},
		"half of it":              {api.Act{Hash: "h"}, false, false},
		"none":                    {api.Act{}, true, false},
		"none, where none has to": {api.Act{}, false, true},
	} {
		if got := shown(p, c.act, c.must); got != c.want {
			t.Errorf("%s: %t, want %t", name, got, c.want)
		}
	}
}
