package main

import (
	"errors"
	"slices"

	"github.com/spf13/cobra"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/verb"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

func armCommand(o *app.Options) *cobra.Command {
	by := &request{}
	unproven, revoke := false, false
	c := &cobra.Command{
		Use:   "arm RULE",
		Short: "Let a rule act that is not proven on your history",
		Long: `In enforce a rule acts once it is proven on the platform's own history: by a backtest on
finished tasks, which run and once make by themselves, or by what it would have done while
it was held. Arm lets one act all the same, by name and with a reason, until it is revoked.
"sandkeeper check", "report" and the page say of each rule whether and by what it is proven.`,
		Example: `  sandkeeper arm orphan --unproven --reason "looked at all 12 of them"
  sandkeeper arm orphan --revoke --reason "one was in use"`,
		Args: verb.Needs("RULE"),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return reconcile.RuleNames, cobra.ShellCompDirectiveNoFileComp
			}
			return nil, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case !slices.Contains(reconcile.RuleNames, args[0]):
				return usage(app.UnknownRule(args[0]))
			case unproven == revoke:
				return verb.Misused(errors.New("say --unproven to let the rule act, or --revoke to take that back"))
			}
			return withLedger(cmd.Context(), o, func(a *app.App) (string, error) {
				if revoke {
					return a.Disarm(cmd.Context(), args[0], &by.Request)
				}
				return a.Arm(cmd.Context(), args[0], &by.Request)
			})
		},
	}
	by.sign(c)
	c.Flags().BoolVar(&unproven, "unproven", false, "let it act without a proof")
	c.Flags().BoolVar(&revoke, "revoke", false, "let it act only with a proof again")
	return c
}
