package ledger

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/protocol"
)

// Confirm closes terminations that were accepted, of these those that nobody has claimed, in one transaction: each by
// itself would be two, of eight statements. It locks much at once, in the order in which everybody does, but for the
// verdicts: so it gives up soon where it has to wait, before anybody else would have to. Who asked does each by itself
// then.
func (g *Keeper) Confirm(ctx context.Context, l reconcile.Lease, ids []string) ([]reconcile.Action, error) {
	var confirmed []reconcile.Action
	err := g.working(ctx, l, func(tx pgx.Tx, now time.Time) (err error) {
		confirmed, err = confirmAll(ctx, tx, l, ids, now)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("confirm %d actions: %w", len(ids), err)
	}
	for i := range confirmed {
		confirmed[i] = g.seals.Load().Checked(confirmed[i], confirmed[i].ClaimedAt)
	}
	return confirmed, nil
}

func confirmAll(ctx context.Context, tx pgx.Tx, l reconcile.Lease, ids []string, now time.Time,
) ([]reconcile.Action, error) {
	these := pgx.StrictNamedArgs{"ids": ids}
	if err := execAll(ctx, tx, []write{{"confirm_patience", nil}, {"confirm_lock", these}}); err != nil {
		return nil, err
	}
	read, err := all(ctx, tx, "confirm_read", these, scanAction)
	if err != nil {
		return nil, err
	}
	read = slices.DeleteFunc(read, func(a reconcile.Action) bool { return !protocol.MayConfirm(a, now) })
	if len(read) == 0 {
		return nil, nil
	}
	settled, err := all(ctx, tx, "confirm_take", pgx.StrictNamedArgs{
		"ids": column(read, func(a reconcile.Action) string { return a.ID }), "epoch": l.Epoch, "now": now,
	}, scanAction)
	if err != nil {
		return nil, err
	}
	return settled, execAll(ctx, tx, confirmWrites(settled, now))
}

// confirmWrites are what follows from all of them. What is counted, and the lines of the record, are written together.
func confirmWrites(settled []reconcile.Action, now time.Time) (writes []write) {
	for _, a := range settled {
		writes = append(writes, settleWrites(a, now)...)
	}
	return append(writes, settleSums(settled, settled, now)...)
}
