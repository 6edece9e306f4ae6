package main

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"math"
	"time"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
	"github.com/sandkeeper/sandkeeper/reconcile/backtest"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// The measures of the picture: one panel a rule, below each other.
const (
	panelWide, panelHigh     = 720, 260
	plotLeft, plotRight      = 70, 640
	plotTop, plotBottom      = 50, 210
	colourRate, colourDelay  = "#b3261e", "#1f5fa8"
	colourBound, colourFrame = "#e8b4b0", "#777"
)

// backtestSVG draws, for each rule that was replayed, the rate of false positives and the delay over the threshold. The
// threshold that is set is marked by a line, the one that would keep the bound by a broken one.
func backtestSVG(w io.Writer, results []backtest.Result) error {
	var panels bytes.Buffer
	n := 0
	for i := range results {
		if r := &results[i]; len(r.Frontier) > 1 {
			fmt.Fprintf(&panels, "<g transform=\"translate(0 %d)\">\n", n*panelHigh)
			newPanel(&panels, r).draw()
			panels.WriteString("</g>\n")
			n++
		}
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "+
		"font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
		panelWide, max(n, 1)*panelHigh, panelWide, max(n, 1)*panelHigh)
	if n == 0 {
		b.WriteString("<text x=\"20\" y=\"40\">No finished task tells of any rule.</text>\n")
	}
	b.Write(panels.Bytes())
	b.WriteString("</svg>\n")
	return console.Print(w, &b)
}

// A panel is the picture of one rule.
type panel struct {
	w           io.Writer
	r           *backtest.Result
	least, most float64 // thresholds, by their logarithm
	rate        float64 // at the top
	delay       time.Duration
}

func newPanel(w io.Writer, r *backtest.Result) *panel {
	last := len(r.Frontier) - 1
	p := &panel{w: w, r: r, least: math.Log(r.Frontier[0].After.Seconds()), most: math.Log(r.Frontier[last].After.Seconds())}
	for i := range r.Frontier {
		p.rate = max(p.rate, min(1, r.Frontier[i].Rate*1.1), 0.05)
		p.delay = max(p.delay, r.Frontier[i].Delay)
	}
	return p
}

func (p *panel) x(after time.Duration) float64 {
	part := (math.Log(max(after.Seconds(), 0.001)) - p.least) / (p.most - p.least)
	return plotLeft + (plotRight-plotLeft)*min(max(part, 0), 1)
}

func (p *panel) y(part float64) float64 {
	return plotBottom - (plotBottom-plotTop)*min(max(part, 0), 1)
}

func (p *panel) draw() {
	fmt.Fprintf(p.w, "<text x=\"%d\" y=\"20\" font-size=\"14\" font-weight=\"bold\">%s</text>\n", plotLeft,
		html.EscapeString(p.r.Rule))
	fmt.Fprintf(p.w, "<text x=\"%d\" y=\"38\">%d false positives of %d tasks at %s, at most %s</text>\n", plotLeft,
		p.r.FalsePositives, p.r.Samples, text.Exact(p.r.After), percentText(p.r.Upper))
	fmt.Fprintf(p.w, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" stroke=\"%s\"/>\n", plotLeft, plotTop,
		plotRight-plotLeft, plotBottom-plotTop, colourFrame)
	p.axes()
	p.curve(colourBound, func(f *backtest.Point) float64 { return f.Upper / p.rate })
	p.curve(colourRate, func(f *backtest.Point) float64 { return f.Rate / p.rate })
	if p.delay > 0 {
		p.curve(colourDelay, func(f *backtest.Point) float64 { return f.Delay.Seconds() / p.delay.Seconds() })
	}
	p.mark(p.r.After, "set", "")
	if p.r.Suggested > 0 {
		p.mark(p.r.Suggested, "keeps the bound", " stroke-dasharray=\"4 3\"")
	}
}

func (p *panel) axes() {
	label := func(x, y float64, anchor, colour, says string) {
		fmt.Fprintf(p.w, "<text x=\"%.0f\" y=\"%.0f\" text-anchor=\"%s\" fill=\"%s\">%s</text>\n", x, y, anchor, colour, says)
	}
	label(plotLeft-6, plotTop+10, "end", colourRate, percentText(p.rate))
	label(plotLeft-6, plotBottom, "end", colourRate, "0%")
	if p.delay > 0 {
		label(plotRight+6, plotTop+10, "start", colourDelay, text.Duration(p.delay))
		label(plotRight+6, plotBottom, "start", colourDelay, "0s delay")
	}
	frontier := p.r.Frontier
	for _, i := range []int{0, len(frontier) / 2, len(frontier) - 1} {
		label(p.x(frontier[i].After), plotBottom+16, "middle", colourFrame, text.Duration(frontier[i].After))
	}
}

func (p *panel) curve(colour string, part func(*backtest.Point) float64) {
	fmt.Fprintf(p.w, "<polyline fill=\"none\" stroke=\"%s\" stroke-width=\"2\" points=\"", colour)
	for i := range p.r.Frontier {
		f := &p.r.Frontier[i]
		fmt.Fprintf(p.w, "%.1f,%.1f ", p.x(f.After), p.y(part(f)))
	}
	fmt.Fprintln(p.w, "\"/>")
}

// mark draws a threshold.
func (p *panel) mark(after time.Duration, says, dashes string) {
	x := p.x(after)
	fmt.Fprintf(p.w, "<line x1=\"%.1f\" x2=\"%.1f\" y1=\"%d\" y2=\"%d\" stroke=\"#222\"%s/>\n", x, x, plotTop, plotBottom+20,
		dashes)
	fmt.Fprintf(p.w, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%s %s</text>\n", x, plotBottom+34, text.Exact(after),
		says)
}
