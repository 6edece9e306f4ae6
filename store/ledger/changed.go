package ledger

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/sandkeeper/sandkeeper/store"
)

// Changed is a text that differs whenever passes, operators or actions have written something. It costs two looks into
// an index.
func (g *Reader) Changed(ctx context.Context) (string, error) {
	found, err := all(ctx, g.pool, "changed", pgx.StrictNamedArgs{}, scanText)
	if err != nil || len(found) == 0 {
		return "", fmt.Errorf("ask what changed: %w", err)
	}
	return found[0], nil
}

// How a listener knows that its connection stands.
const (
	pingEach   = 5 * time.Second
	pingWithin = 5 * time.Second
)

// How PostgreSQL refuses to LISTEN: a server that has none, and a standby.
const (
	noFeature = "0A000" // feature_not_supported
	readOnly  = "25006" // read_only_sql_transaction
)

// passBegun is what the ledger says, as of migration 0023, when a pass began: its end mostly follows at once.
const passBegun = "begun"

// Listen calls told once it listens, and then whenever [Reader.Changed] may differ; begun when no more is known than
// that a pass began. It takes a connection of its own beside the pool, and ends with an error:
// [errors.ErrUnsupported] where nobody can listen, as behind a pooler or at a standby.
func (g *Reader) Listen(ctx context.Context, told func(begun bool)) error {
	if store.Pooled(g.pool) {
		return fmt.Errorf("listen for changes behind a pooler: %w", errors.ErrUnsupported)
	}
	config := g.pool.Config().ConnConfig
	c, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return fmt.Errorf("connect to listen for changes: %w", err)
	}
	defer func() {
		last, stop := context.WithTimeout(context.WithoutCancel(ctx), pingWithin)
		defer stop()
		_ = c.Close(last)
	}()
	if _, err := c.Exec(ctx, `LISTEN "sandkeeper.changed"`); err != nil {
		return fmt.Errorf("listen for changes: %w", unsupported(err))
	}
	told(false) // what changed before is asked for
	for {
		said, err := waitTold(ctx, c)
		if err != nil {
			return fmt.Errorf("listen for changes: %w", err)
		}
		if said != nil {
			told(said.Payload == passBegun)
		}
	}
}

// waitTold waits for what is told, and makes sure now and then that the connection still stands.
func waitTold(ctx context.Context, c *pgx.Conn) (*pgconn.Notification, error) {
	within, stop := context.WithTimeout(ctx, pingEach)
	said, err := c.WaitForNotification(within)
	stop()
	if err == nil || ctx.Err() != nil || !errors.Is(within.Err(), context.DeadlineExceeded) {
		return said, err
	}
	within, stop = context.WithTimeout(ctx, pingWithin)
	defer stop()
	return nil, c.Ping(within)
}

// unsupported marks the errors of servers that have no LISTEN, for now or at all.
func unsupported(err error) error {
	var said *pgconn.PgError
	if errors.As(err, &said) && (said.Code == noFeature || said.Code == readOnly) {
		return errors.Join(errors.ErrUnsupported, err)
	}
	return err
}
