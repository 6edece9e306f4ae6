package web

import (
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/web/ui"

	"github.com/a-h/templ"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/web/fleet"
)

// TasksPage lists the tasks that somebody chose, those that live by default.
func TasksPage(a *Asked, c *reconcile.Chosen, found Part[reconcile.TaskSeen]) templ.Component {
	s := a.modelOf()
	p := ui.Sheet{Frame: frameOf(a, "tasks", "Tasks")}
	p.Head = ui.Headline{Level: ui.Calm, Text: "Tasks", Below: "As the task table had them at the last look."}
	p.Filters = &ui.FilterForm{Action: "tasks"}
	p.Filters.Add("state", "State", c.State,
		ui.Options("live", string(reconcile.TaskPending), string(reconcile.TaskAssigned),
			string(reconcile.TaskRunning), string(reconcile.TaskCompleted), string(reconcile.TaskFailed),
			string(reconcile.TaskStopped), reconcile.ChosenAll)...)
	s.templates(p.Filters, c.Template)
	p.Filters.Add("text", "Part of an id, a sandbox or a status", c.Text)
	p.Filters.Order("tasks", c)
	g := &ui.Grid{Heads: []string{"task", "status", "sandbox", "owner", "in this state"}, Empty: "No task is like that.",
		More: ui.NextPart("tasks", c, found.Next), Sort: ui.SortingOf("tasks", c, "id", "status", "sandbox", "tenant", "age")}
	for i := range found.Rows {
		g.Rows = append(g.Rows, taskRow(s.Now, &found.Rows[i]))
	}
	p.Blocks = []ui.Block{{Title: ui.CountWords(len(found.Rows), found.Next != "", "task"), Grid: g}}
	return a.listPage(p)
}

func taskRow(now time.Time, t *reconcile.TaskSeen) ui.Row {
	status := ui.Chip(ui.Calm, reconcile.FirstOf(ui.Name(t.Status), "no status"))
	if t.Live {
		status.Level = ui.Busy
	}
	return ui.Row{Key: ui.Name("task " + t.ID), Cells: []ui.Cell{
		ui.TaskCell(t.ID), status, {ID: ui.Name(reconcile.FirstOf(t.Sandbox, t.Named))}, ui.Named(t.Tenant),
		ui.When(ui.Since(t.Since, now)),
	}}
}

// SandboxesPage lists the sandboxes that somebody chose, those that exist by default.
func SandboxesPage(a *Asked, c *reconcile.Chosen, found Part[reconcile.SandboxSeen]) templ.Component {
	s := a.modelOf()
	p := ui.Sheet{Frame: frameOf(a, "sandboxes", "Sandboxes")}
	p.Head = ui.Headline{Level: ui.Calm, Text: "Sandboxes", Below: "As their providers listed them at the last look.",
		Acts: []ui.Act{ui.EmergencyAct()}}
	if names := fleet.Unlisted(s.Sources); len(names) > 0 {
		p.Head.Level = ui.Warn
		p.Head.Below += " The listing of " + ui.Line(strings.Join(names, ", ")) +
			" is not trusted now: what stands here of it was seen before."
	}
	p.Filters = boxFilters(s, c)
	g := &ui.Grid{Heads: []string{"sandbox", "state", "task", "template", "name", "seen for", "price"},
		Empty: "No sandbox is like that.", More: ui.NextPart("sandboxes", c, found.Next),
		Sort: ui.SortingOf("sandboxes", c, "id", "state", "task", "template", "name", "age", "")}
	for i := range found.Rows {
		g.Rows = append(g.Rows, s.boxRow(&found.Rows[i]))
	}
	p.Blocks = []ui.Block{{Title: ui.CountWords(len(found.Rows), found.Next != "", "sandbox"), Grid: g}}
	return a.listPage(p)
}

func boxFilters(s *model, c *reconcile.Chosen) *ui.FilterForm {
	f := &ui.FilterForm{Action: "sandboxes"}
	states := []reconcile.SandboxState{reconcile.SandboxCreating, reconcile.SandboxRunning, reconcile.SandboxSuspended,
		reconcile.SandboxStopped, reconcile.SandboxFailed, reconcile.SandboxDeleting}
	f.Add("state", "State", c.State,
		ui.Options("there", append(asTexts(states), reconcile.ChosenGone, reconcile.ChosenAll)...)...)
	f.Add("provider", "Provider", c.Provider, ui.Options("any provider", s.policy.ProviderNames()...)...)
	s.templates(f, c.Template)
	f.Add("text", "Part of an id, name, task or template", c.Text)
	f.Order("sandboxes", c)
	return f
}

func (s *model) boxRow(b *reconcile.SandboxSeen) ui.Row {
	state := ui.Chip(ui.Calm, reconcile.FirstOf(ui.Name(string(b.State)), "unknown"))
	age := ui.When(ui.Since(b.FirstSeen, s.Now))
	switch {
	case !b.GoneAt.IsZero():
		state = ui.Chip(ui.Calm, "gone")
		age = ui.Cell{Text: text.Coarse(b.GoneAt.Sub(b.FirstSeen)), Sub: "gone " + ui.Ago(b.GoneAt, s.Now).Text}
	case b.State == reconcile.SandboxFailed:
		state.Level = ui.Bad
	case b.State.Active():
		state.Level = ui.Busy
	}
	price := fleet.Price(s.policy.Providers[b.Provider], b)
	return ui.Row{Key: ui.Name("sandbox " + b.Ref.String()), Cells: []ui.Cell{
		ui.SandboxCell(b.Provider, b.ID), state, ui.TaskCell(b.Task), ui.TemplateCell(b.Provider, b.Template),
		{ID: ui.Name(b.Name)}, age, price,
	}}
}
