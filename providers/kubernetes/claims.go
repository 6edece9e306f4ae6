package kubernetes

import (
	"context"
	"fmt"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Claimants are the claims of a namespace that may stand before a Sandbox.
type claimants struct {
	*Provider
	namespace string
	alive     map[string]bool // by uid; nil until it was read
}

// mark marks the Sandboxes whose claim is gone, or expired and is kept as a record: nothing
// stands before them any more, and they run on. The claims are read once, after the first page
// of Sandboxes, of whose moment all further pages are: a claim is there before it takes one.
func (c *claimants) mark(ctx context.Context, k kind, items []object) error {
	if k.word != sandboxes.word {
		return nil
	}
	for i := range items {
		claim := items[i].claim()
		if claim == "" {
			continue
		}
		if err := c.know(ctx); err != nil {
			return fmt.Errorf("look for the claims of sandboxes: %w", err)
		}
		items[i].survives = !c.alive[claim]
	}
	return nil
}

// know reads all claims, whatever their labels, that have not ended.
func (c *claimants) know(ctx context.Context) error {
	if c.alive != nil {
		return nil
	}
	alive := map[string]bool{}
	err := wire.EachPage(ctx, c.pages(claims, c.namespace, nil), func(page wire.Page) error {
		for i := range page.Sandboxes {
			if n, err := parseID(page.Sandboxes[i].ID); err == nil && page.Sandboxes[i].State != reconcile.SandboxEnded {
				alive[n.uid] = true
			}
		}
		return nil
	})
	if err == nil {
		c.alive = alive
	}
	return err
}
