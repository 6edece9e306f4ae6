package ledger

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// By age there is a usual order, for which an index is there, and the other one.
const (
	youngest = "age"
	oldest   = "-age"
)

// BrowseIncidents reads a part of the incidents that somebody chose: those that are open first, then those that were
// closed last, unless another order is asked for.
func (g *Reader) BrowseIncidents(ctx context.Context, c reconcile.Chosen,
) ([]reconcile.Incident, reconcile.Cursor, error) {
	args := chosenArgs(&c, pgx.StrictNamedArgs{"state": c.State, "template": c.Template})
	rows, next, err := sorted(ctx, g, "browse_incidents", &c, args, scanIncident)
	seals := g.seals.Load()
	return column(rows, func(r incidentRow) reconcile.Incident { return seals.Incident(r.Incident, r.seal) }), next, err
}

// chosenArgs adds what all lists are chosen by, as PostgreSQL can hold it.
func chosenArgs(c *reconcile.Chosen, args pgx.StrictNamedArgs) pgx.StrictNamedArgs {
	args["rule"], args["provider"], args["text"] = c.Rule, c.Provider, c.Text
	for name, value := range args {
		if text, is := value.(string); is {
			args[name] = clean(text)
		}
	}
	return args
}

// sorted reads a part of a list in the order of one column. The query's last three columns say where a row stands.
func sorted[T any](ctx context.Context, g *Reader, query string, c *reconcile.Chosen, args pgx.StrictNamedArgs,
	scan func(pgx.Rows) (T, error)) ([]T, reconcile.Cursor, error) {
	by, down := c.Order()
	down = down || by == "" // what is open, or was closed last
	args["sort"], args["down"], args["later"] = clean(by), down, c.After != reconcile.Cursor{}
	args["at"], args["word"], args["key"] = stamp(c.After.At), clean(c.After.Word), clean(c.After.Key)
	args["most"] = c.Most + 1
	rows, err := all(ctx, g.pool, query, args, func(r pgx.Rows) (placed[T], error) { return scanPlaced(r, scan) })
	if err != nil {
		return nil, reconcile.Cursor{}, fmt.Errorf("read a list by %s: %w", reconcile.FirstOf(by, "its usual order"), err)
	}
	rows, next := cut(rows, c.Most)
	return column(rows, func(p placed[T]) T { return p.row }), next, nil
}

// A placed row knows where in the list it stands.
type placed[T any] struct {
	row T
	at  reconcile.Cursor
}

func (p placed[T]) cursor() reconcile.Cursor { return p.at }

func scanPlaced[T any](r pgx.Rows, scan func(pgx.Rows) (T, error)) (placed[T], error) {
	var p placed[T]
	var err error
	p.row, err = scan(tailed{r, []any{&p.at.Key, &p.at.Word, at(&p.at.At)}})
	return p, err
}

// A tailed row has more columns than who scans it knows.
type tailed struct {
	pgx.Rows
	tail []any
}

// Scan scans the columns that are known, and then those after them.
func (t tailed) Scan(into ...any) error { return t.Rows.Scan(append(into, t.tail...)...) }
