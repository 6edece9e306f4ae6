package main

import (
	"context"
	"fmt"
	"os"
	"os/user"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// A request is what every operator's verb records: who, why, and for how long.
type request struct {
	author, reason string
	last           time.Duration
}

// add gives a verb the flags of a request; without a help, how long it lasts is not asked.
func (w *request) add(c *cobra.Command, last time.Duration, lastHelp string) {
	w.sign(c)
	if lastHelp != "" {
		spanFlag(c, &w.last, "for", last, lastHelp)
	}
}

// sign gives a verb the flags of who asks and why.
func (w *request) sign(c *cobra.Command) {
	c.Flags().StringVar(&w.author, "author", author(), "who asks for it; recorded")
	c.Flags().StringVar(&w.reason, "reason", "", "why; recorded and shown")
}

// signature is the request as it is recorded: on one line, as the log, the page and the platform
// will show it.
func (w *request) signature() reconcile.Attribution {
	reason := strings.TrimSpace(text.Line(w.reason))
	return reconcile.Attribution{Author: text.Line(w.author), Reason: firstText(reason, "no reason given")}
}

// until is when the request ends, zero for never.
func (w *request) until(now time.Time) time.Time {
	if w.last <= 0 {
		return time.Time{}
	}
	return now.Add(w.last)
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
	return do(a)
}
