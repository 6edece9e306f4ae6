package web

import (
	"fmt"

	"github.com/sandkeeper/sandkeeper/web/ui"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// A passLine is one pass.
type passLine struct {
	ID      int64
	Kind    string
	Began   ui.Moment
	Took    string
	Level   ui.Level
	Outcome string
	Holder  string
	Error   string
}

func passLines(o *reconcile.Overview, all []reconcile.PassSeen) []passLine {
	var lines []passLine
	for _, p := range all {
		l := passLine{
			ID: p.ID, Kind: ui.Name(string(p.Kind)), Began: ui.Ago(p.BeganAt, o.Now),
			Holder: ui.Name(p.Holder), Error: ui.Line(p.Error),
		}
		l.Level, l.Outcome = passState(o, &p)
		if !p.EndedAt.IsZero() {
			l.Took = text.Coarse(p.EndedAt.Sub(p.BeganAt))
		}
		lines = append(lines, l)
	}
	return lines
}

// leads reports whether a pass that has not ended may still be going on: its holder has
// the lease.
func leads(o *reconcile.Overview, p *reconcile.PassSeen) bool {
	return o.Lease.Holder == p.Holder && o.Lease.Until.After(o.Now) && len(o.Passes) > 0 && p.ID == o.Passes[0].ID
}

// passesBy is who makes the passes. Between two of them nobody holds the lease.
func passesBy(o *reconcile.Overview) string {
	if o.Lease.Holder == "" {
		return "No replica holds the pass lease right now. That is normal between two passes."
	}
	return fmt.Sprintf("%s holds the pass lease for another %s.", ui.Name(o.Lease.Holder),
		text.Coarse(o.Lease.Until.Sub(o.Now)))
}
