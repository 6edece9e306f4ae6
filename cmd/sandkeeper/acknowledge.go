package main

import (
	"github.com/spf13/cobra"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/verb"
)

func acknowledgeCommand(o *app.Options) *cobra.Command {
	by := &request{}
	c := &cobra.Command{
		Use:   "acknowledge INCIDENT",
		Short: "Say that you look after an incident; it holds what it held",
		Long: `Acknowledge writes down who looks after an open incident, and why: it is shown on the page, in the API and in
the record. Nothing is let go and nothing is done: "release incident:ID" and "affected ID" are what follows. Who says it
last looks after it.`,
		Example: `  sandkeeper acknowledge i-3k9f2 --reason "ticket 4711"`,
		Args:    verb.Needs("INCIDENT"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withLedger(cmd.Context(), o, func(a *app.App) (string, error) {
				return a.Acknowledge(cmd.Context(), args[0], &by.Request)
			})
		},
	}
	by.add(c, 0, "")
	return c
}
