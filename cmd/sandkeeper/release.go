package main

import (
	"errors"
	"time"

	"github.com/spf13/cobra"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/verb"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

func releaseCommand(o *app.Options) *cobra.Command {
	by := &request{}
	hash, only := "", []string{}
	c := &cobra.Command{
		Use:   "release RULE|SOURCE|incident:ID",
		Short: "Let the listed subjects pass an open breaker, a freeze or an incident",
		Long: `Release lets exactly the subjects that are held now pass: those of a rule's open breaker,
or those that wait for an untrusted source (tasks, link, events, listing:PROVIDER,
probes:PROVIDER, clock:COLUMN). Without --hash it shows the list and its hash and changes
nothing; with the hash it releases that list, and no other. New subjects trip it again.
With --only those of the list alone pass that it names: the rest stays held.

An open incident holds further terminations and requeues of its failures. "release incident:ID"
shows what it holds; with --reason it lets all of them go, those that come later as well,
until the incident closes.`,
		Example: `  sandkeeper release orphan
  sandkeeper release orphan --hash 2f9k1 --reason "checked by hand, all from the test run" --for 1h
  sandkeeper release link --hash 8d1c4 --only task:t-81 --only sandbox:daytona/5f2a --reason "looked at both"
  sandkeeper release incident:i-3k9f2 --reason "the snapshot is active again"`,
		Args: verb.Needs("RULE|SOURCE|incident:ID"),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, incident := reconcile.OfType(reconcile.SubjectIncident, args[0])
			if len(only) > 0 && (incident || hash == "") {
				return verb.Misused(errors.New("--only goes with the --hash of its list; an incident is released whole"))
			}
			return withLedger(cmd.Context(), o, func(a *app.App) (string, error) {
				if id, incident := reconcile.OfType(reconcile.SubjectIncident, args[0]); incident {
					return releaseIncident(cmd.Context(), a, id, by)
				}
				return a.Operator().Release(cmd.Context(), args[0], hash, only, &by.Request)
			})
		},
	}
	by.add(c, time.Hour, "how long the release lasts")
	c.Flags().StringVar(&hash, "hash", "", "hash of the list as it was shown")
	c.Flags().StringArrayVar(&only, "only", nil, "a `SUBJECT` of the list, such as task:t-81; may be repeated")
	return c
}
