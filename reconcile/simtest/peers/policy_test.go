package peers

import (
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func ago(d time.Duration) time.Time { return noon.Add(-d) }

// row is a row as it is read at noon.
func row(state reconcile.TaskState, change ...func(*reconcile.Task)) reconcile.Task {
	t := reconcile.Task{ID: "t", Status: string(state), State: state, AsOf: noon, Sandbox: "sb"}
	for _, c := range change {
		c(&t)
	}
	return t
}

func box(state reconcile.SandboxState, age time.Duration) reconcile.Sandbox {
	return reconcile.Sandbox{Ref: reconcile.Ref{Provider: "lab", ID: "sb"}, State: state, Owned: true, SandboxKey: "sb",
		CreatedAt: ago(age), AsOf: noon}
}

func said(deeds []Deed) string {
	out := ""
	for _, d := range deeds {
		if out != "" {
			out += " "
		}
		out += string(d.Verb)
	}
	return out
}

// decided is what a sweep says to one case.
type decided struct {
	decide func(*View) []Deed
	view   View
	want   string // the verbs
}

func (c decided) check(t *testing.T) {
	t.Helper()
	if c.view.Notes == nil {
		c.view.Notes = Notes{}
	}
	c.view.Now = noon
	if got := said(c.decide(&c.view)); got != c.want {
		t.Errorf("decided %q, want %q", got, c.want)
	}
}

func tasks(t ...reconcile.Task) View { return View{Tasks: t} }

func TestOmoiOS(t *testing.T) {
	created := func(d time.Duration) func(*reconcile.Task) {
		return func(t *reconcile.Task) { t.CreatedAt = ago(d) }
	}
	events := func(e reconcile.Events) func(*reconcile.Task) {
		return func(t *reconcile.Task) { t.Events = e }
	}
	claiming := func(t *reconcile.Task) { t.Status = "claiming" }
	bare := func(t *reconcile.Task) { t.Sandbox = "" }
	beat := ago(10 * time.Second)
	idle := func(e reconcile.Events) View {
		v := tasks(row(reconcile.TaskRunning, events(e)))
		v.Refs = map[string]reconcile.Ref{"t": {Provider: "lab", ID: "sb"}}
		return v
	}
	for name, c := range map[string]decided{
		"assigned, created exactly 3 minutes ago": {omoiosStaleTasks,
			tasks(row(reconcile.TaskAssigned, created(3*time.Minute))), ""},
		"assigned, created longer ago": {omoiosStaleTasks,
			tasks(row(reconcile.TaskAssigned, created(3*time.Minute+1))), "fail"},
		"assigned a second ago, created an hour ago": {omoiosStaleTasks,
			tasks(row(reconcile.TaskAssigned, created(time.Hour), func(t *reconcile.Task) {
				t.AssignedAt = ago(time.Second)
			})), "fail"},
		"assigned without a sandbox":     {omoiosStaleTasks, tasks(row(reconcile.TaskAssigned, created(time.Hour), bare)), ""},
		"running is none of its rows":    {omoiosStaleTasks, tasks(row(reconcile.TaskRunning, created(time.Hour))), ""},
		"claiming for exactly a minute":  {omoiosStaleTasks, tasks(row(reconcile.TaskAssigned, created(time.Minute), claiming)), ""},
		"claiming for more":              {omoiosStaleTasks, tasks(row(reconcile.TaskAssigned, created(time.Minute+1), claiming)), "requeue"},
		"created in the future":          {omoiosStaleTasks, tasks(row(reconcile.TaskAssigned, created(-time.Hour))), ""},
		"no creation time":               {omoiosStaleTasks, tasks(row(reconcile.TaskAssigned)), ""},
		"worked exactly 40 minutes ago":  {omoiosIdle, idle(reconcile.Events{Heartbeat: beat, Activity: ago(40 * time.Minute)}), ""},
		"worked longer ago":              {omoiosIdle, idle(reconcile.Events{Heartbeat: beat, Activity: ago(40*time.Minute + 1)}), "end fail"},
		"silent for 2 minutes":           {omoiosIdle, idle(reconcile.Events{Heartbeat: ago(2 * time.Minute), Activity: ago(time.Hour)}), ""},
		"silent for just less":           {omoiosIdle, idle(reconcile.Events{Heartbeat: ago(2*time.Minute - 1), Activity: ago(time.Hour)}), "end fail"},
		"never heard":                    {omoiosIdle, idle(reconcile.Events{Activity: ago(time.Hour)}), ""},
		"never worked":                   {omoiosIdle, idle(reconcile.Events{Heartbeat: beat}), ""},
		"started and nothing else":       {omoiosIdle, idle(reconcile.Events{Heartbeat: beat, Started: ago(time.Hour), Activity: ago(time.Hour)}), ""},
		"completed after the last work":  {omoiosIdle, idle(reconcile.Events{Heartbeat: beat, Activity: ago(time.Hour), Finished: ago(50 * time.Minute)}), ""},
		"completed before the last work": {omoiosIdle, idle(reconcile.Events{Heartbeat: beat, Activity: ago(time.Hour), Finished: ago(2 * time.Hour)}), "end fail"},
		"its sandbox cannot be found": {omoiosIdle,
			tasks(row(reconcile.TaskRunning, events(reconcile.Events{Heartbeat: beat, Activity: ago(time.Hour)}))), "fail"},
	} {
		t.Run(name, c.check)
	}
}

func TestRunbook(t *testing.T) {
	boxes := func(b ...reconcile.Sandbox) View { return View{Boxes: b} }
	for name, c := range map[string]decided{
		"running, exactly 10 minutes old":     {runbookOld, boxes(box(reconcile.SandboxRunning, 10*time.Minute)), ""},
		"running, older":                      {runbookOld, boxes(box(reconcile.SandboxRunning, 10*time.Minute+1)), "end"},
		"coming up, older":                    {runbookOld, boxes(box(reconcile.SandboxCreating, 11*time.Minute)), "end"},
		"stopped, older":                      {runbookOld, boxes(box(reconcile.SandboxStopped, time.Hour)), ""},
		"failed, older":                       {runbookOld, boxes(box(reconcile.SandboxFailed, time.Hour)), ""},
		"created in the future":               {runbookOld, boxes(box(reconcile.SandboxRunning, -time.Hour)), ""},
		"its creation time is not known":      {runbookOld, boxes(reconcile.Sandbox{State: reconcile.SandboxRunning, AsOf: noon}), ""},
		"a task works in it, it does not ask": {runbookOld, View{Boxes: []reconcile.Sandbox{box(reconcile.SandboxRunning, time.Hour)}, Rows: []reconcile.Task{row(reconcile.TaskRunning)}}, "end"},
	} {
		t.Run(name, c.check)
	}
}

func TestCoder(t *testing.T) {
	updated := func(d time.Duration) func(*reconcile.Task) {
		return func(t *reconcile.Task) { t.UpdatedAt = ago(d) }
	}
	started := func(t *reconcile.Task) { t.StartedAt = ago(3 * time.Hour) }
	beats := func(t *reconcile.Task) { t.Events.Heartbeat = ago(10 * time.Second) }
	for name, c := range map[string]decided{
		"started, updated exactly 5 minutes ago":      {coderReap, tasks(row(reconcile.TaskRunning, started, updated(5*time.Minute))), ""},
		"started, updated longer ago":                 {coderReap, tasks(row(reconcile.TaskRunning, started, updated(5*time.Minute+1))), "fail"},
		"not started, updated exactly 30 minutes ago": {coderReap, tasks(row(reconcile.TaskPending, updated(30*time.Minute))), ""},
		"not started, updated longer ago":             {coderReap, tasks(row(reconcile.TaskPending, updated(30*time.Minute+1))), "fail"},
		"assigned and not started":                    {coderReap, tasks(row(reconcile.TaskAssigned, updated(29*time.Minute))), ""},
		"heartbeats are updates":                      {coderReap, tasks(row(reconcile.TaskRunning, started, updated(time.Hour), beats)), ""},
		"over already":                                {coderReap, tasks(row(reconcile.TaskCompleted, started, updated(time.Hour))), ""},
		"updated in the future":                       {coderReap, tasks(row(reconcile.TaskRunning, started, updated(-time.Hour))), ""},
	} {
		t.Run(name, c.check)
	}
}

// TestCoderDrawsLots: ten in a run, and not the same ten in each.
func TestCoderDrawsLots(t *testing.T) {
	var v View
	for i := range 25 {
		v.Tasks = append(v.Tasks, row(reconcile.TaskRunning, func(t *reconcile.Task) {
			t.ID, t.StartedAt, t.UpdatedAt = string(rune('a'+i)), ago(time.Hour), ago(time.Hour)
		}))
	}
	ids := func(draw uint64) string {
		v.Draw = draw
		out := ""
		for _, d := range coderReap(&v) {
			out += d.Task.ID
		}
		return out
	}
	first, again, second := ids(1), ids(1), ids(2)
	if len(first) != coderMost || first != again || first == second {
		t.Errorf("drew %q, %q again, then %q: want ten, the same, others", first, again, second)
	}
}
