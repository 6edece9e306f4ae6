// Package chart draws small charts as SVG on the server: lines, strips and lanes of time. Each has a title and a text
// that says the same to who does not see it. Colours are classes of the stylesheet, so that a chart is light in the
// light and dark in the dark; no style stands in it, which the page's policy would refuse.
package chart

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// A Series is one line. A value that is not a number was not measured: the line has a gap there.
type Series struct {
	Name   string
	Class  string // of the stylesheet
	Filled bool   // the ground below it too
	Values []float64
}

// Missing is a value that was not measured.
func Missing() float64 { return math.NaN() }

const (
	width  = 300.0
	height = 60.0
	margin = 2.0
)

// Lines draws series over the same time, from 0 to the largest value. Text says what they show.
func Lines(title, text string, all ...Series) string {
	top := 1.0
	for _, s := range all {
		for _, v := range s.Values {
			if !math.IsNaN(v) {
				top = max(top, v)
			}
		}
	}
	var b strings.Builder
	open(&b, title, text, "chart lines", fmt.Sprintf("0 0 %g %g", width, height))
	for _, s := range all {
		s.draw(&b, top)
	}
	b.WriteString("</svg>")
	return b.String()
}

func open(b *strings.Builder, title, text, class, box string) {
	fmt.Fprintf(b, `<svg class="%s" viewBox="%s" preserveAspectRatio="none" role="img" aria-label="%s"><title>%s</title>`,
		class, box, html.EscapeString(title+": "+text), html.EscapeString(title+": "+text))
}

// draw draws each stretch without a gap as one path.
func (s *Series) draw(b *strings.Builder, top float64) {
	for from := 0; from < len(s.Values); {
		if math.IsNaN(s.Values[from]) {
			from++
			continue
		}
		to := from
		for to < len(s.Values) && !math.IsNaN(s.Values[to]) {
			to++
		}
		s.stretch(b, top, from, to)
		from = to
	}
}

func (s *Series) stretch(b *strings.Builder, top float64, from, to int) {
	var path strings.Builder
	first, last := s.x(from), s.x(to-1)
	if to-from == 1 { // one value alone is a dash, to be seen at all
		first, last = max(first-1, 0), first+1
		fmt.Fprintf(&path, "M%.1f %.1fH%.1f", first, y(s.Values[from], top), last)
	} else {
		for i := from; i < to; i++ {
			command := "L"
			if i == from {
				command = "M"
			}
			fmt.Fprintf(&path, "%s%.1f %.1f", command, s.x(i), y(s.Values[i], top))
		}
	}
	if s.Filled {
		fmt.Fprintf(b, `<path class="fill %s" d="%sV%g H%.1fZ"/>`, s.Class, path.String(), height, first)
	}
	fmt.Fprintf(b, `<path class="line %s" d="%s"/>`, s.Class, path.String())
}

func (s *Series) x(i int) float64 {
	if len(s.Values) < 2 {
		return width / 2
	}
	return width * float64(i) / float64(len(s.Values)-1)
}

func y(v, top float64) float64 { return height - margin - (height-2*margin)*v/top }

// A Cell is one piece of a strip: what happened in it, in words.
type Cell struct {
	Class string
	Text  string
}

// Strip draws cells side by side, the oldest first.
func Strip(title, text string, cells []Cell) string {
	var b strings.Builder
	open(&b, title, text, "chart strip", fmt.Sprintf("0 0 %d 14", max(len(cells), 1)*8))
	for i, c := range cells {
		fmt.Fprintf(&b, `<rect class="%s" x="%d" y="0" width="6" height="14" rx="1"><title>%s</title></rect>`,
			html.EscapeString(c.Class), i*8, html.EscapeString(c.Text))
	}
	b.WriteString("</svg>")
	return b.String()
}
