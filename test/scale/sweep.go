package main

import (
	"context"
	"fmt"
	"time"

	"github.com/sandkeeper/sandkeeper/test/scale/bare"
)

// swept measures the loop that platforms write themselves on the same work, next to what ours took.
func (b *bench) swept(ctx context.Context, t *table, w *world, ours spent) error {
	p, err := startProvider(ctx, "-dsn", w.dsn, "-latency", "200ms", "-orphans", fmt.Sprint(b.orphans))
	if err != nil {
		return err
	}
	defer p.stop()
	began := time.Now()
	ids, err := taskIDs(ctx, w.dsn)
	if err != nil {
		return fmt.Errorf("read the tasks: %w", err)
	}
	known := make(map[string]bool, len(ids))
	for _, id := range ids {
		known[id] = true
	}
	ended, err := bare.Sweep(ctx, p.url, known)
	if err != nil {
		return fmt.Errorf("delete one by one: %w", err)
	}
	if ended != b.orphans {
		return fmt.Errorf("the loop of platforms ended %d of %d", ended, b.orphans)
	}
	t.add(row{Work: "orphans ended, next to a list and deletes one by one", Size: thousands(ended) + " orphans", Unit: "s",
		Ours: ours.wall.Seconds(), Bare: time.Since(began).Seconds()})
	return nil
}
