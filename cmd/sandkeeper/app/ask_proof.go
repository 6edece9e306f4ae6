package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Arm lets a rule act unproven, and says what that comes to.
func (a Operator) Arm(ctx context.Context, rule string, by *Request) (string, error) {
	p := a.Config.Policy()
	switch mode := p.Rules[rule].Mode; {
	case by.Reason == "":
		return "", Misusef("--reason is required; it is recorded and shown on the page")
	case p.Proof.Off():
		return "", Misusef("the config says `proof: off`: every rule acts unproven, and there is nothing to arm")
	case !p.NeedsProof(rule):
		return "", Misusef("%s ends nothing, so it needs no proof: there is nothing to arm", rule)
	case mode == reconcile.Off || mode == "":
		return "", Misusef("%s is off in the config: set rules: {%s: {mode: enforce}} first", rule, rule)
	}
	if err := a.Ledger.Arm(ctx, rule, by.Signed()); err != nil {
		return "", err
	}
	said := rule + " may act unproven from now on, until `sandkeeper arm " + rule + " --revoke`"
	if p.Rules[rule].Mode != reconcile.Enforce {
		said += fmt.Sprintf("; it is in observe, so it does nothing yet: set rules: {%s: {mode: enforce}} in the config",
			rule)
	}
	c, err := a.Ledger.Controls(ctx)
	if err == nil && c.Modes[rule] != "" {
		said += fmt.Sprintf("; its mode is lowered to %s: `sandkeeper mode %s clear` gives it back to the config",
			c.Modes[rule], rule)
	}
	return said, nil
}

// Disarm takes that back.
func (a Operator) Disarm(ctx context.Context, rule string, by *Request) (string, error) {
	err := a.Ledger.Disarm(ctx, rule, by.Signed())
	if errors.Is(err, reconcile.ErrNotFound) {
		return "", Misusef("%s is not armed by an operator: there is nothing to revoke", rule)
	}
	if err != nil {
		return "", err
	}
	p := a.Config.Policy()
	said := rule + " acts only with a proof from now on"
	now, errNow := a.Ledger.Now(ctx)
	c, errC := a.Ledger.Controls(ctx)
	if errNow == nil && errC == nil && !p.Proof.Off() {
		said += "; " + p.WithLearned(&c).Standing(&c, now, rule).Line
	}
	return said, nil
}
