package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/queue"
)

func passCommand(o *options) *cobra.Command {
	by := &wish{}
	c := &cobra.Command{
		Use:   "pass [quick|full]",
		Short: "Have a running daemon make a pass now",
		Long: `Pass asks for a full pass, or a quick one, without waiting for the schedule. Where a daemon
runs, it begins about at once, on one of the replicas. Where none runs, use once.`,
		Example:   "  sandkeeper pass --reason \"the provider is back\"\n  sandkeeper pass quick",
		Args:      cobra.MatchAll(cobra.MaximumNArgs(1), cobra.OnlyValidArgs),
		ValidArgs: []string{"quick", "full"},
		RunE: func(cmd *cobra.Command, args []string) error {
			kind := reconcile.Full
			if len(args) == 1 {
				kind = reconcile.PassKind(args[0])
			}
			return withLedger(cmd.Context(), o, func(w *world) (string, error) {
				if err := w.current(cmd.Context()); err != nil {
					return "", err
				}
				return w.passNow(cmd.Context(), kind, by)
			})
		},
	}
	by.add(c, 0, "")
	return c
}

func (w *world) passNow(ctx context.Context, kind reconcile.PassKind, by *wish) (string, error) {
	if err := w.ledger.Note(ctx, by.signature(), "pass:"+string(kind), string(kind)+" pass asked for"); err != nil {
		return "", err
	}
	worked, err := queue.AskPass(ctx, w.pool, kind)
	switch {
	case err != nil:
		return "", err
	case worked:
		return fmt.Sprintf("asked for: a running daemon makes a %s pass now", kind), nil
	}
	return "recorded, but no daemon runs: the next `sandkeeper once` is the next pass", nil
}
