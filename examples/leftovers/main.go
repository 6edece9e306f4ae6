// Command leftovers lists the sandboxes of a provider that are ours and that no task of a list explains. It shows how
// packages providers and reconcile are used without the rest of sandkeeper: it reads, and ends nothing.
//
//	leftovers KIND URL LABEL=VALUE TASK-LABEL [TASK...]      # the key is in PROVIDER_KEY
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/providers"
	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

func main() {
	if err := run(context.Background(), os.Args[1:], os.Getenv("PROVIDER_KEY"), os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "leftovers:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, key string, out io.Writer) error {
	if len(args) < 4 {
		return fmt.Errorf("usage: leftovers KIND URL LABEL=VALUE TASK-LABEL [TASK...]")
	}
	label, value, _ := strings.Cut(args[2], "=")
	p, err := providers.Open(entry.Entry{
		Name: args[0], Kind: args[0], URL: args[1], Token: key, Rate: 10, Timeout: 30 * time.Second,
		Owns: entry.Owns{Labels: map[string]string{label: value}}, Link: entry.Link{TaskLabel: args[3]},
	}, providers.Options{})
	if err != nil {
		return err
	}
	var left []reconcile.Sandbox
	listing, err := p.List(ctx, func(page []reconcile.Sandbox) error {
		for _, b := range page {
			if b.Owned && b.State.Active() && !slices.Contains(args[4:], b.Task) {
				left = append(left, b)
			}
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case !listing.Complete: // what was not read proves nothing
		return fmt.Errorf("the listing lacks %s", strings.Join(listing.Missing, ", "))
	}
	for _, b := range left {
		fmt.Fprintf(out, "%s\t%s\ttask %q\n", b.ID, b.State, b.Task)
	}
	return nil
}
