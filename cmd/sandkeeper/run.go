package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/verb"
)

func runCommand(o *app.Options) *cobra.Command {
	migrate := false
	c := &cobra.Command{
		Use:   "run",
		Short: "Run the daemon: passes on their schedules, page and metrics",
		Long: `Run makes quick and full passes on the schedules of the config, carries out what they
call for, and serves the status page, /metrics, /healthz and /readyz. Any number of
processes may run on one ledger: one of them makes each pass, all of them share the work,
and when one is killed the others go on.

It reads the config again when the file changes and on SIGHUP. SIGTERM and Ctrl-C stop it
once what it has begun is finished; a second Ctrl-C stops it at once, and loses nothing.`,
		Example: `  sandkeeper run --migrate
  sandkeeper run -c /etc/sandkeeper/sandkeeper.yaml`,
		Args: verb.Needs(),
		RunE: func(cmd *cobra.Command, _ []string) error { return runDaemon(cmd.Context(), o, migrate) },
	}
	c.Flags().BoolVar(&migrate, "migrate", false, "bring the ledger's schema up to date first")
	return c
}

func runDaemon(ctx context.Context, o *app.Options, migrate bool) error {
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
	if err := a.Prepare(ctx, migrate); err != nil {
		return err
	}
	d, err := app.NewDaemon(ctx, o, a)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Run(ctx, front)
}
