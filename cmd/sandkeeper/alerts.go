package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sandkeeper/sandkeeper/alerts"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
)

func alertsCommand(o *app.Options) *cobra.Command {
	c := &cobra.Command{
		Use:   "alerts",
		Short: "Alerts for Prometheus",
		Long: `Alerts holds what watches sandkeeper: rules for Prometheus over the metrics that run and
serve show at /metrics, each with a runbook.`,
	}
	c.AddCommand(alertsRulesCommand(o))
	return c
}

func alertsRulesCommand(o *app.Options) *cobra.Command {
	base := ""
	c := &cobra.Command{
		Use:   "rules",
		Short: "Print the rules, to be loaded by Prometheus",
		Long: `Rules prints the recording rules and alerts as one file for rule_files of Prometheus. They
need no config: the schedule and the limits that they compare with are metrics themselves.`,
		Example: `  sandkeeper alerts rules > /etc/prometheus/rules/sandkeeper.yaml
  sandkeeper alerts rules --runbooks https://wiki.example/sandkeeper`,
		Args: needs(),
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprint(o.Out, alerts.Rules(base))
			return err
		},
	}
	c.Flags().StringVar(&base, "runbooks", "", "address of your copy of the runbooks (default: the public ones)")
	return c
}
