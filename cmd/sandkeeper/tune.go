package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/result"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/verb"
)

func tuneCommand(o *app.Options) *cobra.Command {
	f := &pastFlags{}
	apply := false
	c := &cobra.Command{
		Use:   "tune",
		Short: "Show what each threshold would trade: false positives against hours of dead work and money",
		Long: `Tune reads the platform's history as backtest does, and shows for each rule that can be replayed
what other thresholds would have come to: how many tasks that completed would have been ended, how
many hours of dead work would have passed before it was found, and what its sandboxes cost.
It changes nothing. With --apply it prints the lines for the config that keep the bound of 2 %.`,
		Example: `  sandkeeper tune --rule heartbeat-lost
  sandkeeper tune --apply`,
		Args: verb.Needs(),
		RunE: func(cmd *cobra.Command, _ []string) error { return runTune(cmd.Context(), o, f, apply) },
	}
	f.add(c, "text", "json")
	c.Flags().BoolVar(&apply, "apply", false, "print the lines for the config instead")
	return c
}

func runTune(ctx context.Context, o *app.Options, f *pastFlags, apply bool) error {
	p, err := readPast(ctx, o, f)
	if err != nil {
		return err
	}
	switch {
	case apply:
		return result.PrintTuneLines(o.Out, p)
	case f.form == "json":
		return console.PrintJSON(o.Out, result.TuneOf(p))
	}
	return result.PrintTune(o.Out, p)
}
