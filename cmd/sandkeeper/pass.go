package main

import (
	"github.com/spf13/cobra"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/verb"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

func passCommand(o *app.Options) *cobra.Command {
	by := &request{}
	c := &cobra.Command{
		Use:   "pass [quick|full]",
		Short: "Have a running daemon make a pass now",
		Long: `Pass asks for a full pass, or a quick one, without waiting for the schedule. Where a daemon
runs, it begins about at once, on one of the replicas. Where none runs, use once.`,
		Example:   "  sandkeeper pass --reason \"the provider is back\"\n  sandkeeper pass quick",
		Args:      verb.OneOf("quick", "full"),
		ValidArgs: []string{"quick", "full"},
		RunE: func(cmd *cobra.Command, args []string) error {
			kind := reconcile.Full
			if len(args) == 1 {
				kind = reconcile.PassKind(args[0])
			}
			return withLedger(cmd.Context(), o, func(a *app.App) (string, error) {
				if err := a.CheckSchema(cmd.Context()); err != nil {
					return "", err
				}
				return a.AskPass(cmd.Context(), kind, &by.Request)
			})
		},
	}
	by.add(c, 0, "")
	return c
}
