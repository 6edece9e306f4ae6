package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/user"
	"time"

	"github.com/spf13/cobra"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/verb"
)

// A request is what every operator's verb records: who, why, and for how long.
type request struct{ app.Request }

// add gives a verb the flags of a request; without a help, how long it lasts is not asked.
func (w *request) add(c *cobra.Command, last time.Duration, lastHelp string) {
	w.sign(c)
	if lastHelp != "" {
		verb.Span(c, &w.Last, "for", last, lastHelp)
	}
}

// sign gives a verb the flags of who asks and why.
func (w *request) sign(c *cobra.Command) {
	c.Flags().StringVar(&w.Author, "author", author(), "who asks for it; recorded")
	c.Flags().StringVar(&w.Reason, "reason", "", "why; recorded and shown")
}

// author is the person at the keyboard, as far as the system knows.
func author() string {
	for _, key := range []string{"SANDKEEPER_AUTHOR", "SUDO_USER", "USER"} {
		if name := os.Getenv(key); name != "" {
			return name
		}
	}
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	return "unknown"
}

// withLedger runs do with an open ledger and says on stdout what was done.
func withLedger(ctx context.Context, o *app.Options, do func(*app.App) (string, error)) error {
	return onLedger(ctx, o, func(a *app.App) error {
		said, err := do(a)
		if err != nil {
			return err
		}
		_, err = fmt.Fprintln(o.Out, said)
		return err
	})
}

// onLedger runs do with an open ledger.
func onLedger(ctx context.Context, o *app.Options, do func(*app.App) error) error {
	c, err := o.Load()
	if err != nil {
		return err
	}
	a, err := o.OpenLedger(ctx, c)
	if err != nil {
		return err
	}
	defer a.Close()
	return usage(do(a))
}

// usage ends the program with the code of wrong usage where somebody asked for something impossible.
func usage(err error) error {
	var wrong *app.MisuseError
	if errors.As(err, &wrong) {
		return verb.Misused(err)
	}
	return err
}
