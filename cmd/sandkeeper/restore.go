package main

import (
	"time"

	"github.com/spf13/cobra"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/verb"
)

func restoreCommand(o *app.Options) *cobra.Command {
	by := &request{}
	c := &cobra.Command{
		Use:   "restore ID",
		Short: "Take a quarantine or a stop back: the sandbox, and its task's row if it has not moved since",
		Long: `Restore brings back what a quarantine stopped or paused: its termination is withdrawn, the
sandbox is resumed, and the task's row, where the quarantine had failed it, is set back to what it was
before, unless it was changed since. ID is a sandbox's id, provider/id, or a task's id.

It is possible until the quarantine's time is over and the termination has begun, and at any time after
remedy: stop, which no termination follows. What comes back is
held for a while, so that the rule which found it does not find it again at once: fix the
cause, or lengthen the hold, before that is over.`,
		Example: `  sandkeeper restore daytona/7d3a… --reason "it was the customer's"`,
		Args:    verb.Needs("ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withLedger(cmd.Context(), o, func(a *app.App) (string, error) {
				if err := a.CheckSchema(cmd.Context()); err != nil {
					return "", err
				}
				return a.Restore(cmd.Context(), args[0], &by.Request)
			})
		},
	}
	by.sign(c)
	verb.SpanOrNone(c, &by.Last, "for", 24*time.Hour,
		"how long what comes back is held, so that no rule acts on it again; 0: not at all")
	return c
}
