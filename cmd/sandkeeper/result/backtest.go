package result

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
	"github.com/sandkeeper/sandkeeper/reconcile/backtest"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// A Backtest is the result of backtest. Its JSON is a public contract: durations are in seconds, rates from 0
// to 1.
type Backtest struct {
	AsOf  time.Time      `json:"as_of"`
	Since time.Time      `json:"since"`
	Rules []BacktestRule `json:"rules"`
}

// A BacktestRule is what the history says of one rule, or of one class of what it judges.
type BacktestRule struct {
	Rule           string      `json:"rule"`
	Class          string      `json:"class"`
	After          float64     `json:"after"`
	Samples        int         `json:"samples"`
	FalsePositives int         `json:"false_positives"`
	Upper          float64     `json:"upper_bound"`
	Proven         bool        `json:"proven"`
	Suggested      *float64    `json:"suggested_after"` // null where no threshold can be said to keep the bound
	Measured       spreadJSON  `json:"measured"`
	Delay          quantilesJS `json:"delay"`
	Reason         string      `json:"reason"`
}

type spreadJSON struct {
	quantilesJS
	P999 float64 `json:"p999"`
	Max  float64 `json:"max"`
}

type quantilesJS struct {
	P50 float64 `json:"p50"`
	P99 float64 `json:"p99"`
}

// BacktestOf is what the history came to, as JSON has it.
func BacktestOf(p *Past) Backtest {
	out := Backtest{AsOf: p.AsOf, Since: p.Since, Rules: []BacktestRule{}}
	for i := range p.Results {
		r := &p.Results[i]
		line := BacktestRule{Rule: r.Rule, Class: r.Class, After: r.After.Seconds(), Samples: r.Samples,
			FalsePositives: r.FalsePositives, Upper: r.Upper, Proven: r.Proven, Reason: r.Reason,
			Measured: spreadJSON{quantilesJS{r.Measured.P50.Seconds(), r.Measured.P99.Seconds()}, r.Measured.P999.Seconds(),
				r.Measured.Max.Seconds()},
			Delay: quantilesJS{r.Delay.P50.Seconds(), r.Delay.P99.Seconds()}}
		if r.Suggested > 0 {
			seconds := r.Suggested.Seconds()
			line.Suggested = &seconds
		}
		out.Rules = append(out.Rules, line)
	}
	return out
}

// PrintBacktest writes the result for people: a table, then a line on each rule.
func PrintBacktest(w io.Writer, p *Past) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s and %s since %s\n\n", console.Plural(p.Tasks, "finished task"), console.Plural(p.Events, "event"),
		text.Time(p.Since))
	if p.LeftOut > 0 {
		fmt.Fprintf(&b, "%s could not be read, or has too many events\n\n", console.Plural(p.LeftOut, "task"))
	}
	t := console.Table(&b)
	fmt.Fprintln(t, "rule\tclass\tafter\ttasks\tfalse positives\tat most\tmeasured p50\tp99\tp99.9\tmax\t"+
		"found dead p50\tp99\tsuggested")
	for i := range p.Results {
		if r := &p.Results[i]; len(r.Frontier) > 0 || r.Class != backtest.All {
			backtestLine(t, r)
		}
	}
	if err := t.Flush(); err != nil {
		return fmt.Errorf("write the result: %w", err)
	}
	paint := console.NewPaint(w)
	fmt.Fprintln(&b)
	for i := range p.Results {
		r := &p.Results[i]
		if r.Class != backtest.All {
			continue
		}
		colour := paint.Yellow
		if r.Proven {
			colour = paint.Green
		}
		fmt.Fprintf(&b, "%s: %s\n", colour(r.Rule), text.Line(r.Reason))
	}
	return console.Print(w, &b)
}

func backtestLine(w io.Writer, r *backtest.Result) {
	suggested, p50, p99 := "-", "-", "-"
	if r.Suggested > 0 {
		suggested = text.Exact(r.Suggested)
	}
	if r.Dead > 0 {
		p50, p99 = text.Duration(r.Delay.P50), text.Duration(r.Delay.P99)
	}
	fmt.Fprintf(w, "%s\t%s\t%s\t%d\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", r.Rule, text.Line(r.Class), text.Exact(r.After),
		r.Samples, r.FalsePositives, percentText(r.Upper), text.Duration(r.Measured.P50), text.Duration(r.Measured.P99),
		text.Duration(r.Measured.P999), text.Duration(r.Measured.Max), p50, p99, suggested)
}

// percentText is a rate as a percentage of two digits.
func percentText(rate float64) string {
	switch percent := 100 * rate; {
	case percent >= 10:
		return fmt.Sprintf("%.0f%%", math.Ceil(percent))
	case percent >= 1:
		return fmt.Sprintf("%.1f%%", percent)
	default:
		return fmt.Sprintf("%.2g%%", percent)
	}
}
