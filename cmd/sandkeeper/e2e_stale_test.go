package main

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

func (a *arena) deactivate() {
	a.cloud.PutTemplate(simulated.Template{Name: "ai-agent-dev-light", State: reconcile.TemplateInactive,
		CreatedAt: time.Now().AddDate(0, -1, 0), LastUsedAt: time.Now().AddDate(0, 0, -15)})
}

// TestStaleTasksNameTheInactiveSnapshot: ten tasks hang in assigned and claiming because
// nothing starts from the snapshot. They fail with the cause; all others stay as they are.
func TestStaleTasksNameTheInactiveSnapshot(t *testing.T) {
	a := newArena(t, settings{limits: "{}"})
	a.deactivate()
	var stale []string
	for i := range 10 {
		status := []string{"assigned", "claiming"}[i%2]
		stale = append(stale, a.task(row{status: status, key: "omoios-stale-" + string(rune('a'+i)),
			created: 5 * time.Hour, updated: 4 * time.Minute}))
	}
	a.task(row{status: "assigned", key: "omoios-fresh", created: 5 * time.Hour, updated: 5 * time.Second})
	a.task(row{status: "pending", created: 5 * time.Hour, updated: 4 * time.Minute})
	a.task(
		row{
			status:  "completed",
			key:     "omoios-done",
			created: 5 * time.Hour,
			updated: time.Hour,
			started: 2 * time.Hour,
		},
	)
	a.task(row{status: "failed", created: 5 * time.Hour, updated: time.Hour, err: "may have crashed"})
	a.task(row{status: "cancelled", created: 5 * time.Hour, updated: time.Hour})
	ws := a.working(4)
	others := a.rows()
	for _, id := range stale {
		delete(others, id)
	}
	a.once(0)
	a.once(0)
	for _, id := range stale {
		status, why := a.state(id)
		if status != "failed" || !strings.Contains(why, `snapshot "ai-agent-dev-light" is inactive`) {
			t.Errorf("task %s is %s: %s", id, status, why)
		}
	}
	after := a.rows()
	for _, id := range stale {
		delete(after, id)
	}
	if diff := cmp.Diff(others, after); diff != "" {
		t.Errorf("rows that are none of its business (-before +after):\n%s", diff)
	}
	a.keeps(ws)
	out := a.must("explain", stale[0])
	if !strings.Contains(out, "assigned-stale") || !strings.Contains(out, "inactive") {
		t.Errorf("explain does not say why:\n%s", out)
	}
}

// TestWorkerWhoseSandboxIsGone: the container vanished, the worker was heard last minutes
// ago. It takes two looks, and a life sign vetoes.
func TestWorkerWhoseSandboxIsGone(t *testing.T) {
	a := newArena(t, settings{})
	ws := a.working(6)
	a.once(0)
	gone, quiet := ws[0], ws[1]
	for _, w := range []worker{gone, quiet} {
		a.cloud.Change(w.sandbox, func(s *simulated.Sandbox) { s.Gone, s.State = true, reconcile.SandboxEnded })
	}
	a.later(2*time.Minute, ws[1:]...) // the second one's worker still speaks
	a.once(0)
	a.later(31*time.Second, ws[1:]...)
	a.once(0)
	status, why := a.state(gone.task)
	if status != "failed" || !strings.Contains(why, "gone") {
		t.Errorf("the task without a sandbox is %s: %s", status, why)
	}
	if status, why := a.state(quiet.task); status != "running" {
		t.Errorf("a task whose worker was just heard is %s: %s", status, why)
	}
	a.keeps(ws[2:])
}

// TestStoppedAndFinishedSandboxesGo: what a person stopped, and what finished long ago, is
// ended at the provider; the rows are not touched.
func TestStoppedAndFinishedSandboxesGo(t *testing.T) {
	a := newArena(t, settings{})
	stopped := a.task(row{status: "cancelled", key: "omoios-stopped", created: time.Hour, updated: 20 * time.Second})
	finished := a.task(row{status: "completed", key: "omoios-old", created: time.Hour, updated: 15 * time.Minute})
	lately := a.task(row{status: "completed", key: "omoios-new", created: time.Hour, updated: 5 * time.Minute})
	ends := []string{a.box(stopped, time.Hour).ID, a.box(finished, time.Hour).ID}
	stays := a.box(lately, time.Hour).ID
	before := a.rows()
	a.once(0)
	for _, id := range ends {
		if !a.ended(id) {
			t.Errorf("sandbox %s of an ended task lives on", id)
		}
	}
	if a.ended(stays) {
		t.Error("the sandbox of a task that finished 5 minutes ago was ended")
	}
	if diff := cmp.Diff(before, a.rows()); diff != "" {
		t.Errorf("rows were changed (-before +after):\n%s", diff)
	}
}

// TestRecordOfTheEndNeedsNoSecondLook: what the provider has on record of the end of a sandbox, its audit log, settles
// it in one pass, and is in the reason. Of one that vanished without a record a second look has to tell.
func TestRecordOfTheEndNeedsNoSecondLook(t *testing.T) {
	a := newArena(t, settings{})
	ws := a.working(6)
	a.once(0)
	a.later(2*time.Minute, ws[2:]...)
	for n, w := range ws[:2] {
		a.cloud.Change(w.sandbox, func(s *simulated.Sandbox) {
			if s.Gone, s.State = true, reconcile.SandboxEnded; n == 0 {
				s.EndedAt, s.EndedFor, s.EndedBy = time.Now().Add(-20*time.Second), "timeout", "ops@example.com"
			}
		})
	}
	a.once(0)
	status, why := a.state(ws[0].task)
	if status != "failed" || !strings.Contains(why, "on record that it ended at") || !strings.Contains(why, "auto_delete, by ops@example.com") {
		t.Errorf("the task whose end is on record is %s: %s", status, why)
	}
	if status, why := a.state(ws[1].task); status != "running" {
		t.Errorf("the task whose sandbox vanished is %s after one look: %s", status, why)
	}
	if out := a.must("explain", ws[0].task); !strings.Contains(out, "verdict of sandbox-missing") ||
		!strings.Contains(out, "(auto_delete, by ops@example.com)") {
		t.Errorf("explain does not show the record:\n%s", out)
	}
	a.keeps(ws[2:])
}
