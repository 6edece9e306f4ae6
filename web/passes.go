package web

import (
	"fmt"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// A passLine is one pass.
type passLine struct {
	ID      int64
	Kind    string
	Began   moment
	Took    string
	Level   level
	Outcome string
	Holder  string
	Error   string
}

func (s *model) passLines(all []reconcile.PassSeen) []passLine {
	var lines []passLine
	for _, p := range all {
		l := passLine{
			ID: p.ID, Kind: text.Plain(string(p.Kind), mostName), Began: ago(p.BeganAt, s.Now),
			Holder: text.Plain(p.Holder, mostName), Error: text.Plain(p.Error, mostLine),
		}
		l.Level, l.Outcome = s.passState(&p)
		if !p.EndedAt.IsZero() {
			l.Took = text.Coarse(p.EndedAt.Sub(p.BeganAt))
		}
		lines = append(lines, l)
	}
	return lines
}

// leads reports whether a pass that has not ended may still be going on: its holder has
// the lease.
func (s *model) leads(p *reconcile.PassSeen) bool {
	return s.Lease.Holder == p.Holder && s.Lease.Until.After(s.Now) && len(s.Passes) > 0 && p.ID == s.Passes[0].ID
}

// passesBy is who makes the passes. Between two of them nobody holds the lease.
func (s *model) passesBy() string {
	if s.Lease.Holder == "" {
		return "No replica holds the pass lease right now. That is normal between two passes."
	}
	return fmt.Sprintf("%s holds the pass lease for another %s.", text.Plain(s.Lease.Holder, mostName),
		text.Coarse(s.Lease.Until.Sub(s.Now)))
}
