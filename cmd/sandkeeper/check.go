package main

import (
	"bytes"
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/check"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/config"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/verb"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

func checkCommand(o *app.Options) *cobra.Command {
	timeout := time.Minute
	var watch time.Duration
	c := &cobra.Command{
		Use:   "check",
		Short: "Test the config against the world: one line each, with the fix",
		Long: `Check reads the config, connects to the databases, compares every mapped column with the
catalog, looks at the clocks, the grants, the ledger, each provider's credential,
capabilities and templates. Rules that act are held against the platform's history, as backtest does,
for 15 seconds at most. It changes nothing. Exit code 1 if any line fails.`,
		Example: `  sandkeeper check --config sandkeeper.yaml
  sandkeeper check --watch 2m    see how the workers' clocks move, and how far apart heartbeats come`,
		Args: verb.Needs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := context.WithTimeoutCause(
				cmd.Context(),
				timeout+watch,
				fmt.Errorf("not finished within --timeout %s", timeout),
			)
			defer cancel()
			return runCheck(ctx, o, watch)
		},
	}
	verb.Span(c, &timeout, "timeout", timeout, "give up after this time, besides that of --watch")
	verb.Span(c, &watch, "watch", 0, "look at the live rows again and again for this long")
	return c
}

func runCheck(ctx context.Context, o *app.Options, watch time.Duration) error {
	c, err := config.Load(o.ConfigFile, o.Lookup)
	if err != nil {
		p := console.NewPaint(o.Out)
		fmt.Fprintln(o.Out, checkLine(p, "config", reconcile.CheckResult{What: "loads", Said: err.Error()}))
		for _, line := range check.Statuses(ctx, o, err) {
			fmt.Fprintln(o.Out, checkLine(p, "tasks", line))
		}
		return &verb.ExitError{Code: 1}
	}
	a := o.With(c)
	defer a.Close()
	return showChecks(o, check.Sections(ctx, a, watch))
}

func showChecks(o *app.Options, sections []check.Section) error {
	var b bytes.Buffer
	p := console.NewPaint(o.Out)
	failed := 0
	for _, s := range sections {
		for _, line := range s.Lines {
			if !line.OK {
				failed++
			}
			fmt.Fprintln(&b, checkLine(p, s.Name, line))
		}
	}
	if err := console.Print(o.Out, &b); err != nil {
		return err
	}
	if failed > 0 {
		return &verb.ExitError{Code: 1, Err: fmt.Errorf("check: %s failed", console.Plural(failed, "line"))}
	}
	return nil
}

// checkLine is one result in one line: what, what was seen, and the fix.
func checkLine(p console.Paint, section string, r reconcile.CheckResult) string {
	mark := p.Green("ok  ")
	switch {
	case !r.OK:
		mark = p.Red("FAIL")
	case r.Fix != "":
		mark = p.Yellow("warn")
	}
	line := mark + "  " + console.Lines(fmt.Sprintf("%s: %s: %s", section, r.What, r.Said))
	if r.Fix != "" {
		line += "; fix: " + console.Lines(r.Fix)
	}
	return line
}
