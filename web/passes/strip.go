// Package passes draws the strip of passes and says how each stands. It is pure.
package passes

import (
	"fmt"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/web/chart"
	"github.com/sandkeeper/sandkeeper/web/ui"
)

const (
	mostCells = 90  // pieces of the strip
	mostError = 120 // characters of why a pass is not complete
)

// A stretch is one piece of the strip: the passes that began in it.
type stretch struct {
	level ui.Level
	n     int
	words string
}

// stripSpan is the time of the strip: as far as passes were read, and two hours at most.
func stripSpan(o *reconcile.Overview) (from time.Time, each time.Duration) {
	from = o.Now
	for _, p := range o.Passes {
		if p.BeganAt.Before(from) {
			from = p.BeganAt
		}
	}
	if oldest := o.Now.Add(-2 * time.Hour); from.Before(oldest) {
		from = oldest
	}
	return from, max(o.Now.Sub(from)/mostCells, time.Second)
}

// Strip are the passes as a drawing, the oldest first. A piece without any is grey.
func Strip(o *reconcile.Overview) string {
	from, each := stripSpan(o)
	cells := int(o.Now.Sub(from)/each) + 1
	pieces := make([]stretch, min(cells, mostCells+1))
	for i := range o.Passes {
		p := &o.Passes[i]
		if at := int(p.BeganAt.Sub(from) / each); at >= 0 && at < len(pieces) {
			pieces[at].take(o, p)
		}
	}
	out := make([]chart.Cell, len(pieces))
	for i, piece := range pieces {
		out[i] = piece.cell(from.Add(time.Duration(i) * each))
	}
	return chart.Strip("Passes", Words(o), out)
}

// take adds a pass; the worst of a piece gives it its colour.
func (t *stretch) take(o *reconcile.Overview, p *reconcile.PassSeen) {
	l, outcome := State(o, p)
	t.n++
	if t.level == "" || l.Rank() < t.level.Rank() {
		t.level, t.words = l, fmt.Sprintf("pass %d, %s: %s", p.ID, ui.Name(string(p.Kind)), outcome)
		if p.Error != "" {
			t.words += ", " + text.Plain(p.Error, mostError)
		}
	}
}

func (t *stretch) cell(at time.Time) chart.Cell {
	if t.n == 0 {
		return chart.Cell{Class: "none", Text: at.UTC().Format("15:04:05 UTC") + ": no pass began"}
	}
	return chart.Cell{Class: string(t.level),
		Text: fmt.Sprintf("%s: %s, %s", at.UTC().Format("15:04:05 UTC"), ui.Count(t.n,
			"pass"), t.words)}
}

// State is how a pass stands. One that only wants for a listing is amber: what rests on that is frozen.
func State(o *reconcile.Overview, p *reconcile.PassSeen) (ui.Level, string) {
	switch {
	case p.EndedAt.IsZero() && leads(o, p):
		return ui.Busy, "under way"
	case p.EndedAt.IsZero():
		return ui.Warn, "never ended"
	case p.Complete:
		return ui.Well, "complete"
	case p.Unlisted():
		return ui.Warn, "not complete, a listing is missing"
	}
	return ui.Bad, "not complete"
}

// Words are the newest passes in words.
func Words(o *reconcile.Overview) string {
	from, _ := stripSpan(o)
	words := "last pass " + ui.Ago(o.LastPass, o.Now).Text + ", last full pass " + ui.Ago(o.LastFull, o.Now).Text
	n := 0
	for i := range o.Passes {
		p := &o.Passes[i]
		if !p.BeganAt.Before(from) && !p.EndedAt.IsZero() && !p.Complete {
			n++
		}
	}
	if n > 0 {
		words += fmt.Sprintf(", %d not complete", n)
	}
	return words + "; shown are the last " + ui.Seconds(o.Now.Sub(from)) + ", grey where no pass began"
}

// leads reports whether a pass that has not ended may still be going on: its holder has
// the lease.
func leads(o *reconcile.Overview, p *reconcile.PassSeen) bool {
	return o.Lease.Holder == p.Holder && o.Lease.Until.After(o.Now) && len(o.Passes) > 0 && p.ID == o.Passes[0].ID
}

// By is who makes the passes. Between two of them nobody holds the lease.
func By(o *reconcile.Overview) string {
	if o.Lease.Holder == "" {
		return "No replica holds the pass lease right now. That is normal between two passes."
	}
	return fmt.Sprintf("%s holds the pass lease for another %s.", ui.Name(o.Lease.Holder),
		text.Coarse(o.Lease.Until.Sub(o.Now)))
}
