package main

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/verb"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

func modeCommand(o *app.Options) *cobra.Command {
	by := &request{}
	c := &cobra.Command{
		Use:   "mode RULE observe|off|clear",
		Short: "Lower the mode of a rule at once, without a redeploy",
		Long: `Mode lowers a rule to observe or off in the ledger, over all replicas. It never raises
one: enforce is set in the config. "clear" gives the rule back to the config. A rule that
lowered itself, because more than 2 % of the tasks that it failed came back to life, is armed
again by "clear", which forgives what it was wrong about until then.`,
		Example: "  sandkeeper mode orphan observe --reason \"false alarms since noon\"",
		Args:    verb.Needs("RULE", "MODE"),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return reconcile.RuleNames, cobra.ShellCompDirectiveNoFileComp
			}
			return []string{"observe", "off", "clear"}, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(reconcile.RuleNames, args[0]) {
				return usage(app.UnknownRule(args[0]))
			}
			return withLedger(cmd.Context(), o, func(a *app.App) (string, error) {
				return a.LowerMode(cmd.Context(), args[0], args[1], &by.Request)
			})
		},
	}
	by.add(c, 0, "")
	return c
}
