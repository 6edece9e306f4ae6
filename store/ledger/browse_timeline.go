package ledger

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

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
func (g *Reader) Timeline(ctx context.Context, p TimelinePart) ([]NumberedEvent, error) {
	rows, err := all(ctx, g.pool, "browse_timeline", pgx.StrictNamedArgs{
		"after": p.After, "kind": clean(p.Kind), "text": clean(p.Text), "most": p.Most,
	}, scanEventRow)
	if err != nil {
		return nil, fmt.Errorf("read the timeline: %w", err)
	}
	return column(rows, func(r eventRow) NumberedEvent { return NumberedEvent{r.TimelineEvent, r.number} }), nil
}
