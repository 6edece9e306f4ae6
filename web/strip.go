package web

import (
	"fmt"
	"time"

	"github.com/sandkeeper/sandkeeper/web/ui"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/web/chart"
)

// mostCells is how many pieces the strip of passes has.
const mostCells = 90

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

// strip are the passes, the oldest first. A piece without any is grey.
func passStrip(o *reconcile.Overview) string {
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
	return chart.Strip("Passes", stripWords(o), out)
}

// take adds a pass; the worst of a piece gives it its colour.
func (t *stretch) take(o *reconcile.Overview, p *reconcile.PassSeen) {
	l, outcome := passState(o, p)
	t.n++
	if t.level == "" || l.Rank() < t.level.Rank() {
		t.level, t.words = l, fmt.Sprintf("pass %d, %s: %s", p.ID, ui.Name(string(p.Kind)), outcome)
		if p.Error != "" {
			t.words += ", " + text.Plain(p.Error, mostHolding)
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

// passState is how a pass stands. One that only wants for a listing is amber: what rests on that is frozen.
func passState(o *reconcile.Overview, p *reconcile.PassSeen) (ui.Level, string) {
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

// stripWords are the newest passes in words.
func stripWords(o *reconcile.Overview) string {
	from, _ := stripSpan(o)
	words := "last pass " + ui.Ago(o.LastPass, o.Now).Text + ", last full pass " + ui.Ago(o.LastFull, o.Now).Text
	n := 0
	for i := range o.Passes {
		p := &o.Passes[i]
		n += truth(!p.BeganAt.Before(from) && !p.EndedAt.IsZero() && !p.Complete)
	}
	if n > 0 {
		words += fmt.Sprintf(", %d not complete", n)
	}
	return words + "; shown are the last " + ui.Seconds(o.Now.Sub(from)) + ", grey where no pass began"
}
