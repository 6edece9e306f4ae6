package ledger

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/protocol"
)

// Arm lets a rule act unproven.
func (g *Operators) Arm(ctx context.Context, rule string, by reconcile.Attribution) error {
	return g.putArm(ctx, protocol.ArmRequest{Attribution: by, Rule: rule, Armed: true})
}

// Disarm takes that back. [reconcile.ErrNotFound] means that no operator had armed it.
func (g *Operators) Disarm(ctx context.Context, rule string, by reconcile.Attribution) error {
	return g.putArm(ctx, protocol.ArmRequest{Attribution: by, Rule: rule})
}

func (g *Operators) putArm(ctx context.Context, r protocol.ArmRequest) error {
	err := g.operatorRequest(ctx, r.Attribution, func(tx pgx.Tx, now time.Time) ([]line, error) {
		c, seals := reconcile.Controls{Arms: map[string]reconcile.Arm{}}, g.seals.Load()
		err := read(ctx, tx, []reading{each("arms", nil, scanArm, func(a armRow) { seals.AddArm(&c, a.ArmRequest) })})
		if _, armed := c.Arms[r.Rule]; err == nil && !armed && !r.Armed {
			err = reconcile.ErrNotFound
		}
		if err != nil {
			return nil, err
		}
		r.At = now
		_, err = exec(ctx, tx, "arm_put", pgx.StrictNamedArgs{
			"rule": clean(r.Rule), "armed": r.Armed, "author": clean(r.Author), "reason": clean(r.Reason), "now": now,
			"seal": seals.Sign(protocol.ArmOf(&r)),
		})
		return []line{{"rule:" + r.Rule, r.String()}}, err
	})
	if err != nil {
		return fmt.Errorf("%s %s: %w", r.String(), r.Rule, err)
	}
	return nil
}

// armRow is an operator's word on a rule, with its number.
type armRow struct {
	id int64
	protocol.ArmRequest
}

func scanArm(r pgx.Rows) (armRow, error) {
	var a armRow
	return a, r.Scan(&a.id, &a.Rule, &a.Armed, &a.Author, &a.Reason, at(&a.At), &a.Seal)
}

// proofReadings are what lets rules act in enforce.
func proofReadings(c *reconcile.Controls, now time.Time, seals *protocol.Seals) []reading {
	c.Arms, c.Grace = map[string]reconcile.Arm{}, map[string]time.Time{}
	return []reading{
		each("proofs", nil, scanProof, func(p proofRow) { seals.AddProof(c, p.Proof, p.seal) }),
		each("arms", nil, scanArm, func(a armRow) { seals.AddArm(c, a.ArmRequest) }),
		each("learned", pgx.StrictNamedArgs{"rules": reconcile.RuleNames}, scanLearned, func(l learnedRow) {
			seals.AddLearned(c, l.Learned, l.seal)
		}),
		each("proof_grace", pgx.StrictNamedArgs{"now": now}, scanGrace, func(g grace) { c.Grace[g.rule] = g.until }),
	}
}

type proofRow struct {
	reconcile.Proof
	seal string
}

func scanProof(r pgx.Rows) (proofRow, error) {
	var p proofRow
	var took int64
	err := r.Scan(&p.Rule, &p.Class, (*string)(&p.Kind), &p.Sum, at(&p.MadeAt), &p.Samples, &p.FalsePositives,
		&p.Upper, &p.Lower, &p.Line, &took, &p.seal)
	p.Took = time.Duration(took) * time.Microsecond
	return p, err
}

type grace struct {
	rule  string
	until time.Time
}

func scanGrace(r pgx.Rows) (grace, error) {
	var g grace
	return g, r.Scan(&g.rule, at(&g.until))
}

// SaveProofs keeps proofs of one kind, in the place of all that was known of their rules by that kind.
func (g *Proofs) SaveProofs(ctx context.Context, kind reconcile.ProofKind, proofs []reconcile.Proof) error {
	if len(proofs) == 0 {
		return nil
	}
	type proof = reconcile.Proof
	seals := g.seals.Load()
	for i := range proofs {
		p := &proofs[i]
		p.Kind, p.Class, p.Line = kind, clean(p.Class), clean(p.Line)
		p.MadeAt = p.MadeAt.UTC().Truncate(time.Microsecond) // as it is kept, and signed
	}
	rules := column(proofs, func(p proof) string { return p.Rule })
	slices.Sort(rules)
	err := pgx.BeginFunc(ctx, g.pool, func(tx pgx.Tx) error {
		return execAll(ctx, tx, []write{
			{"proofs_drop", pgx.StrictNamedArgs{"kind": string(kind), "rules": slices.Compact(rules)}},
			{"proofs_put", pgx.StrictNamedArgs{
				"rules":   column(proofs, func(p proof) string { return p.Rule }),
				"classes": column(proofs, func(p proof) string { return p.Class }),
				"kinds":   column(proofs, func(p proof) string { return string(p.Kind) }),
				"sums":    column(proofs, func(p proof) string { return p.Sum }),
				"made":    column(proofs, func(p proof) pgtype.Timestamptz { return stamp(p.MadeAt) }),
				"samples": column(proofs, func(p proof) int { return p.Samples }),
				"wrong":   column(proofs, func(p proof) int { return p.FalsePositives }),
				"upper":   column(proofs, func(p proof) float64 { return p.Upper }),
				"lower":   column(proofs, func(p proof) float64 { return p.Lower }),
				"lines":   column(proofs, func(p proof) string { return p.Line }),
				"took":    column(proofs, func(p proof) int64 { return p.Took.Microseconds() }),
				"seals":   column(proofs, func(p proof) string { return seals.Sign(protocol.ProofOf(&p)) }),
			}},
		})
	})
	if err != nil {
		return fmt.Errorf("save the proofs by %s: %w", kind, err)
	}
	return nil
}

// Observed counts what rules would have done since they are as they are now, by rule; sums say how that is.
func (g *Proofs) Observed(ctx context.Context, sums map[string]string) ([]reconcile.Observed, error) {
	now, err := g.setClock(ctx)
	if err != nil {
		return nil, err
	}
	var out []reconcile.Observed
	var groups []ruleGroup
	rules := reconcile.SortedKeys(sums)
	err = pgx.BeginFunc(ctx, g.pool, func(tx pgx.Tx) error {
		_, err := exec(ctx, tx, "observed_note", pgx.StrictNamedArgs{"now": now, "rules": rules,
			"sums": column(rules, func(r string) string { return sums[r] })})
		if err != nil {
			return err
		}
		window := pgx.StrictNamedArgs{"from": now.Add(-reconcile.ProofFresh), "followed": now.Add(-reconcile.WatchFor)}
		if out, err = all(ctx, tx, "observed", window, scanObserved); err != nil {
			return err
		}
		groups, err = all(ctx, tx, "observed_groups", window, scanLabels)
		return err
	})
	for i := range out {
		for _, g := range groups {
			if g.rule == out[i].Rule {
				out[i].Groups = append(out[i].Groups, g.LabelGroup)
			}
		}
		out[i].Groups = reconcile.Telling(out[i].Groups)
	}
	if err != nil {
		return nil, fmt.Errorf("count what rules would have done: %w", err)
	}
	return out, nil
}

func scanObserved(r pgx.Rows) (reconcile.Observed, error) {
	var o reconcile.Observed
	return o, r.Scan(&o.Rule, at(&o.Since), &o.Samples, &o.FalsePositives)
}

// TakeProving lets one process of all read the platform's history for a time, and reports whether it is this one. Who
// has it takes it again to have it for longer.
func (g *Proofs) TakeProving(ctx context.Context, holder string, ttl time.Duration) (bool, error) {
	now, err := g.setClock(ctx)
	if err != nil {
		return false, err
	}
	tag, err := exec(ctx, g.pool, "prove_take", pgx.StrictNamedArgs{"holder": clean(holder), "now": now,
		"until": now.Add(ttl)})
	if err != nil {
		return false, fmt.Errorf("take the right to read the history for proofs: %w", err)
	}
	return tag.RowsAffected() == 1, nil
}

// DropProving lets the next one.
func (g *Proofs) DropProving(ctx context.Context, holder string) error {
	now, err := g.setClock(ctx)
	if err == nil {
		_, err = exec(ctx, g.pool, "prove_drop", pgx.StrictNamedArgs{"holder": clean(holder), "now": now})
	}
	return err
}
