package peers

import (
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// looked is a view of one row whose sandbox was got.
func looked(t reconcile.Task, look reconcile.Lookup) View {
	return View{Tasks: []reconcile.Task{t}, Looks: map[string]reconcile.Lookup{t.ID: look}}
}

func is(state reconcile.SandboxState) reconcile.Lookup {
	return reconcile.Lookup{Sandbox: box(state, time.Hour)}
}

func worked(d time.Duration) func(*reconcile.Task) {
	return func(t *reconcile.Task) { t.StartedAt, t.Events.Activity = ago(10*time.Hour), ago(d) }
}

func finished(d time.Duration) func(*reconcile.Task) {
	return func(t *reconcile.Task) { t.Events.Finished = ago(d) }
}

func TestKortixTurns(t *testing.T) {
	lately := row(reconcile.TaskRunning, worked(time.Minute))
	armed := func(d time.Duration) View {
		v := looked(lately, is(reconcile.SandboxStopped))
		v.Notes = Notes{"stopped:t": ago(d)}
		return v
	}
	for name, c := range map[string]decided{
		"removed":                                {kortixTurns, looked(lately, reconcile.Lookup{Gone: true}), "fail"},
		"a state that is terminal":               {kortixTurns, looked(lately, is(reconcile.SandboxFailed)), "fail"},
		"the provider does not answer":           {kortixTurns, looked(lately, reconcile.Lookup{Error: "503"}), ""},
		"coming up":                              {kortixTurns, looked(lately, is(reconcile.SandboxCreating)), ""},
		"paused":                                 {kortixTurns, looked(lately, is(reconcile.SandboxSuspended)), ""},
		"stopped, first look":                    {kortixTurns, looked(lately, is(reconcile.SandboxStopped)), ""},
		"stopped, confirmed too early":           {kortixTurns, armed(time.Minute - 1), ""},
		"stopped, confirmed a minute later":      {kortixTurns, armed(time.Minute), "fail"},
		"running, worked just less than 4h ago":  {kortixTurns, looked(row(reconcile.TaskRunning, worked(4*time.Hour-1)), is(reconcile.SandboxRunning)), ""},
		"running, worked 4 hours ago":            {kortixTurns, looked(row(reconcile.TaskRunning, worked(4*time.Hour)), is(reconcile.SandboxRunning)), "stop fail"},
		"its turn ended just less than 15m ago":  {kortixTurns, looked(row(reconcile.TaskRunning, worked(time.Hour), finished(15*time.Minute-1)), is(reconcile.SandboxRunning)), ""},
		"its turn ended 15 minutes ago":          {kortixTurns, looked(row(reconcile.TaskRunning, worked(time.Hour), finished(15*time.Minute)), is(reconcile.SandboxRunning)), "stop"},
		"it worked on after the end of its turn": {kortixTurns, looked(row(reconcile.TaskRunning, worked(time.Minute), finished(time.Hour)), is(reconcile.SandboxRunning)), ""},
		"assigned is no turn":                    {kortixTurns, looked(row(reconcile.TaskAssigned), reconcile.Lookup{Gone: true}), ""},
		"its last work is in the future":         {kortixTurns, looked(row(reconcile.TaskRunning, worked(-time.Hour)), is(reconcile.SandboxRunning)), ""},
	} {
		t.Run(name, c.check)
	}
}

// TestKortixForgetsAStop: a look that says running makes the next stop a first one again.
func TestKortixForgetsAStop(t *testing.T) {
	v := looked(row(reconcile.TaskRunning, worked(time.Minute)), is(reconcile.SandboxRunning))
	v.Notes = Notes{"stopped:t": ago(time.Hour)}
	kortixTurns(&v)
	if len(v.Notes) != 0 {
		t.Errorf("it still notes %v", v.Notes)
	}
}

func TestKortixStuck(t *testing.T) {
	updated := func(d time.Duration) func(*reconcile.Task) {
		return func(t *reconcile.Task) { t.UpdatedAt = ago(d) }
	}
	bare := func(t *reconcile.Task) { t.Sandbox = "" }
	speaks := func(t *reconcile.Task) { t.Events.Activity = ago(time.Minute) }
	assigned := func(d time.Duration, look reconcile.Lookup) View {
		return looked(row(reconcile.TaskAssigned, updated(d)), look)
	}
	for name, c := range map[string]decided{
		"assigned just less than 30m, stopped": {kortixStuck, assigned(30*time.Minute-1, is(reconcile.SandboxStopped)), ""},
		"assigned 30 minutes, stopped":         {kortixStuck, assigned(30*time.Minute, is(reconcile.SandboxStopped)), "fail"},
		"assigned 30 minutes, removed":         {kortixStuck, assigned(30*time.Minute, reconcile.Lookup{Gone: true}), "fail"},
		"assigned 30 minutes, running":         {kortixStuck, assigned(time.Hour, is(reconcile.SandboxRunning)), ""},
		"assigned 30 minutes, no answer":       {kortixStuck, assigned(time.Hour, reconcile.Lookup{Error: "503"}), ""},
		"no sandbox for exactly 15 minutes":    {kortixStuck, tasks(row(reconcile.TaskRunning, bare, updated(15*time.Minute))), ""},
		"no sandbox for longer":                {kortixStuck, tasks(row(reconcile.TaskRunning, bare, updated(15*time.Minute+1))), "fail"},
		"no sandbox, and it works":             {kortixStuck, tasks(row(reconcile.TaskRunning, bare, speaks, updated(time.Hour))), ""},
		"pending":                              {kortixStuck, tasks(row(reconcile.TaskPending, bare, updated(time.Hour))), ""},
	} {
		t.Run(name, c.check)
	}
}

func TestKortixBoxes(t *testing.T) {
	alone := func(state reconcile.SandboxState, age time.Duration) View {
		return View{Boxes: []reconcile.Sandbox{box(state, age)}}
	}
	with := func(rows ...reconcile.Task) View {
		return View{Boxes: []reconcile.Sandbox{box(reconcile.SandboxRunning, 2*time.Hour)}, Rows: rows}
	}
	updated := func(d time.Duration) func(*reconcile.Task) {
		return func(t *reconcile.Task) { t.UpdatedAt = ago(d) }
	}
	kept := func(t *reconcile.Task) { t.KeepAliveUntil = noon.Add(time.Minute) }
	used := func(d time.Duration, rows ...reconcile.Task) View {
		v := with(rows...)
		v.Boxes[0].LastActivityAt = ago(d)
		return v
	}
	for name, c := range map[string]decided{
		"no row, just less than an hour old":   {kortixBoxes, alone(reconcile.SandboxRunning, time.Hour-1), ""},
		"no row, an hour old":                  {kortixBoxes, alone(reconcile.SandboxRunning, time.Hour), "stop"},
		"no row, stopped":                      {kortixBoxes, alone(reconcile.SandboxStopped, 2*time.Hour), ""},
		"no row, created in the future":        {kortixBoxes, alone(reconcile.SandboxRunning, -time.Hour), ""},
		"a live row":                           {kortixBoxes, with(row(reconcile.TaskRunning, updated(5*time.Hour))), ""},
		"stopped exactly 5 minutes ago":        {kortixBoxes, with(row(reconcile.TaskStopped, updated(5*time.Minute))), ""},
		"stopped longer ago":                   {kortixBoxes, with(row(reconcile.TaskStopped, updated(5*time.Minute+1))), "stop"},
		"failed exactly 15 minutes ago":        {kortixBoxes, with(row(reconcile.TaskFailed, updated(15*time.Minute))), ""},
		"failed longer ago":                    {kortixBoxes, with(row(reconcile.TaskFailed, updated(15*time.Minute+1))), "stop"},
		"completed, used exactly 15m ago":      {kortixBoxes, used(15*time.Minute, row(reconcile.TaskCompleted, updated(time.Hour))), ""},
		"completed, used longer ago":           {kortixBoxes, used(15*time.Minute+1, row(reconcile.TaskCompleted, updated(time.Hour))), "stop"},
		"stopped, used a moment ago":           {kortixBoxes, used(time.Second, row(reconcile.TaskStopped, updated(time.Hour))), "stop"},
		"completed exactly 15 minutes ago":     {kortixBoxes, with(row(reconcile.TaskCompleted, updated(15*time.Minute))), ""},
		"completed longer ago":                 {kortixBoxes, with(row(reconcile.TaskCompleted, updated(15*time.Minute+1))), "stop"},
		"completed, and it still works":        {kortixBoxes, with(row(reconcile.TaskCompleted, worked(time.Minute), updated(time.Hour))), ""},
		"completed, and kept alive on purpose": {kortixBoxes, with(row(reconcile.TaskCompleted, kept, updated(time.Hour))), ""},
	} {
		t.Run(name, c.check)
	}
}

// TestKortixLooksAgain: the row is asked once more, so that one that was continued meanwhile
// keeps its sandbox.
func TestKortixLooksAgain(t *testing.T) {
	v := View{Boxes: []reconcile.Sandbox{box(reconcile.SandboxRunning, time.Hour)},
		Rows: []reconcile.Task{row(reconcile.TaskStopped, func(t *reconcile.Task) { t.UpdatedAt = ago(time.Hour) })}}
	for _, d := range kortixBoxes(&v) {
		if d.Still == nil || d.Still(row(reconcile.TaskRunning)) || !d.Still(v.Rows[0]) {
			t.Error("it does not ask whether the row is still parked")
		}
	}
}
