package web

import (
	"github.com/a-h/templ"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// TasksPage lists the tasks that somebody chose, those that live by default.
func TasksPage(a *Asked, c *reconcile.Chosen, found Part[reconcile.TaskSeen]) templ.Component {
	s := a.modelOf()
	p := sheet{frame: frameOf(a, "tasks", "Tasks")}
	p.Head = headline{Level: calm, Text: "Tasks", Below: "As the task table had them at the last look."}
	p.Filters = &filterForm{Action: "tasks"}
	p.Filters.add("state", "State", c.State, options("live", string(reconcile.TaskPending), string(reconcile.TaskAssigned),
		string(reconcile.TaskRunning), string(reconcile.TaskCompleted), string(reconcile.TaskFailed),
		string(reconcile.TaskStopped), reconcile.ChosenAll)...)
	p.Filters.add("text", "Part of an id, a sandbox or a status", c.Text)
	p.Filters.order("tasks", c)
	g := &grid{Heads: []string{"task", "status", "sandbox", "owner", "in this state"}, Empty: "No task is like that.",
		More: nextPart("tasks", c, found.Next), Sort: sortingOf("tasks", c, "id", "status", "sandbox", "tenant", "age")}
	for i := range found.Rows {
		g.Rows = append(g.Rows, s.taskRow(&found.Rows[i]))
	}
	p.Blocks = []block{{Title: countWords(len(found.Rows), found.Next != "", "task"), Grid: g}}
	return paper(p)
}

func (s *model) taskRow(t *reconcile.TaskSeen) row {
	status := chip(calm, reconcile.FirstOf(text.Plain(t.Status, mostName), "no status"))
	if t.Live {
		status.Level = busy
	}
	return row{Key: text.Plain("task "+t.ID, mostName), Cells: []cell{
		taskCell(t.ID), status, {ID: text.Plain(reconcile.FirstOf(t.Sandbox, t.Named), mostName)}, named(t.Tenant),
		when(since(t.Since, s.Now)),
	}}
}

// SandboxesPage lists the sandboxes that somebody chose, those that exist by default.
func SandboxesPage(a *Asked, c *reconcile.Chosen, found Part[reconcile.SandboxSeen]) templ.Component {
	s := a.modelOf()
	p := sheet{frame: frameOf(a, "sandboxes", "Sandboxes")}
	p.Head = headline{Level: calm, Text: "Sandboxes", Below: "As their providers listed them at the last look."}
	p.Filters = boxFilters(s, c)
	g := &grid{Heads: []string{"sandbox", "state", "task", "template", "name", "seen for", "price"},
		Empty: "No sandbox is like that.", More: nextPart("sandboxes", c, found.Next),
		Sort: sortingOf("sandboxes", c, "id", "state", "task", "template", "name", "age", "")}
	for i := range found.Rows {
		g.Rows = append(g.Rows, s.boxRow(&found.Rows[i]))
	}
	p.Blocks = []block{{Title: countWords(len(found.Rows), found.Next != "", "sandbox"), Grid: g}}
	return paper(p)
}

func boxFilters(s *model, c *reconcile.Chosen) *filterForm {
	f := &filterForm{Action: "sandboxes"}
	states := []reconcile.SandboxState{reconcile.SandboxCreating, reconcile.SandboxRunning, reconcile.SandboxSuspended,
		reconcile.SandboxStopped, reconcile.SandboxFailed, reconcile.SandboxDeleting}
	f.add("state", "State", c.State,
		options("there", append(asTexts(states), reconcile.ChosenGone, reconcile.ChosenAll)...)...)
	f.add("provider", "Provider", c.Provider, options("any provider", s.policy.ProviderNames()...)...)
	f.add("text", "Part of an id, name, task or template", c.Text)
	f.order("sandboxes", c)
	return f
}

func (s *model) boxRow(b *reconcile.SandboxSeen) row {
	state := chip(calm, reconcile.FirstOf(text.Plain(string(b.State), mostName), "unknown"))
	age := when(since(b.FirstSeen, s.Now))
	switch {
	case !b.GoneAt.IsZero():
		state = chip(calm, "gone")
		age = cell{Text: text.Coarse(b.GoneAt.Sub(b.FirstSeen)), Sub: "gone " + ago(b.GoneAt, s.Now).Text}
	case b.State == reconcile.SandboxFailed:
		state.Level = bad
	case b.State.Active():
		state.Level = busy
	}
	price := priceOf(s.policy.Providers[b.Provider], b.Template)
	return row{Key: text.Plain("sandbox "+b.Ref.String(), mostName), Cells: []cell{
		sandboxCell(b.Provider, b.ID), state, taskCell(b.Task), named(b.Template), {ID: text.Plain(b.Name, mostName)}, age,
		price,
	}}
}
