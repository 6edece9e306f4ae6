package main

import (
	"github.com/spf13/cobra"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/verb"
)

func metricsCommand(o *app.Options) *cobra.Command {
	file := ""
	c := &cobra.Command{
		Use:   "metrics",
		Short: "Print the metrics of the ledger, or write them for the node exporter",
		Long: `Metrics prints what run and serve show at /metrics, where neither of them runs: beside a CronJob
of "once", for the textfile collector of the node exporter. The file is replaced as a whole. The
series of a single process, as of its calls to providers, are those of this one. To write them
after each pass, with what that pass knows of itself, use once --metrics-file.`,
		Example: `  sandkeeper metrics
  sandkeeper metrics --output /var/lib/node_exporter/textfile/sandkeeper.prom`,
		Args: verb.Needs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return onLedger(cmd.Context(), o, func(a *app.App) error {
				if file != "" {
					return a.WriteMetrics(file)
				}
				return a.PrintMetrics(o.Out)
			})
		},
	}
	c.Flags().StringVar(&file, "output", "", "file to write, whose name ends with .prom (default: standard output)")
	return c
}
