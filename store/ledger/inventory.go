package ledger

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// An InventoryPart says which sandboxes of the inventory are read. What is "" chooses nothing.
type InventoryPart struct {
	Provider string
	State    reconcile.SandboxState
	Text     string // part of an id, a name or a task's id
	Gone     bool   // those that are gone, in place of those that exist
	After    reconcile.Ref
	Most     int
}

// Inventory reads sandboxes as the ledger has them, in the order of provider and id. Where it gives as many as
// were asked for, more may follow the last one.
func (g *Ledger) Inventory(ctx context.Context, p InventoryPart) ([]reconcile.SandboxSeen, error) {
	found, err := all(ctx, g.pool, "browse_sandboxes", pgx.StrictNamedArgs{
		"provider": clean(p.Provider), "state": string(p.State), "text": clean(p.Text), "gone": p.Gone, "most": p.Most,
		"after_provider": clean(p.After.Provider), "after_id": clean(p.After.ID),
	}, scanSandbox)
	if err != nil {
		return nil, fmt.Errorf("read the inventory: %w", err)
	}
	return found, nil
}

// A TimelinePart says which lines of the timeline are read. What is "" chooses nothing.
type TimelinePart struct {
	After int64  // lines with a greater number
	Kind  string // see [reconcile.TimelineEvent]
	Text  string // part of a subject or of what happened
	Most  int
}

// A NumberedEvent is a line of the timeline with its number.
type NumberedEvent struct {
	reconcile.TimelineEvent
	Number int64
}

// Timeline reads the newest lines, newest first.
func (g *Ledger) Timeline(ctx context.Context, p TimelinePart) ([]NumberedEvent, error) {
	rows, err := all(ctx, g.pool, "browse_timeline", pgx.StrictNamedArgs{
		"after": p.After, "kind": clean(p.Kind), "text": clean(p.Text), "most": p.Most,
	}, scanEventRow)
	if err != nil {
		return nil, fmt.Errorf("read the timeline: %w", err)
	}
	return column(rows, func(r eventRow) NumberedEvent { return NumberedEvent{r.TimelineEvent, r.number} }), nil
}
