package chart

import (
	"fmt"
	"html"
	"strings"
	"time"
)

// A Lane is a line of time with what happened by one clock.
type Lane struct {
	Name  string // what it is of
	Clock string // whose clock it goes by
	Spans []Span
	Marks []Mark
}

// A Span is a time that lasted.
type Span struct {
	From, To time.Time
	Class    string
	Text     string
}

// A Mark is a moment. One with a label is named beside it.
type Mark struct {
	At    time.Time
	Class string
	Text  string // what happened, in whole
	Label string
}

const (
	laneWidth  = 900.0
	laneLeft   = 205.0
	laneHeight = 46.0
	laneTop    = 12.0
)

// Lanes draws lanes over one stretch of time, which begins with the first thing in them and ends with the last.
func Lanes(title, text string, lanes []Lane) string {
	from, to := bounds(lanes)
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="chart lanes" viewBox="0 0 %g %g" role="img" aria-label="%s"><title>%s</title>`,
		laneWidth, laneTop+laneHeight*float64(len(lanes))+16, html.EscapeString(title+": "+text),
		html.EscapeString(title+": "+text))
	at := func(t time.Time) float64 { return place(t, from, to) }
	for i := range lanes {
		lanes[i].draw(&b, laneTop+laneHeight*(float64(i)+.5), at)
	}
	if !from.IsZero() {
		end := laneTop + laneHeight*float64(len(lanes)) + 10
		fmt.Fprintf(&b, `<text class="tick" x="%g" y="%g">%s</text>`, laneLeft, end, stamp(from))
		fmt.Fprintf(&b, `<text class="tick end" x="%g" y="%g">%s</text>`, laneWidth-4, end, stamp(to))
	}
	b.WriteString("</svg>")
	return b.String()
}

// Moments say the same line by line, for where a drawing of them has no room.
func Moments(lanes []Lane) string {
	var b strings.Builder
	b.WriteString(`<dl class="moments">`)
	for _, l := range lanes {
		fmt.Fprintf(&b, `<dt>%s <span class="aside">%s</span></dt>`, html.EscapeString(l.Name), html.EscapeString(l.Clock))
		for _, s := range l.Spans {
			fmt.Fprintf(&b, `<dd><b class="span %s"></b>%s</dd>`, s.Class, html.EscapeString(s.Text))
		}
		for _, m := range l.Marks {
			fmt.Fprintf(&b, `<dd><b class="mark %s"></b>%s</dd>`, m.Class, html.EscapeString(m.Text))
		}
	}
	b.WriteString("</dl>")
	return b.String()
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

// place is where a time stands between two others.
func place(t, from, to time.Time) float64 {
	room := laneWidth - laneLeft - 20
	if !to.After(from) {
		return laneLeft + room/2
	}
	share := float64(t.Sub(from)) / float64(to.Sub(from))
	return laneLeft + room*min(max(share, 0), 1)
}

func bounds(lanes []Lane) (from, to time.Time) {
	take := func(t time.Time) {
		if t.IsZero() {
			return
		}
		if from.IsZero() || t.Before(from) {
			from = t
		}
		if t.After(to) {
			to = t
		}
	}
	for _, l := range lanes {
		for _, s := range l.Spans {
			take(s.From)
			take(s.To)
		}
		for _, m := range l.Marks {
			take(m.At)
		}
	}
	return from, to
}

func (l *Lane) draw(b *strings.Builder, y float64, at func(time.Time) float64) {
	fmt.Fprintf(b, `<text class="lane" x="0" y="%g">%s</text><text class="tick" x="0" y="%g">%s</text>`,
		y, html.EscapeString(l.Name), y+13, html.EscapeString(l.Clock))
	fmt.Fprintf(b, `<path class="axis" d="M%g %gH%g"/>`, laneLeft, y, laneWidth-4)
	for _, s := range l.Spans {
		left := at(s.From)
		fmt.Fprintf(b, `<rect class="span %s" x="%.1f" y="%g" width="%.1f" height="12" rx="3"><title>%s</title></rect>`,
			s.Class, left, y-6, max(at(s.To)-left, 3), html.EscapeString(s.Text))
	}
	l.marks(b, y, at)
}

// marks draws the moments. A label stands above or below in turn, and is left out where it would stand on another.
func (l *Lane) marks(b *strings.Builder, y float64, at func(time.Time) float64) {
	free := map[bool]float64{}
	above := true
	for _, m := range l.Marks {
		x := at(m.At)
		fmt.Fprintf(b, `<circle class="mark %s" cx="%.1f" cy="%g" r="4"><title>%s</title></circle>`,
			m.Class, x, y, html.EscapeString(m.Text))
		if m.Label == "" {
			continue
		}
		wide := 6.2 * float64(len([]rune(m.Label)))
		left, class, place := x-3, "label", x-3
		if left > laneWidth-wide { // it ends at the edge, however wide its letters are
			left, class, place = laneWidth-wide, "label end", laneWidth
		}
		for range 2 {
			if left >= free[above] {
				fmt.Fprintf(b, `<text class="%s" x="%.1f" y="%g">%s</text>`, class, place, labelY(y, above),
					html.EscapeString(m.Label))
				free[above] = left + wide + 6
				break
			}
			above = !above
		}
		above = !above
	}
}

func labelY(y float64, above bool) float64 {
	if above {
		return y - 10
	}
	return y + 18
}
