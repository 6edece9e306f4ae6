package ledger

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/protocol"
)

// SaveCurves keeps what the backtests of rules came to by threshold, in the place of what was known before.
func (g *Proofs) SaveCurves(ctx context.Context, curves []reconcile.Curve) error {
	if len(curves) == 0 {
		return nil
	}
	texts := make([]string, len(curves))
	for i := range curves {
		text, err := json.Marshal(curves[i])
		if err != nil {
			return fmt.Errorf("save the curve of %s: %w", curves[i].Rule, err)
		}
		texts[i] = string(text)
	}
	_, err := exec(ctx, g.pool, "curves_put", pgx.StrictNamedArgs{
		"rules":  column(curves, func(c reconcile.Curve) string { return c.Rule }),
		"made":   column(curves, func(c reconcile.Curve) pgtype.Timestamptz { return stamp(c.At) }),
		"curves": texts,
	})
	if err != nil {
		return fmt.Errorf("save the curves of backtests: %w", err)
	}
	return nil
}

// Curves are what the last backtests of rules came to by threshold, rule by rule.
func (g *Proofs) Curves(ctx context.Context) ([]reconcile.Curve, error) {
	out, err := all(ctx, g.pool, "report_curves", nil, scanCurve)
	if err != nil {
		return nil, fmt.Errorf("read the curves of backtests: %w", err)
	}
	return out, nil
}

func scanCurve(r pgx.Rows) (reconcile.Curve, error) {
	var c reconcile.Curve
	var text []byte
	err := r.Scan(&c.Rule, at(&c.At), &text)
	rule, made := c.Rule, c.At
	if err == nil {
		err = json.Unmarshal(text, &c)
	}
	c.Rule, c.At = rule, made
	return c, err
}

// ruleGroup is what a rule came to with a label.
type ruleGroup struct {
	rule string
	reconcile.LabelGroup
}

func scanLabels(r pgx.Rows) (ruleGroup, error) {
	var g ruleGroup
	return g, r.Scan(&g.rule, &g.Label, &g.Subjects, &g.FalsePositives)
}

// provenReadings are what reports say of the proofs of rules that have one to tell.
func provenReadings(rules protocol.Reports, groups map[string][]reconcile.LabelGroup, from time.Time) []reading {
	return []reading{
		each("report_groups", pgx.StrictNamedArgs{"from": from}, scanLabels, func(g ruleGroup) {
			groups[g.rule] = append(groups[g.rule], g.LabelGroup)
		}),
		each("report_curves", nil, scanCurve, func(c reconcile.Curve) { rules.Of(c.Rule).Curve = &c }),
	}
}
