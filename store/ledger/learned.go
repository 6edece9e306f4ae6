package ledger

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/protocol"
)

// SaveLearned keeps the thresholds of rules, all that are known of each, and tells of those that moved or came to a
// stop. What was known before stays on record and counts no more.
func (g *Proofs) SaveLearned(ctx context.Context, all []reconcile.Learned) error {
	if len(all) == 0 {
		return nil
	}
	now, err := g.setClock(ctx)
	if err != nil {
		return err
	}
	for i := range all {
		l := &all[i]
		l.Class, l.Line = clean(l.Class), clean(l.Line)
		l.At = l.At.UTC().Truncate(time.Microsecond) // as it is kept, and signed
		l.After, l.Target = l.After.Truncate(time.Microsecond), l.Target.Truncate(time.Microsecond)
		l.From = l.From.Truncate(time.Microsecond)
	}
	err = pgx.BeginFunc(ctx, g.pool, func(tx pgx.Tx) error {
		return execAll(ctx, tx, []write{putLearned(all, g.seals.Load()), putEvents(protocol.LearnedEvents(all, now))})
	})
	if err != nil {
		return fmt.Errorf("save the thresholds that were learned: %w", err)
	}
	return nil
}

func putLearned(all []reconcile.Learned, seals *protocol.Seals) write {
	type learned = reconcile.Learned
	return write{"learned_put", pgx.StrictNamedArgs{
		"rules":   column(all, func(l learned) string { return l.Rule }),
		"classes": column(all, func(l learned) string { return l.Class }),
		"at":      column(all, func(l learned) pgtype.Timestamptz { return stamp(l.At) }),
		"after":   column(all, func(l learned) int64 { return l.After.Microseconds() }),
		"target":  column(all, func(l learned) int64 { return l.Target.Microseconds() }),
		"before":  column(all, func(l learned) int64 { return l.From.Microseconds() }),
		"samples": column(all, func(l learned) int { return l.Samples }),
		"dead":    column(all, func(l learned) float64 { return l.Dead }),
		"frozen":  column(all, func(l learned) bool { return l.Frozen }),
		"sums":    column(all, func(l learned) string { return l.Sum }),
		"lines":   column(all, func(l learned) string { return l.Line }),
		"seals":   column(all, func(l learned) string { return seals.Sign(protocol.LearnedOf(&l)) }),
	}}
}

type learnedRow struct {
	reconcile.Learned
	seal string
}

func scanLearned(r pgx.Rows) (learnedRow, error) {
	var l learnedRow
	var after, target, from int64
	err := r.Scan(&l.Rule, &l.Class, at(&l.At), &after, &target, &from, &l.Samples, &l.Dead, &l.Frozen, &l.Sum,
		&l.Line, &l.seal)
	l.After, l.Target = time.Duration(after)*time.Microsecond, time.Duration(target)*time.Microsecond
	l.From = time.Duration(from) * time.Microsecond
	return l, err
}
