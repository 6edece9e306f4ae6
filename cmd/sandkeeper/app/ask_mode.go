package app

import (
	"context"
	"fmt"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// LowerMode lowers the mode of a rule, or gives it back to the config.
func (a Operator) LowerMode(ctx context.Context, rule, mode string, by *Request) (string, error) {
	switch mode {
	case "clear":
		return a.clearMode(ctx, rule, by)
	case "off", "observe":
		return rule + " is lowered to " + mode, a.Ledger.SetMode(ctx, rule, reconcile.Mode(mode), by.Signed())
	}
	return "", misuse(fmt.Errorf(
		"mode %q: a mode is lowered to observe or off, or cleared; enforce is set in the config; %s",
		mode, text.Unknown(mode, []string{"observe", "off", "clear"}),
	))
}

// clearMode gives a rule back to the config, and says what that forgives.
func (a Operator) clearMode(ctx context.Context, rule string, by *Request) (string, error) {
	measures, err := a.Ledger.Measures(ctx)
	if err != nil {
		return "", err
	}
	if err := a.Ledger.ClearMode(ctx, rule, by.Signed()); err != nil {
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
