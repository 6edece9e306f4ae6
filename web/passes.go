package web

import (
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/web/passes"
	"github.com/sandkeeper/sandkeeper/web/ui"
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
		l.Level, l.Outcome = passes.State(o, &p)
		if !p.EndedAt.IsZero() {
			l.Took = text.Coarse(p.EndedAt.Sub(p.BeganAt))
		}
		lines = append(lines, l)
	}
	return lines
}
