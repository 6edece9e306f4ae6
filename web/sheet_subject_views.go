package web

import (
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/web/fleet"
	"github.com/sandkeeper/sandkeeper/web/ui"
)

func (l *life) taskBlock() ui.Block {
	b := ui.Block{Title: "What the task table says", Half: true}
	if len(l.Tasks) == 0 {
		b.Words = []string{"No task was seen."}
		return b
	}
	t := &l.Tasks[0]
	status := ui.Chip(ui.Calm, reconcile.FirstOf(ui.Name(t.Status), "no status")).Below("since " +
		text.Time(t.Since) + " (sandkeeper's clock)")
	if t.Live {
		status.Level = ui.Busy
	}
	b.Pairs = []ui.Pair{
		ui.PairOf("task", ui.TaskCell(t.ID)), ui.PairOf("status", status), ui.PairOf("sandbox", l.namedBox(t)),
		ui.PairOf("tenant", ui.Named(t.Tenant)),
		ui.PairOf("started", clockCell(ui.Exactly(t.StartedAt), "task database's clock")),
		ui.PairOf("row changed", clockCell(ui.Exactly(t.UpdatedAt), "task database's clock")),
		ui.PairOf("last heartbeat", clockCell(ui.Exactly(t.BeatAt), "task database's clock")),
		ui.PairOf("first seen", clockCell(ui.Ago(t.FirstSeen, l.Now), "sandkeeper's clock")),
		ui.PairOf("failed attempts", attemptsCell(t)), ui.PairOf("trace of its work", ui.Cell{ID: t.Trace}),
	}
	return b
}

func attemptsCell(t *reconcile.TaskSeen) ui.Cell {
	if len(t.Attempts) == 0 {
		return ui.Cell{}
	}
	return ui.Number(len(t.Attempts)).Below("the last " + text.Time(t.Attempts[len(t.Attempts)-1]))
}

// namedBox is what the row names as its sandbox; it leads there when that is one that was seen.
func (l *life) namedBox(t *reconcile.TaskSeen) ui.Cell {
	value := reconcile.FirstOf(t.Sandbox, t.Named)
	if value == "" {
		return ui.Chip(ui.Calm, "names none")
	}
	for i := range l.Sandboxes {
		if b := &l.Sandboxes[i]; b.ID == value || b.Name == value {
			return ui.Cell{ID: ui.Name(value), Href: ui.SandboxAddress(b.Provider, b.ID)}
		}
	}
	c := ui.Cell{ID: ui.Name(value)}
	if t.Live {
		c.More = []ui.Cell{{Text: " "}, ui.Chip(ui.Warn, "not seen at a provider")}
	}
	return c
}

func (l *life) boxBlock(b *reconcile.SandboxSeen) ui.Block {
	state := ui.Chip(ui.Calm, reconcile.FirstOf(ui.Name(string(b.State)), "unknown")).Below("since " +
		text.Time(b.StateSince) + " (sandkeeper's clock)")
	switch {
	case !b.GoneAt.IsZero():
		state = ui.Chip(ui.Calm, "gone").Below("since " + text.Time(b.GoneAt) + goneBy(b))
	case b.State == reconcile.SandboxFailed:
		state.Level = ui.Bad
	case b.State.Active():
		state.Level = ui.Busy
	}
	if b.Raw != "" && b.Raw != string(b.State) && b.GoneAt.IsZero() {
		state.More = []ui.Cell{{Text: " " + ui.Name(b.Raw)}}
	}
	out := ui.Block{Title: "What " + ui.Named(b.Provider).Text + " says", Half: true, Pairs: []ui.Pair{
		ui.PairOf("listing", distrustCell(l.Overview, b)),
		ui.PairOf("sandbox", ui.SandboxCell(b.Provider, b.ID)), ui.PairOf("state", state),
		ui.PairOf("name", ui.Cell{ID: ui.Name(b.Name)}),
		ui.PairOf("task", ui.TaskCell(b.Task)),
		ui.PairOf("template", ui.TemplateCell(b.Provider, b.Template)),
		ui.PairOf("created", clockCell(ui.Exactly(b.CreatedAt), "provider's clock")),
		ui.PairOf("first seen", clockCell(ui.Ago(b.FirstSeen, l.Now), "sandkeeper's clock")),
		ui.PairOf("last probe", l.lastProbe(b.Ref)), ui.PairOf("region", ui.Named(b.Region)),
		ui.PairOf("size", ui.SizeCell(b.Size)), ui.PairOf("price", fleet.Price(l.policy.Providers[b.Provider], b)),
	}}
	return out
}

// distrustCell says that what stands here is from before the listing was not believed any more; empty where it is.
func distrustCell(o *reconcile.Overview, b *reconcile.SandboxSeen) ui.Cell {
	src := fleet.Source(o, reconcile.ListingOf(b.Provider))
	if src.Name == "" || src.Trusted || !b.GoneAt.IsZero() {
		return ui.Cell{}
	}
	return ui.Chip(ui.Warn, "not trusted").Below("since " + text.Time(src.Since) + "; what stands here was seen before")
}

func goneBy(b *reconcile.SandboxSeen) string {
	if b.GoneByUs {
		return ", terminated by sandkeeper"
	}
	return ""
}

func clockCell(m ui.Moment, clock string) ui.Cell {
	if m.ISO == "" {
		return ui.Cell{}
	}
	c := ui.When(m)
	c.Sub = clock
	if m.Text != m.Exact {
		c.Sub = m.Exact + ", " + clock
	}
	return c
}
