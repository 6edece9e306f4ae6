package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/verb"
)

func holdCommand(o *app.Options) *cobra.Command {
	by := &request{}
	c := &cobra.Command{
		Use:   "hold TARGET",
		Short: "Keep one task, sandbox, label or provider from being acted on",
		Long: `Hold excludes a target: no rule takes a step against it until the hold is lifted or
ends. TARGET is task:ID, sandbox:ID (or its name), label:KEY=VALUE or
provider:NAME; a bare id is held as a task and as a sandbox.

A hold may be set before its task or sandbox appears. It is recorded at once; when nothing
that is there now matches it, a warning says so, as it may be misspelt. A provider that the
config does not name is refused.

Exit code 2: wrong usage; nothing is held.`,
		Example: `  sandkeeper hold task:8c02ffe6-26b9-4b1c-9d6e-0d2f9d6a1c11 --reason "debugging with the customer" --for 4h
  sandkeeper hold label:team=research`,
		Args: verb.Needs("TARGET"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return onLedger(cmd.Context(), o, func(a *app.App) error {
				said, err := a.Hold(cmd.Context(), args[0], &by.Request)
				if err != nil {
					return err
				}
				if _, err := fmt.Fprintln(o.Out, said); err != nil {
					return err
				}
				// Only now: an operator in a hurry has the hold before anything is looked up.
				doubtHold(cmd.Context(), a, o.Err, args[0])
				return nil
			})
		},
	}
	by.add(c, 0, "end the hold by itself after this time (default: until lifted)")
	return c
}

func unholdCommand(o *app.Options) *cobra.Command {
	by := &request{}
	c := &cobra.Command{
		Use:     "unhold TARGET",
		Short:   "Lift a hold",
		Example: "  sandkeeper unhold task:8c02ffe6-26b9-4b1c-9d6e-0d2f9d6a1c11",
		Args:    verb.Needs("TARGET"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withLedger(cmd.Context(), o, func(a *app.App) (string, error) {
				return a.Unhold(cmd.Context(), args[0], &by.Request)
			})
		},
	}
	by.add(c, 0, "")
	return c
}
