package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/queue"
)

func passCommand(o *app.Options) *cobra.Command {
	by := &request{}
	c := &cobra.Command{
		Use:   "pass [quick|full]",
		Short: "Have a running daemon make a pass now",
		Long: `Pass asks for a full pass, or a quick one, without waiting for the schedule. Where a daemon
runs, it begins about at once, on one of the replicas. Where none runs, use once.`,
		Example:   "  sandkeeper pass --reason \"the provider is back\"\n  sandkeeper pass quick",
		Args:      oneOf("quick", "full"),
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
				return askPass(cmd.Context(), a, kind, by)
			})
		},
	}
	by.add(c, 0, "")
	return c
}

func askPass(ctx context.Context, a *app.App, kind reconcile.PassKind, by *request) (string, error) {
	if err := a.Ledger.Note(ctx, by.signature(), "pass:"+string(kind), string(kind)+" pass asked for"); err != nil {
		return "", err
	}
	worked, err := queue.AskPass(ctx, a.Pool, kind)
	switch {
	case err != nil:
		return "", err
	case worked:
		return fmt.Sprintf("asked for: a running daemon makes a %s pass now", kind), nil
	}
	return "recorded, but no daemon runs: the next `sandkeeper once` is the next pass", nil
}
