package store

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/jackc/pgx/v5/pgconn"
)

// Outage says what ails a database that does not do its part, and what fixes it, in place
// of the driver's words. Any other error comes back as it is.
func Outage(name string, err error) error {
	var connect *pgconn.ConnectError
	if errors.As(err, &connect) && connect.Config != nil {
		return unreachable(name, *connect.Config, connect.Unwrap())
	}
	if said := ails(err); said != "" {
		return fmt.Errorf("the %s database: %s: %w", name, said, err)
	}
	return err
}

// ails is a sentence on what is the matter with a server or the way to it; "" for what is
// not their fault.
func ails(err error) string {
	var said *pgconn.PgError
	if errors.As(err, &said) {
		return ailment(said.Code)
	}
	var broken net.Error
	switch {
	case errors.Is(err, context.Canceled):
		return ""
	case errors.Is(err, context.DeadlineExceeded):
		return "no answer in time: does the server hang, or is the way to it cut? it is tried again"
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed), errors.As(err, &broken):
		return "the connection broke; it is tried again with a new one"
	}
	return ""
}

func ailment(code string) string {
	switch code {
	case "53100":
		return "its disk is full: free space there or enlarge it"
	case "53200":
		return "the server is out of memory: give it more or let less connect"
	case "53300":
		return "the server has no connection left: raise max_connections or lower what else connects"
	case "57P01":
		return "the server closed the session: is it shut down, or does something close sessions? it is tried again"
	case "57P02", "57P03":
		return "the server is starting up, shutting down or recovering; it is tried again"
	case "25006":
		return "it is read-only (a stand-by?): point the address at the primary, or name all hosts in it with " +
			"target_session_attrs=read-write"
	}
	return ""
}

// Lost reports whether a connection broke, or the server was going away: another try may help.
func Lost(err error) bool {
	var said *pgconn.PgError
	if errors.As(err, &said) {
		return said.Code == "57P01" || said.Code == "57P02" || said.Code == "57P03"
	}
	var broken net.Error
	return !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) &&
		(errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) || errors.As(err, &broken))
}
