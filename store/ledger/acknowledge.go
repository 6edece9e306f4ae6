package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// AcknowledgeIncident writes down who looks after an open incident. It changes nothing else. [reconcile.ErrNotFound]
// means that there is none of this id.
func (g *Operators) AcknowledgeIncident(ctx context.Context, id string, by reconcile.Attribution) error {
	err := g.operatorRequest(ctx, by, func(tx pgx.Tx, now time.Time) ([]line, error) {
		if _, err := incident(ctx, tx, id); err != nil {
			return nil, err
		}
		return []line{{reconcile.SubjectOf(reconcile.SubjectIncident, id), "acknowledged"}}, counted(ctx, tx,
			"acknowledge_incident", pgx.StrictNamedArgs{
				"id": id, "author": clean(by.Author), "reason": clean(by.Reason), "now": now,
			}, errors.New("it is closed"))
	})
	if err != nil {
		return fmt.Errorf("acknowledge incident %s: %w", id, err)
	}
	return nil
}
