package web

import (
	"time"

	"github.com/sandkeeper/sandkeeper/web/ui"
)

// A Proposal is what a program proposed that an operator might ask for. It has asked for nothing.
type Proposal struct {
	Verb, Target, Reason string
	By                   string
	At                   time.Time
}

// Words are the reason as the confirmation begins with, which the operator may change.
func (p *Proposal) Words() string { return "proposed by " + p.By + ": " + p.Reason }

// proposalBlock lists what waits for an operator's yes. The texts are a program's, which may have read a tenant's.
func proposalBlock(all []Proposal) ui.Block {
	g := &ui.Grid{Heads: []string{"proposed at", "what", "about", "the program's words", "by", ""}}
	for i := range all {
		p := &all[i]
		confirm := ui.Cell{Acts: []ui.Act{ui.ProposedAct(p.Verb, p.Target, p.Words())}}
		g.Rows = append(g.Rows, ui.Row{Key: ui.Name(p.Verb + " " + p.Target), Cells: []ui.Cell{
			ui.When(ui.Exactly(p.At)), {Text: p.Verb}, {ID: ui.Name(p.Target)}, ui.Said(p.Reason), ui.Named(p.By), confirm,
		}})
	}
	return ui.Block{ID: "proposals", Title: "Proposed by programs", Grid: g, Words: []string{
		"Nothing of this was asked for. Do not take the program's words for a fact: look first, then confirm, or leave it."}}
}
