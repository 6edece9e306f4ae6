package chart

import (
	"fmt"
	"html"
	"io"
	"math"
	"strings"
	"time"
)

// A Curve is what thresholds would come to: false positives, their bound, and how late the dead are found.
type Curve struct {
	Title, Text string
	Set, Keeps  time.Duration // thresholds that are marked; 0: not
	Points      []CurvePoint  // two at least, by their thresholds
	Words       func(time.Duration) string
}

// A CurvePoint is one threshold.
type CurvePoint struct {
	After, Delay time.Duration
	Rate, Upper  float64 // from 0 to 1
}

// The measures of the picture.
const (
	CurveWide = 720 // of a curve
	CurveHigh = 260 // of a curve
)

const (
	plotLeft, plotRight      = 70, 640
	plotTop, plotBottom      = 50, 210
	colourRate, colourDelay  = "#b3261e", "#1f5fa8"
	colourBound, colourFrame = "#e8b4b0", "#777"
)

// Thresholds draws a curve as a picture of its own, in the colour of the page's text.
func Thresholds(c *Curve) string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg class="chart curve" viewBox="0 0 %d %d" role="img" aria-label="%[3]s" fill="currentColor" `+
		`font-size="12"><title>%[3]s</title>`, CurveWide, CurveHigh, html.EscapeString(c.Title+": "+c.Text))
	c.Draw(&b)
	b.WriteString("</svg>")
	return b.String()
}

// Draw writes the curve, to be put into a picture.
func (c *Curve) Draw(w io.Writer) {
	if len(c.Points) > 1 {
		newPlot(w, c).draw()
	}
}

// A plot is a curve that is being drawn.
type plot struct {
	w           io.Writer
	c           *Curve
	least, most float64 // thresholds, by their logarithm
	rate        float64 // at the top
	delay       time.Duration
}

func newPlot(w io.Writer, c *Curve) *plot {
	last := len(c.Points) - 1
	p := &plot{w: w, c: c, least: math.Log(c.Points[0].After.Seconds()), most: math.Log(c.Points[last].After.Seconds())}
	for i := range c.Points {
		p.rate = max(p.rate, min(1, c.Points[i].Rate*1.1), 0.05)
		p.delay = max(p.delay, c.Points[i].Delay)
	}
	return p
}

func (p *plot) x(after time.Duration) float64 {
	part := (math.Log(max(after.Seconds(), 0.001)) - p.least) / max(p.most-p.least, 1e-9)
	return plotLeft + (plotRight-plotLeft)*min(max(part, 0), 1)
}

func (p *plot) y(part float64) float64 {
	return plotBottom - (plotBottom-plotTop)*min(max(part, 0), 1)
}

func (p *plot) draw() {
	fmt.Fprintf(p.w, "<text x=\"%d\" y=\"20\" font-size=\"14\" font-weight=\"bold\">%s</text>\n", plotLeft,
		html.EscapeString(p.c.Title))
	fmt.Fprintf(p.w, "<text x=\"%d\" y=\"38\">%s</text>\n", plotLeft, html.EscapeString(p.c.Text))
	fmt.Fprintf(p.w, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"%s\"/>\n", plotLeft,
		plotTop, plotRight-plotLeft, plotBottom-plotTop, colourFrame)
	p.axes()
	p.curve(colourBound, func(f *CurvePoint) float64 { return f.Upper / p.rate })
	p.curve(colourRate, func(f *CurvePoint) float64 { return f.Rate / p.rate })
	if p.delay > 0 {
		p.curve(colourDelay, func(f *CurvePoint) float64 { return f.Delay.Seconds() / p.delay.Seconds() })
	}
	p.mark(p.c.Set, "set", "")
	if p.c.Keeps > 0 {
		p.mark(p.c.Keeps, "keeps the bound", " stroke-dasharray=\"4 3\"")
	}
}

func (p *plot) axes() {
	label := func(x, y float64, anchor, colour, says string) {
		fmt.Fprintf(p.w, "<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"%s\" fill=\"%s\">%s</text>\n", x, y, anchor, colour, says)
	}
	label(plotLeft-6, plotTop+10, "end", colourRate, percent(p.rate))
	label(plotLeft-6, plotBottom, "end", colourRate, "0%")
	if p.delay > 0 {
		label(plotRight+6, plotTop+10, "start", colourDelay, p.c.Words(p.delay))
		label(plotRight+6, plotBottom, "start", colourDelay, "0s delay")
	}
	points := p.c.Points
	for _, i := range []int{0, len(points) / 2, len(points) - 1} {
		label(p.x(points[i].After), plotBottom+16, "middle", colourFrame, p.c.Words(points[i].After))
	}
}

func percent(rate float64) string { return fmt.Sprintf("%.2g%%", 100*rate) }

func (p *plot) curve(colour string, part func(*CurvePoint) float64) {
	fmt.Fprintf(p.w, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\" points=\"", colour)
	for i := range p.c.Points {
		f := &p.c.Points[i]
		fmt.Fprintf(p.w, "%.1f,%.1f ", p.x(f.After), p.y(part(f)))
	}
	fmt.Fprintln(p.w, "\"/>")
}

// mark draws a threshold.
func (p *plot) mark(after time.Duration, says, dashes string) {
	x := p.x(after)
	fmt.Fprintf(p.w, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\" stroke=\"currentColor\"%s/>\n", x, x, plotTop,
		plotBottom+20, dashes)
	fmt.Fprintf(p.w, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s %s</text>\n", x, plotBottom+34,
		p.c.Words(after), says)
}
