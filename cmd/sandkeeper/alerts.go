package main

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sandkeeper/sandkeeper/alerts"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/config"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/verb"
)

func alertsCommand(o *app.Options) *cobra.Command {
	c := &cobra.Command{
		Use:   "alerts",
		Short: "Alerts for Prometheus, their runbooks, a dashboard",
		Long: `Alerts holds what watches sandkeeper: rules for Prometheus over the metrics that run and
serve show at /metrics, each with a runbook, an example for Alertmanager, and a dashboard for Grafana.
Where there is a config, alerts point at its page, dashboard and runbooks (web.public_url,
alerts.dashboard_url, alerts.runbooks_url) and keep the labels of alerts.labels. Thresholds that depend
on your fleet are metrics themselves, so the rules follow the config of the running process; how long a source
may be frozen (alerts.frozen_for) is written into them.`,
	}
	c.AddCommand(
		alertsRulesCommand(o, "rules", "Print the rules, to be loaded by Prometheus", alerts.Rules),
		alertsRulesCommand(o, "prometheusrule", "Print the rules as an object for the operator of Prometheus",
			alerts.PrometheusRule),
		alertsTextCommand(o, "alertmanager",
			"Print an example for Alertmanager: routes, and what waits while another tells the cause",
			alerts.Alertmanager),
		alertsTextCommand(o, "dashboard", "Print the dashboard for Grafana, to be imported",
			func(alerts.Site) string { return alerts.Dashboard() }),
		alertsRunbookCommand(o),
	)
	return c
}

func alertsRulesCommand(o *app.Options, name, short string, rules func(alerts.Site) string) *cobra.Command {
	base := ""
	c := &cobra.Command{
		Use:   name,
		Short: short,
		Long: short + `. They need no config: the schedule and the limits that they compare with are
metrics themselves. Where there is one, the alerts point at its page, dashboard and runbooks.`,
		Example: fmt.Sprintf("  sandkeeper alerts %s > sandkeeper.yaml\n"+
			"  sandkeeper alerts %[1]s --runbooks https://wiki.example/sandkeeper", name),
		Args: verb.Needs(),
		RunE: func(*cobra.Command, []string) error {
			site, err := alertSite(o)
			if err != nil {
				return err
			}
			if base != "" {
				site.Runbooks = base
			}
			_, err = fmt.Fprint(o.Out, rules(site))
			return err
		},
	}
	c.Flags().StringVar(&base, "runbooks", "", "address of your copy of the runbooks (default: the public ones)")
	return c
}

// alertSite is what the config says of it. Without a config that is nothing; one that has mistakes is
// an error, for the alerts would point at nothing.
func alertSite(o *app.Options) (alerts.Site, error) {
	c, err := o.Load()
	if o.ConfigFile == "" && (errors.Is(err, fs.ErrNotExist) || errors.Is(err, config.ErrNone)) {
		return alerts.Site{}, nil
	}
	if err != nil {
		return alerts.Site{}, err
	}
	return alerts.Site{Runbooks: c.Alerts.RunbooksURL, Dashboard: c.Alerts.DashboardURL, Page: c.Web.PublicURL,
		Labels: c.Alerts.Labels, FrozenFor: c.Alerts.FrozenFor}, nil
}

func alertsTextCommand(o *app.Options, name, short string, text func(alerts.Site) string) *cobra.Command {
	return &cobra.Command{
		Use:   name,
		Short: short,
		Args:  verb.Needs(),
		RunE: func(*cobra.Command, []string) error {
			site, err := alertSite(o)
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(o.Out, text(site))
			return err
		},
	}
}

func alertsRunbookCommand(o *app.Options) *cobra.Command {
	return &cobra.Command{
		Use:   "runbook [ALERT|RULE]",
		Short: "Print the runbook of an alert or of a rule; without a name list them",
		Example: "  sandkeeper alerts runbook SandkeeperBreakerOpen\n" +
			"  sandkeeper alerts runbook orphan",
		Args: cobra.MaximumNArgs(1),
		// Only when they are asked for: to find the names would cost each start of the program some milliseconds.
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return alerts.Runbooks(), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			text := strings.Join(alerts.Runbooks(), "\n") + "\n"
			if len(args) == 1 {
				found := false
				if text, found = alerts.Runbook(args[0]); !found {
					return fmt.Errorf("no runbook of %s: `sandkeeper alerts runbook` lists them", args[0])
				}
			}
			_, err := fmt.Fprint(o.Out, text)
			return err
		},
	}
}
