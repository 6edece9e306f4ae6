package ledger

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/store"
)

// An Unlinked is a sandbox with no task that the ledger knows.
type Unlinked struct {
	ID   string
	Task string // the task that it names; "" when none
}

// Unlinked are sandboxes of a provider that were there within this time and have no task that the ledger knows, at most
// 1000, the newest first; and how many sandboxes were there in all.
func (g *Reader) Unlinked(
	ctx context.Context, provider string, within time.Duration,
) (out []Unlinked, all int, err error) {
	args := pgx.StrictNamedArgs{"provider": provider, "within": within}
	if err := g.pool.QueryRow(ctx, queries["there"], args).Scan(&all); err != nil {
		return nil, 0, store.Outage("ledger", err)
	}
	rows, err := g.pool.Query(ctx, queries["unlinked"], args)
	if err != nil {
		return nil, 0, store.Outage("ledger", err)
	}
	if out, err = pgx.CollectRows(rows, pgx.RowToStructByName[Unlinked]); err != nil {
		return nil, 0, store.Outage("ledger", err)
	}
	return out, all, nil
}
