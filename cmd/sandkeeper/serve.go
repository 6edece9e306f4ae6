package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/verb"
)

func serveCommand(o *app.Options) *cobra.Command {
	return &cobra.Command{
		Use:   "serve",
		Short: "Serve the status page and the metrics; change nothing outside",
		Long: `Serve shows what the ledger knows: the status page at /, /metrics, /healthz and /readyz,
as "run" does. It makes no pass, asks no provider and reads no task. A role that may only
read the schema "sandkeeper" is enough to show it; what operators ask for on the page and by the
API is recorded with one that may write, and done by "run" or "once". Put it beside a CronJob of "once".`,
		Args: verb.Needs(),
		RunE: func(cmd *cobra.Command, _ []string) error { return runServe(cmd.Context(), o) },
	}
}

func runServe(ctx context.Context, o *app.Options) error {
	c, err := o.Load()
	if err != nil {
		return err
	}
	front, err := app.Listen(ctx, c.Web)
	if err != nil {
		return err
	}
	defer front.Close()
	a, err := o.OpenLedger(ctx, c)
	if err != nil {
		return err
	}
	defer a.Close()
	o.SendTelemetry(ctx, a)
	defer a.Telemetry.Close()
	a.Log.InfoContext(ctx, "serving",
		append(front.Addresses(), "version", app.Version(), "installation", c.Installation)...)
	return front.Serve(ctx, a, a.Site())
}
