package web

import (
	"fmt"
	"time"

	"github.com/sandkeeper/sandkeeper/web/ui"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/web/chart"
)

// A card is one figure with how it went in the last hours.
type card struct {
	Title string
	Value string
	Level ui.Level
	Sub   string
	Href  string
	Chart string
	Facts []fact // instead of a value: several of one chart
}

func (s *model) cards() []card {
	cards := []card{s.fleetCard(), s.findingsCard(), s.actedCard(), s.trends.goneCard()}
	if s.priced() {
		cards = append(cards, s.trends.moneyCard())
	}
	return cards
}

// A trend is how the last hours went; nil where that is not known.
type trend struct{ *reconcile.Trends }

// slots are one number of each slot of the trends; none where they are not known.
func (t *trend) slots(of func(*reconcile.TrendSlot) float64) []float64 {
	if t.Trends == nil {
		return nil
	}
	values := make([]float64, len(t.Slots))
	for i := range values {
		values[i] = of(&t.Slots[i])
	}
	return values
}

func (t *trend) span() string {
	if t.Trends == nil {
		return "not known"
	}
	return "the last " + text.Coarse(time.Duration(len(t.Slots))*t.Slot)
}

func counted(what string) func(*reconcile.TrendSlot) float64 {
	return func(t *reconcile.TrendSlot) float64 {
		if n, ok := sum(t.Counts, what); ok {
			return float64(n)
		}
		return chart.Missing()
	}
}

// listed are the sandboxes of each slot. Where one of the providers that were listed before is not known, the sum of
// the others would look like a drop: there the line has a gap.
func (t *trend) listed(providers []string) []float64 {
	of, known := counted(reconcile.CountOwned), map[string]bool{}
	return t.slots(func(slot *reconcile.TrendSlot) float64 {
		n := of(slot)
		for _, name := range providers {
			_, here := slot.Counts[reconcile.Count{What: reconcile.CountOwned, Provider: name}.String()]
			if known[name] && !here {
				n = chart.Missing()
			}
			known[name] = known[name] || here
		}
		return n
	})
}

// before are the counts of the newest slot that began before a time and has the key.
func (t *trend) before(at time.Time, key string) map[string]int {
	if t.Trends == nil || at.IsZero() {
		return nil
	}
	for i := len(t.Slots) - 1; i >= 0; i-- {
		began := t.From.Add(time.Duration(i) * t.Slot)
		if _, counted := t.Slots[i].Counts[key]; counted && began.Before(at) {
			return t.Slots[i].Counts
		}
	}
	return nil
}

func (s *model) fleetCard() card {
	c := card{Title: "Live tasks and sandboxes", Facts: s.fleet.facts(), Href: "sources"}
	says := s.trends.span()
	for _, f := range c.Facts {
		says += fmt.Sprintf("; now %s: %s", f.Name, f.Value)
	}
	c.Chart = chart.Lines(c.Title, says,
		chart.Series{Name: "sandboxes", Class: "boxes", Filled: true, Values: s.trends.listed(s.fleet.providerNames())},
		chart.Series{Name: "live tasks", Class: "tasks", Values: s.trends.slots(counted(reconcile.CountTasks))})
	return c
}

func (s *model) findingsCard() card {
	c := card{Title: "Open findings", Value: fmt.Sprint(total(s.FindingsOpen)), Sub: s.findings.dueWords(),
		Href: "findings"}
	c.Chart = chart.Lines(c.Title, s.trends.span()+"; now "+c.Value, chart.Series{Class: "findings", Filled: true,
		Values: s.trends.slots(func(t *reconcile.TrendSlot) float64 { return float64(t.Findings) })})
	return c
}

func (s *model) actedCard() card {
	done := s.trends.slots(func(t *reconcile.TrendSlot) float64 { return float64(t.Acted) })
	n := 0.0
	for _, v := range done {
		n += v
	}
	c := card{Title: "Actions done", Value: fmt.Sprint(n), Href: ui.Asking("actions", "state", reconcile.ChosenClosed),
		Sub: s.steps.words()}
	if s.trends.Trends == nil {
		c.Value = "–"
	}
	c.Chart = chart.Lines(c.Title, s.trends.span()+"; in all "+c.Value,
		chart.Series{Class: "acted", Filled: true, Values: done})
	return c
}

// goneCard is how long it took from the first request until a sandbox was confirmed gone.
func (t *trend) goneCard() card {
	worst := time.Duration(0)
	values := t.slots(func(t *reconcile.TrendSlot) float64 {
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
	c.Chart = chart.Lines(c.Title, t.span()+"; at most "+c.Value, chart.Series{Class: "gone", Filled: true,
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

func (t *trend) moneyCard() card {
	c := card{Title: "Leaking now", Value: "$0 /h", Sub: "nothing saved in " + t.span(),
		Href: ui.Asking("findings", "state",
			"due")}
	if usd := ui.Dollars(t.Leaking); usd != "" {
		c.Value, c.Level = usd+" /h", ui.Warn
	}
	if usd := ui.Dollars(t.Saved); usd != "" {
		c.Sub = "saved " + usd + " in " + t.span()
	}
	return c
}
