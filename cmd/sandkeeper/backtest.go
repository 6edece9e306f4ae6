package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/result"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/verb"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/backtest"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/store/tasks"
)

// pastMemory is how much memory a history may take before less speed is taken instead.
const pastMemory = 192 << 20

// pastFlags are what backtest and tune are asked for.
type pastFlags struct {
	since time.Duration
	share int
	form  string
	rules []string
}

func (f *pastFlags) add(c *cobra.Command, forms ...string) {
	verb.Span(c, &f.since, "since", 30*verb.Day, "how far back to look")
	c.Flags().IntVar(&f.share, "share", 50, "percent of the time in which the task database may be kept at work")
	c.Flags().StringSliceVar(&f.rules, "rule", nil, "only this rule; may be given more than once")
	names := cobra.FixedCompletions(reconcile.RuleNames, cobra.ShellCompDirectiveNoFileComp)
	_ = c.RegisterFlagCompletionFunc("rule", names)
	last := len(forms) - 1
	verb.Form(c, &f.form, "text", "form of the result: "+strings.Join(forms[:last], ", ")+" or "+forms[last], forms...)
}

// wrong is what cannot be asked for.
func (f *pastFlags) wrong() error {
	for _, name := range f.rules {
		if !slices.Contains(reconcile.RuleNames, name) {
			return verb.Misused(fmt.Errorf("--rule %s: %s", name, text.Unknown(name, reconcile.RuleNames)))
		}
	}
	if f.share < 1 || f.share > 100 {
		return verb.Misused(fmt.Errorf("--share %d: it is a percentage, from 1 to 100", f.share))
	}
	return nil
}

func backtestCommand(o *app.Options) *cobra.Command {
	f := &pastFlags{}
	c := &cobra.Command{
		Use:   "backtest",
		Short: "Hold each rule against the platform's own finished tasks: how often would it have been wrong?",
		Long: `Backtest reads the finished tasks and the events of their workers, and asks the rules' own
code what it would have come to at each moment when a silence or an age crosses its threshold.
For each rule it says how many tasks that completed it would have ended (false positives), with
an upper bound for the true rate (95 % confidence), how what it measures is distributed, how late
the dead would have been found, and which threshold would keep the bound of 2 %. Tasks that
somebody stopped, or that sandkeeper failed, do not count as alive. docs/backtest.md has the theory.

It changes nothing and works with a role that may only read. It reads page by page in short
transactions, and leaves the task database alone for a part of the time.`,
		Example: `  sandkeeper backtest
  sandkeeper backtest --since 90d --rule heartbeat-lost
  sandkeeper backtest -o svg > backtest.svg`,
		Args: verb.Needs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return runBacktest(cmd.Context(), o, f)
		},
	}
	f.add(c, "text", "json", "svg")
	return c
}

func runBacktest(ctx context.Context, o *app.Options, f *pastFlags) error {
	p, err := readPast(ctx, o, f)
	if err != nil {
		return err
	}
	switch f.form {
	case "json":
		return console.PrintJSON(o.Out, result.BacktestOf(p))
	case "svg":
		return result.DrawBacktest(o.Out, p.Results)
	}
	return result.PrintBacktest(o.Out, p)
}

// readPast reads the history and plays it to the rules.
func readPast(ctx context.Context, o *app.Options, f *pastFlags) (*result.Past, error) {
	if err := f.wrong(); err != nil {
		return nil, err
	}
	c, err := o.Load()
	if err != nil {
		return nil, err
	}
	if os.Getenv("GOMEMLIMIT") == "" {
		defer debug.SetMemoryLimit(debug.SetMemoryLimit(pastMemory))
	}
	a := o.With(c)
	defer a.Close()
	policy := c.Policy()
	out := &result.Past{AsOf: time.Now().UTC()}
	for _, provider := range policy.Providers {
		_, most := provider.PriceRange() // a history does not know the templates
		out.Price = max(out.Price, most)
	}
	if err := a.OpenTasks(ctx); err != nil {
		return nil, err
	}
	// The ledger may be away: then only the history tells, by the thresholds of the config.
	ledger := a.OpenLedger(ctx)
	show := newPastShown(a, o.Err)
	replay, err := show.play(ctx, out, f, a.InForce(ctx))
	show.End()
	if err != nil {
		return nil, err
	}
	seen, err := ledgerVerdicts(ctx, a, ledger, f.since)
	if err != nil {
		fmt.Fprintln(o.Err, "warning: the ledger cannot be asked, so only the history tells:", console.Lines(err.Error()))
	}
	out.Results = replay.Results(seen, f.rules...)
	return out, nil
}

// play reads the task database's history.
func (r *pastShown) play(
	ctx context.Context, p *result.Past, f *pastFlags, policy *reconcile.Policy,
) (*backtest.Replay, error) {
	a := r.a
	if a.Tasks == nil {
		p.Since = p.AsOf.Add(-f.since)
		return backtest.New(policy, p.Since, p.AsOf, f.rules...), nil
	}
	clock, err := a.Tasks.Clock(ctx)
	if err != nil {
		return nil, err
	}
	p.AsOf, p.Since = clock.Now.UTC(), clock.Now.Add(-f.since).UTC()
	replay := backtest.New(policy, p.Since, p.AsOf, f.rules...)
	ask := tasks.HistoryRead{Since: p.Since, Share: float64(f.share) / 100, Seen: r.seen}
	err = a.Tasks.History(ctx, ask, replay.Add)
	p.Tasks, p.Events, p.LeftOut = replay.Tasks, replay.Events, r.last.LeftOut
	return replay, err
}

// A pastShown shows how far a history has been read: on a terminal always, elsewhere now and then in the log.
type pastShown struct {
	*console.Progress
	a    *app.App
	told time.Time
	last tasks.HistorySeen
}

// tellEvery is how often a log is told of a long reading.
const tellEvery = 30 * time.Second

func newPastShown(a *app.App, w io.Writer) *pastShown {
	return &pastShown{Progress: console.NewProgress(w), a: a, told: time.Now()}
}

func (r *pastShown) seen(s tasks.HistorySeen) {
	r.last = s
	r.Stage(fmt.Sprintf("reading the history: %d tasks, %d events", s.Tasks, s.Events))
	if time.Since(r.told) > tellEvery {
		r.told = time.Now()
		r.a.Log.Info("reading the history", "tasks", s.Tasks, "events", s.Events, "task", text.Clip(s.After, 60))
	}
}

// ledgerVerdicts are what the ledger knows of each rule's verdicts; nothing where there is no ledger yet.
func ledgerVerdicts(ctx context.Context, a *app.App, opened error, since time.Duration) (
	map[string]reconcile.RuleReport, error,
) {
	if opened != nil {
		return nil, opened
	}
	have, want, err := a.Ledger.SchemaVersion(ctx)
	switch {
	case err != nil || have == 0:
		return nil, err
	case have != want:
		return nil, errors.New("its schema is of another version: run `sandkeeper migrate`")
	}
	all, err := a.Ledger.Report(ctx, since)
	out := map[string]reconcile.RuleReport{}
	for _, r := range all {
		out[r.Rule] = r
	}
	return out, err
}
