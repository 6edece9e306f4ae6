package main

import (
	"context"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
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
		Args:    needs("RULE", "MODE"),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) == 0 {
				return reconcile.RuleNames, cobra.ShellCompDirectiveNoFileComp
			}
			return []string{"observe", "off", "clear"}, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if !slices.Contains(reconcile.RuleNames, args[0]) {
				return unknownRule(args[0])
			}
			return withLedger(cmd.Context(), o, func(a *app.App) (string, error) {
				return lowerMode(cmd.Context(), a, args[0], args[1], by)
			})
		},
	}
	by.add(c, 0, "")
	return c
}

func lowerMode(ctx context.Context, a *app.App, rule, mode string, by *request) (string, error) {
	switch mode {
	case "clear":
		return clearMode(ctx, a, rule, by)
	case "off", "observe":
		return rule + " is lowered to " + mode, a.Ledger.SetMode(ctx, rule, reconcile.Mode(mode), by.signature())
	}
	return "", misused(fmt.Errorf(
		"mode %q: a mode is lowered to observe or off, or cleared; enforce is set in the config",
		mode,
	))
}

// clearMode gives a rule back to the config, and says what that forgives.
func clearMode(ctx context.Context, a *app.App, rule string, by *request) (string, error) {
	measures, err := a.Ledger.Measures(ctx)
	if err != nil {
		return "", err
	}
	if err := a.Ledger.ClearMode(ctx, rule, by.signature()); err != nil {
		return "", err
	}
	said := fmt.Sprintf("%s follows the config again: %s", rule, a.Config.Policy().Rules[rule].Mode)
	if before, lowered := measures.Controls.Lowered[rule]; lowered && before.Author == reconcile.AuthorSelf {
		said += "; it had lowered itself: " + before.Reason
	}
	if t := measures.Tallies[rule]; t.FalsePositives > 0 {
		said += fmt.Sprintf("; %s among its last %s forgiven", console.Plural(t.FalsePositives, "false positive"),
			console.Plural(t.Verdicts, "verdict"))
	}
	return said, nil
}
