package web

import (
	"fmt"
	"time"

	"github.com/sandkeeper/sandkeeper/web/ui"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/web/chart"
	"github.com/sandkeeper/sandkeeper/web/fleet"
)

// A card is one figure with how it went in the last hours.
type card struct {
	Title string
	Value string
	Level ui.Level
	Sub   string
	Href  string
	Chart string
	Facts []fleet.Fact // instead of a value: several of one chart
}

func (s *model) cards() []card {
	cards := []card{s.fleetCard(), s.findingsCard(), s.actedCard(), goneCard(s.trends)}
	if s.priced() {
		cards = append(cards, moneyCard(s.trends, total(s.FindingsOpen)))
	}
	return cards
}

func (s *model) fleetCard() card {
	c := card{Title: "Live tasks and sandboxes", Facts: s.fleet.Facts(), Href: "sources"}
	says := s.trends.Span()
	for _, f := range c.Facts {
		says += fmt.Sprintf("; now %s: %s", f.Name, f.Value)
	}
	c.Chart = chart.Lines(c.Title, says,
		chart.Series{Name: "sandboxes", Class: "boxes", Filled: true, Values: s.trends.Listed(s.fleet.Names())},
		chart.Series{Name: "live tasks", Class: "tasks", Values: s.trends.Each(fleet.Counted(reconcile.CountTasks))})
	return c
}

func (s *model) findingsCard() card {
	c := card{Title: "Open findings", Value: fmt.Sprint(total(s.FindingsOpen)), Sub: s.findings.dueWords(),
		Href: "findings"}
	c.Chart = chart.Lines(c.Title, s.trends.Span()+"; now "+c.Value, chart.Series{Class: "findings", Filled: true,
		Values: s.trends.Each(func(t *reconcile.TrendSlot) float64 { return float64(t.Findings) })})
	return c
}

func (s *model) actedCard() card {
	done := s.trends.Each(func(t *reconcile.TrendSlot) float64 { return float64(t.Acted) })
	n := 0.0
	for _, v := range done {
		n += v
	}
	c := card{Title: "Actions done", Value: fmt.Sprint(n), Href: ui.Asking("actions", "state", reconcile.ChosenClosed),
		Sub: s.steps.words()}
	if s.trends.Trends == nil {
		c.Value = "–"
	}
	c.Chart = chart.Lines(c.Title, s.trends.Span()+"; in all "+c.Value,
		chart.Series{Class: "acted", Filled: true, Values: done})
	return c
}

// goneCard is how long it took from the first request until a sandbox was confirmed gone.
func goneCard(t *fleet.Trend) card {
	worst := time.Duration(0)
	values := t.Each(func(t *reconcile.TrendSlot) float64 {
		worst = max(worst, t.Gone)
		if t.Gone == 0 {
			return chart.Missing()
		}
		return t.Gone.Seconds()
	})
	c := card{Title: "Until gone", Value: "–", Sub: "no termination was measured", Href: ui.Asking("actions", "step",
		"terminate", "state", "closed")}
	if worst > 0 {
		c.Value, c.Sub = text.Coarse(worst), "95 of 100, in the slowest quarter hour"
	}
	c.Chart = chart.Lines(c.Title, t.Span()+"; at most "+c.Value, chart.Series{Class: "gone", Filled: true,
		Values: values})
	return c
}

func (s *model) priced() bool {
	for _, p := range s.policy.Providers {
		if p.Priced() {
			return s.trends.Trends != nil
		}
	}
	return false
}

// moneyCard is what is lost now and was saved, while so many findings are open.
func moneyCard(t *fleet.Trend, open int) card {
	c := card{Title: "Leaking now", Value: "$0 /h", Sub: "nothing saved in " + t.Span(),
		Href: ui.Asking("findings", "state",
			"due")}
	if usd := ui.Dollars(t.Leaking); usd != "" && open > 0 { // the trends are some seconds older than the findings
		c.Value, c.Level = usd+" /h", ui.Warn
	}
	if usd := ui.Dollars(t.Saved); usd != "" {
		c.Sub = "saved " + usd + " in " + t.Span()
	}
	return c
}
