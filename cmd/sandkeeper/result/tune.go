package result

import (
	"bytes"
	"fmt"
	"io"
	"time"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
	"github.com/sandkeeper/sandkeeper/reconcile/backtest"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// A Tune is the result of tune. Its JSON is a public contract, with the units of a [Backtest].
type Tune struct {
	AsOf  time.Time  `json:"as_of"`
	Since time.Time  `json:"since"`
	Rules []tuneRule `json:"rules"`
}

type tuneRule struct {
	Rule      string      `json:"rule"`
	After     float64     `json:"after"`
	Suggested float64     `json:"suggested_after,omitempty"`
	Samples   int         `json:"samples"`
	Frontier  []tunePoint `json:"frontier"`
}

type tunePoint struct {
	After          float64  `json:"after"`
	FalsePositives int      `json:"false_positives"`
	Upper          float64  `json:"upper_bound"`
	DeadHours      float64  `json:"dead_hours"`
	Cost           *dollars `json:"cost_usd"` // null where no provider has a price
}

// Dollars are what dead work costs.
type dollars float64

// costOf is what hours of dead work cost; nil where no provider has a price.
func (p *Past) costOf(hours float64) *dollars {
	if p.Price <= 0 {
		return nil
	}
	cost := dollars(hours * p.Price)
	return &cost
}

// String is the cost for people.
func (m *dollars) String() string {
	if m == nil {
		return "-"
	}
	return fmt.Sprintf("$%.2f", float64(*m))
}

// TuneOf is what the thresholds would trade, as JSON has it.
func TuneOf(p *Past) Tune {
	out := Tune{AsOf: p.AsOf, Since: p.Since, Rules: []tuneRule{}}
	for i := range p.Results {
		r := &p.Results[i]
		if len(r.Frontier) == 0 {
			continue
		}
		line := tuneRule{Rule: r.Rule, After: r.After.Seconds(), Suggested: r.Suggested.Seconds(), Samples: r.Samples}
		for _, f := range r.Frontier {
			line.Frontier = append(line.Frontier, tunePoint{f.After.Seconds(), f.FalsePositives, f.Upper, f.DeadHours,
				p.costOf(f.DeadHours)})
		}
		out.Rules = append(out.Rules, line)
	}
	return out
}

// PrintTune writes for people what the thresholds would trade.
func PrintTune(w io.Writer, p *Past) error {
	var b bytes.Buffer
	paint := console.NewPaint(w)
	for i := range p.Results {
		r := &p.Results[i]
		if len(r.Frontier) == 0 {
			continue
		}
		fmt.Fprintf(&b, "%s: %s, %s that died\n", paint.Bold(r.Rule), console.Plural(r.Samples, "task"),
			console.Plural(r.Dead, "task"))
		t := console.Table(&b)
		fmt.Fprintln(t, "  after\tfalse positives\tat most\thours of dead work\tcost\t")
		for _, f := range r.Frontier {
			fmt.Fprintf(t, "  %s\t%d\t%s\t%.1f\t%s\t%s\n", text.Exact(f.After), f.FalsePositives, percentText(f.Upper),
				f.DeadHours, p.costOf(f.DeadHours), choiceText(r, f.After))
		}
		if err := t.Flush(); err != nil {
			return fmt.Errorf("write the result: %w", err)
		}
		fmt.Fprintln(&b)
	}
	if b.Len() == 0 {
		fmt.Fprintln(&b, "no finished task tells of any rule; `sandkeeper backtest` says why")
	}
	return console.Print(w, &b)
}

func choiceText(r *backtest.Result, after time.Duration) string {
	switch after {
	case r.After:
		return "set now"
	case r.Suggested:
		return "keeps the bound"
	}
	return ""
}

// PrintTuneLines prints what the config would say. A threshold that is set and keeps the bound is left as it is.
func PrintTuneLines(w io.Writer, p *Past) error {
	var b bytes.Buffer
	var lines bytes.Buffer
	for i := range p.Results {
		r := &p.Results[i]
		switch {
		case len(r.Frontier) == 0 || r.Class != backtest.All:
		case r.Proven:
			fmt.Fprintf(&lines, "  # %s: %s keeps the bound\n", r.Rule, text.Exact(r.After))
		case r.Suggested == 0:
			fmt.Fprintf(&lines, "  # %s: %s are too few to say\n", r.Rule, console.Plural(r.Samples, "task"))
		default:
			fmt.Fprintf(&lines, "  %s: {after: %s} # was %s; %s more of dead work\n", r.Rule, text.Exact(r.Suggested),
				text.Exact(r.After), fmt.Sprintf("%.1f hours", max(r.Cost, 0)))
		}
	}
	if lines.Len() == 0 {
		return console.Print(w, bytes.NewBufferString("# no finished task tells of any rule\n"))
	}
	fmt.Fprintf(&b, "# from %s since %s\nrules:\n%s", console.Plural(p.Tasks, "finished task"), text.Time(p.Since),
		lines.Bytes())
	return console.Print(w, &b)
}
