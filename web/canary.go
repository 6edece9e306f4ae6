package web

import (
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/web/ui"
)

// mostCanaries is how many canaries the page shows.
const mostCanaries = 8

// canaryGrid is what became of the newest planted faults; nil where none is planted.
func canaryGrid(s *model) *ui.Grid {
	p := s.policy.Canary
	if !p.On() {
		return nil
	}
	g := &ui.Grid{Heads: []string{"planted", "outcome", "detection", "judgement", "termination", "confirmation",
		"sandbox"},
		Empty: "No canary was planted yet."}
	for i := range s.Canaries[:min(len(s.Canaries), mostCanaries)] {
		g.Rows = append(g.Rows, canaryRow(s.Overview, p, &s.Canaries[i]))
	}
	return g
}

func canaryRow(o *reconcile.Overview, p reconcile.CanaryPolicy, c *reconcile.Canary) ui.Row {
	r := ui.Row{Key: "canary " + ui.Name(c.Name), Cells: []ui.Cell{ui.When(ui.Ago(c.PlantedAt, o.Now)),
		canaryOutcome(o, p, c)}}
	stages := c.Stages()
	for i := range 4 {
		cell := ui.Cell{Text: "–", Num: true}
		if i < len(stages) {
			cell.Text = text.Duration(stages[i].Took)
		}
		r.Cells = append(r.Cells, cell)
	}
	box := ui.Cell{ID: ui.Name(c.Name)}
	if c.Sandbox != "" {
		box = ui.SandboxCell(c.Provider, c.Sandbox)
	}
	r.Cells = append(r.Cells, box)
	return r
}

func canaryOutcome(o *reconcile.Overview, p reconcile.CanaryPolicy, c *reconcile.Canary) ui.Cell {
	took := text.Duration(c.Took(o.Now))
	switch late := c.Late(o.Now, p.Within); {
	case c.Error != "" && c.Sandbox == "":
		return ui.Chip(ui.Warn, "not made").Below(ui.Said(c.Error).Text)
	case c.Caught() && late:
		return ui.Chip(ui.Warn, "caught late").Below("after " + took)
	case c.Caught():
		return ui.Chip(ui.Well, "caught").Below("in " + took)
	case !c.GoneAt.IsZero():
		return ui.Chip(ui.Warn, "gone by itself").Below("after " + took)
	case late:
		return ui.Chip(ui.Bad, "not caught in time").Below("for " + took)
	}
	return ui.Chip(ui.Busy, "there").Below("for " + took)
}

// canaryNotes tell on the first page, and in status, of a canary that was not caught in its time.
func canaryNotes(s *model) []ui.Note {
	if !s.policy.Canary.On() || len(s.Canaries) == 0 {
		return nil
	}
	c := &s.Canaries[0]
	level := ui.Set
	if c.Late(s.Now, s.policy.Canary.Within) || c.Over() && !c.Caught() {
		level = ui.Warn
	}
	return []ui.Note{{Level: level, Text: "Canary: " + ui.Sentence(ui.Line(c.Line(s.Now, s.policy.Canary.Within)))}}
}
