package main

import (
	"github.com/spf13/cobra"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/verb"
)

func pauseCommand(o *app.Options) *cobra.Command {
	by := &request{}
	c := &cobra.Command{
		Use:   "pause [all|rule:NAME|provider:NAME]",
		Short: "Stop acting: of everything, of a rule, or at a provider",
		Long: `Pause stops acting at once, over all replicas. Judging and probing go on, and what would
be done is shown as held by the pause.`,
		Example: `  sandkeeper pause --reason "provider maintenance" --for 2h
  sandkeeper pause rule:orphan --reason "wrong label rolled out"
  sandkeeper pause provider:daytona`,
		Args: verb.UpTo(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withLedger(cmd.Context(), o, func(a *app.App) (string, error) {
				return a.PauseOf(cmd.Context(), args, &by.Request)
			})
		},
	}
	by.add(c, 0, "end the pause by itself after this time (default: until resumed)")
	return c
}

func resumeCommand(o *app.Options) *cobra.Command {
	by := &request{}
	c := &cobra.Command{
		Use:     "resume [all|rule:NAME|provider:NAME]",
		Short:   "End a pause",
		Example: "  sandkeeper resume\n  sandkeeper resume rule:orphan",
		Args:    verb.UpTo(2),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withLedger(cmd.Context(), o, func(a *app.App) (string, error) {
				return a.Resume(cmd.Context(), args, &by.Request)
			})
		},
	}
	by.add(c, 0, "")
	return c
}
