package ledger

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/store/protocol"
)

// purges are the statements that delete what retention no longer wants, in an order in
// which the later ones profit from the earlier.
var purges = [...]string{
	"purge_findings", "purge_actions", "purge_probes", "purge_timeline",
	"purge_passes", "purge_sandboxes", "purge_tasks",
	"purge_verdicts", "purge_incidents", "purge_notices", "purge_hours",
	"purge_pauses", "purge_holds", "purge_releases", "purge_canaries",
}

// Purge deletes what ended before the given time, at most batch rows (and 1000) with each
// statement so that nothing waits long for its locks, until nothing is left or ctx ends.
// It returns how many rows it deleted. What is open, what the budgets still count and what
// explains a sandbox that exists is never deleted. It also signs with the first operator key what
// a later one has signed.
func (g *Schema) Purge(ctx context.Context, before time.Time, batch int) (int64, error) {
	now, err := g.Now(ctx)
	if err != nil {
		return 0, err
	}
	if err := g.usable(ctx, g.pool); err != nil {
		return 0, fmt.Errorf("purge: %w", err)
	}
	if err := one(ctx, g.pool, "keeps", pgx.StrictNamedArgs{"before": before, "now": now}, &before); err != nil {
		return 0, fmt.Errorf("purge: %w", err)
	}
	if err := g.reseal(ctx, now); err != nil {
		return 0, err
	}
	var deleted int64
	for _, name := range purges {
		n, err := g.purge(ctx, name, purgeArgs(name, before, now, protocol.Batch(batch)))
		deleted += n
		if err != nil {
			return deleted, fmt.Errorf("purge what ended before %s: %w", text.Time(before), err)
		}
	}
	return deleted, nil
}

func purgeArgs(name string, before, now time.Time, batch int) pgx.StrictNamedArgs {
	args := pgx.StrictNamedArgs{"before": before, "batch": batch}
	switch name {
	case "purge_actions":
		args["hour_ago"] = now.Add(-protocol.Hour)
	case "purge_passes":
		args["keep"] = protocol.MostGaps + 1
	}
	return args
}

// purge runs one statement until it deletes less than it might.
func (g *Schema) purge(ctx context.Context, name string, args pgx.StrictNamedArgs) (int64, error) {
	var deleted int64
	for {
		n, err := g.purgeOnce(ctx, name, args)
		deleted += n
		if err != nil || n == 0 {
			return deleted, err
		}
	}
}

// purgeOnce runs one statement. Lines of the timeline are deleted by a function of the ledger's owner:
// nobody else may.
func (g *Schema) purgeOnce(ctx context.Context, name string, args pgx.StrictNamedArgs) (int64, error) {
	if name == "purge_timeline" {
		var n int64
		err := one(ctx, g.pool, name, args, &n)
		return n, err
	}
	tag, err := exec(ctx, g.pool, name, args)
	return tag.RowsAffected(), err
}
