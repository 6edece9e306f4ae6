package main

import (
	"errors"

	"github.com/spf13/cobra"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/verb"
)

func retryCommand(o *app.Options) *cobra.Command {
	by := &request{}
	hash := ""
	c := &cobra.Command{
		Use:   "retry TASK|incident:ID",
		Short: "Run tasks again that sandkeeper marked failed",
		Long: `Retry sets the rows of tasks that sandkeeper marked failed to what tasks.requeue says, so that the
platform runs them again: one task, or the affected ones of an incident, 200 at a time. Without --hash it
shows the list, what it leaves alone and why, and the list's hash, and changes nothing; with the hash it
records the retry of that list, and of no other.

A task is left alone that is alive again, that was requeued once already, whose row anybody has touched
since, whose sandbox is not gone yet, or whose incident still holds: release that first, once its cause is
fixed. Right before each write all of that is looked at again. What waits for longer than an hour is
withdrawn.`,
		Example: `  sandkeeper retry incident:i-3k9f2
  sandkeeper retry incident:i-3k9f2 --hash 2f9k1 --reason "the snapshot is active again"`,
		Args: verb.Needs("TASK|incident:ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if hash != "" && by.Reason == "" {
				return verb.Misused(errors.New("--reason is required; it is recorded and shown on the page"))
			}
			return withLedger(cmd.Context(), o, func(a *app.App) (string, error) {
				return a.Retry(cmd.Context(), args[0], hash, &by.Request)
			})
		},
	}
	by.add(c, 0, "")
	c.Flags().StringVar(&hash, "hash", "", "hash of the list as it was shown")
	return c
}
