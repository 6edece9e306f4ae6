package store

import (
	"context"
	"errors"
	"maps"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// look connects once, and learns whether a pooler is between us and the server: then the config asks nothing of a
// session, which may be another one at each statement, and belongs to others in between.
func (o OpenOptions) look(ctx context.Context, config *pgxpool.Config) error {
	ctx, cancel := context.WithTimeout(ctx, o.ConnectTimeout)
	defer cancel()
	c, err := pgx.ConnectConfig(ctx, config.ConnConfig)
	var said *pgconn.PgError
	if errors.As(err, &said) && refusesParameters(said) {
		ours := o.session()
		maps.DeleteFunc(config.ConnConfig.RuntimeParams, func(name, value string) bool { return ours[name] == value })
		c, err = pgx.ConnectConfig(ctx, config.ConnConfig)
	}
	if err != nil {
		return err
	}
	defer c.Close(context.WithoutCancel(ctx))
	pooled, err := behindPooler(ctx, c)
	if pooled {
		asPooled(config)
	}
	return err
}

// refusesParameters reports whether a pooler does not pass on what a session is asked to be.
func refusesParameters(e *pgconn.PgError) bool {
	return strings.Contains(e.Message, "startup parameter")
}

// behindPooler reports whether the process that serves a statement is not the one that answered the connection.
func behindPooler(ctx context.Context, c *pgx.Conn) (bool, error) {
	var serves uint32
	err := c.QueryRow(ctx, "SELECT pg_catalog.pg_backend_pid()", pgx.QueryExecModeExec).Scan(&serves)
	return err == nil && serves != c.PgConn().PID(), err
}

// describe has statements sent so that the server says of which types their arguments and rows are. A URL that was made
// for a pooler may ask for another way, by which not all of ours can be sent; a pooler takes this one as well.
func describe(config *pgxpool.Config) {
	switch mode := &config.ConnConfig.DefaultQueryExecMode; *mode {
	case pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol:
		*mode = pgx.QueryExecModeCacheDescribe
	}
}

// asPooled makes a config that leaves nothing in a session.
func asPooled(config *pgxpool.Config) {
	config.AfterConnect = nil // the path of the role stands: `check` refuses one where others may create
	if config.ConnConfig.DefaultQueryExecMode == pgx.QueryExecModeCacheStatement {
		config.ConnConfig.DefaultQueryExecMode = pgx.QueryExecModeCacheDescribe
	}
}

// Pooled reports whether a pooler, such as PgBouncer, gives each transaction any connection of the server: there is no
// prepared statement, no setting of a session and no LISTEN then, and the server keeps no time-out of ours; [Open]
// bounds each call by this side's clock as well.
func Pooled(pool *pgxpool.Pool) bool {
	return pool.Config().ConnConfig.DefaultQueryExecMode != pgx.QueryExecModeCacheStatement
}
