package result

import (
	"bytes"
	"fmt"
	"io"
	"time"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
	"github.com/sandkeeper/sandkeeper/reconcile/backtest"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/web"
	"github.com/sandkeeper/sandkeeper/web/chart"
)

// DrawBacktest draws, for each rule that was replayed, the rate of false positives and the delay over the
// threshold. The one that is set is marked by a line, the one that would keep the bound by a broken one. Panels
// lie below each other.
func DrawBacktest(w io.Writer, results []backtest.Result) error {
	var panels bytes.Buffer
	curves := backtest.Curves(results, time.Time{})
	for n := range curves {
		fmt.Fprintf(&panels, "<g transform=\"translate(0 %d)\">\n", n*chart.CurveHigh)
		one := web.CurveOf(&curves[n])
		one.Words = text.Exact
		one.Draw(&panels)
		panels.WriteString("</g>\n")
	}
	high := max(len(curves), 1) * chart.CurveHigh
	var b bytes.Buffer
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\" "+
		"font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
		chart.CurveWide, high, chart.CurveWide, high)
	if len(curves) == 0 {
		b.WriteString("<text x=\"20\" y=\"40\">No finished task tells of any rule.</text>\n")
	}
	b.Write(panels.Bytes())
	b.WriteString("</svg>\n")
	return console.Print(w, &b)
}
