package web

import (
	"strconv"
	"time"

	"github.com/sandkeeper/sandkeeper/web/ui"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/web/chart"
)

// curveBlock is the picture of a rule's last backtest.
func curveBlock(now time.Time, c *reconcile.Curve) ui.Block {
	return ui.Block{Title: "The last backtest", Aside: ui.Ago(c.At, now).Text, Chart: chart.Thresholds(CurveOf(c))}
}

// CurveOf is a backtest as it is drawn.
func CurveOf(c *reconcile.Curve) *chart.Curve {
	out := &chart.Curve{Title: c.Rule, Text: strconv.Itoa(c.FalsePositives) + " false positives of " +
		strconv.Itoa(c.Samples) + " tasks at " + text.Exact(c.After) + ", at most " +
		strconv.FormatFloat(100*c.Upper, 'g', 2, 64) + "%", Set: c.After, Keeps: c.Suggested, Words: text.Duration}
	for _, p := range c.Points {
		out.Points = append(out.Points, chart.CurvePoint{After: p.After, Delay: p.Delay, Rate: p.Rate, Upper: p.Upper})
	}
	return out
}

// groupsGrid says what the false positives of a rule have in common; nil when nothing is known of it.
func groupsGrid(r *reconcile.RuleReport) *ui.Grid {
	if len(r.Groups) == 0 {
		return nil
	}
	g := &ui.Grid{Heads: []string{"label", "lived or used afterwards", "of"}}
	for _, one := range r.Groups {
		label := ui.Name(one.Label)
		g.Rows = append(g.Rows, ui.Row{Key: "label " + label, Cells: []ui.Cell{ui.Said(label),
			ui.Number(one.FalsePositives), ui.Number(one.Subjects)}})
	}
	return g
}
