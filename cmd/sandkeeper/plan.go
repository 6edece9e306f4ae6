package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
)

func planCommand(o *app.Options) *cobra.Command {
	f := &runFlags{}
	detailed := false
	c := &cobra.Command{
		Use:   "plan",
		Short: "Show what a full pass would do now; changes nothing anywhere",
		Long: `Plan looks at both worlds and shows what a pass would do, what it would hold and why.
It writes nothing, also not to the ledger, never probes, works with a read-only role and
before the first migrate. Its own look counts as a sighting, in memory only.

Exit code 0, or 1 on an error and on wrong usage. With --detailed-exitcode 2 means that there are steps.`,
		Example: `  sandkeeper plan
  sandkeeper plan -o json --detailed-exitcode`,
		Args: needs(),
		RunE: func(cmd *cobra.Command, _ []string) error { return runPlan(cmd.Context(), o, f, detailed) },
	}
	f.add(c)
	c.Flags().BoolVar(&detailed, "detailed-exitcode", false, "exit with 2 when there are steps, done or held")
	return c
}

func runPlan(ctx context.Context, o *app.Options, f *runFlags, detailed bool) error {
	ctx, cancel := context.WithTimeoutCause(ctx, f.timeout, fmt.Errorf("not finished within --timeout %s", f.timeout))
	defer cancel()
	a, err := o.Open(ctx)
	if err != nil {
		return err
	}
	defer a.Close()
	show := console.NewProgress(o.Err)
	r, err := a.Keeper(show.Stage).Plan(ctx, f.kind())
	show.End()
	if err != nil {
		return err
	}
	shown := reportOf(r, false)
	if err := printResult(o.Out, f.output, shown); err != nil {
		return err
	}
	if detailed && len(shown.Steps) > 0 {
		return &exitError{code: 2}
	}
	return nil
}
