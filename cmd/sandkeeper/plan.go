package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/result"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/verb"
)

// detailedExitCode is the flag by which 2 means that there are steps.
const detailedExitCode = "detailed-exitcode"

// planFlags are the flags of plan.
type planFlags struct {
	runFlags
	only     listFlags
	detailed bool
}

func planCommand(o *app.Options) *cobra.Command {
	f := &planFlags{}
	c := &cobra.Command{
		Use:   "plan",
		Short: "Show what a full pass would do now; changes nothing anywhere",
		Long: `Plan looks at both worlds and shows what a pass would do, what it would hold and why.
It writes nothing, also not to the ledger, never probes, works with a read-only role and
before the first migrate. Its own look counts as a sighting, in memory only.

The text has the steps by rule, with counts, and at most --limit of each rule. --rule and --provider leave the
others out, of -o json too.

Exit code 0, 1 on an error, 2 on wrong usage. With --detailed-exitcode 2 means that there are steps, and wrong
usage is 1.`,
		Example: `  sandkeeper plan
  sandkeeper plan --rule orphan --limit 0
  sandkeeper plan -o json --detailed-exitcode`,
		Args: verb.Needs(),
		RunE: func(cmd *cobra.Command, _ []string) error { return runPlan(cmd.Context(), o, f) },
	}
	f.add(c)
	f.only.addRule(c)
	f.only.addProvider(c)
	c.Flags().IntVar(&f.only.limit, "limit", previewLines, "most steps and findings of each rule in the text; 0: all")
	c.Flags().BoolVar(&f.detailed, detailedExitCode, false, "exit with 2 when there are steps, done or held")
	return c
}

func runPlan(ctx context.Context, o *app.Options, f *planFlags) error {
	ctx, cancel := context.WithTimeoutCause(ctx, f.timeout, fmt.Errorf("not finished within --timeout %s", f.timeout))
	defer cancel()
	a, err := o.Open(ctx)
	if err != nil {
		return err
	}
	defer a.Close()
	if f.only.provider != "" && !a.Config.HasProvider(f.only.provider) {
		return verb.Misused(a.Operator().UnknownProvider(f.only.provider))
	}
	show := console.NewProgress(o.Err)
	r, err := a.Keeper(show.Stage).Plan(ctx, f.kind())
	show.End()
	if err != nil {
		return err
	}
	shown := result.PassOf(r, false).Only(f.only.rule, f.only.provider)
	if f.output == "json" {
		err = console.PrintJSON(o.Out, shown)
	} else {
		err = result.PrintPlan(o.Out, shown, f.only.limit)
	}
	if err != nil {
		return err
	}
	if f.detailed && len(shown.Steps) > 0 {
		return &verb.ExitError{Code: 2}
	}
	return nil
}
