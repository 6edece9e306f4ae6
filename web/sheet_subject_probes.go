package web

import (
	"fmt"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/web/ui"
)

// lastProbe is the newest probe of a sandbox, with how many failed in a row.
func (l *life) lastProbe(of reconcile.Ref) ui.Cell {
	failed := 0
	var newest *reconcile.ProbeResult
	for i := range l.Probes {
		p := &l.Probes[i]
		if p.Ref != of {
			continue
		}
		if newest == nil {
			newest = p
		}
		if !p.Outcome.Failed() {
			break
		}
		failed++
	}
	if newest == nil {
		return ui.Cell{}
	}
	c := probeChip(newest)
	if failed > 1 {
		c.Text += fmt.Sprintf(", %d in a row", failed)
	}
	return c.Below(ui.Ago(newest.At, l.Now).Text + " " + text.Plain(newest.Detail, mostHead))
}

func probeChip(p *reconcile.ProbeResult) ui.Cell {
	l := ui.Calm
	switch {
	case p.Outcome.Failed() || p.Worker == reconcile.WorkerDead:
		l = ui.Bad
	case p.Outcome == reconcile.Answered:
		l = ui.Well
	}
	word := string(p.Outcome)
	if p.Worker != reconcile.WorkerUnknown {
		word += ", worker " + string(p.Worker)
	}
	return ui.Chip(l, ui.Name(word))
}

func (l *life) probeGrid() *ui.Grid {
	g := &ui.Grid{Heads: []string{"sandbox", "outcome", "at", "took", "detail"}}
	for i := range l.Probes[:min(len(l.Probes), mostProbes)] {
		p := &l.Probes[i]
		one, many := ui.Inline(p.Detail)
		g.Rows = append(g.Rows, ui.Row{Block: many, Cells: []ui.Cell{ui.SandboxCell(p.Provider, p.ID), probeChip(p),
			ui.When(ui.Exactly(p.At)),
			{Text: text.Coarse(p.Took), Num: true}, {Text: one}}})
	}
	return g
}
