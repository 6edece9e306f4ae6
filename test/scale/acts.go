package main

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/jackc/pgx/v5"
)

// How orphans are ended: what a call to their provider takes, and how many calls it takes a second.
const (
	actsTakes = 200 * time.Millisecond
	actsRate  = 50
	sweptMost = 500 // orphans that are also ended one by one, which takes a fifth of a second each
)

// acts ends orphans at a slow provider, by a pass that stays until they are gone, and counts what it was asked for.
func (b *bench) acts(ctx context.Context, t *table, _ int) error {
	if b.orphans == 0 {
		return nil
	}
	cost, w, err := b.actsOnce(ctx, t)
	if err != nil {
		return err
	}
	if b.orphans > sweptMost {
		return nil
	}
	return b.swept(ctx, t, w, cost)
}

// orphaned is a world with orphans that were seen once.
func (b *bench) orphaned(ctx context.Context) (w *world, p *runningProvider, err error) {
	if w, err = b.fill(ctx, pageSize); err != nil {
		return nil, nil, err
	}
	p, err = startProvider(ctx, "-dsn", w.dsn, "-latency", actsTakes.String(), "-orphans", fmt.Sprint(b.orphans))
	if err != nil {
		return nil, nil, err
	}
	if err = b.configure(w, p.url, actsRate); err == nil {
		_, _, err = b.once(ctx, w, "--migrate")
	}
	if err != nil {
		p.stop()
		return nil, nil, err
	}
	time.Sleep(2 * time.Second) // the second sighting is to be a second later
	return w, p, nil
}

func (b *bench) actsOnce(ctx context.Context, t *table) (cost spent, w *world, err error) {
	w, p, err := b.orphaned(ctx)
	if err != nil {
		return cost, nil, err
	}
	defer p.stop()
	before, err := p.stats(ctx)
	if err != nil {
		return cost, nil, err
	}
	r, cost, err := b.once(ctx, w, "--wait", "10m")
	if err != nil {
		return cost, nil, err
	}
	s, err := p.stats(ctx)
	if err != nil {
		return cost, nil, err
	}
	confirmed := 0
	for _, step := range r.Steps {
		if step.Step == "terminate" && step.Outcome == "confirmed" {
			confirmed++
		}
	}
	return cost, w, t.acted("", confirmed, cost.wall, before, s)
}

// actsRun is the same by the daemon, from the beginning of the pass that finds them until the last end is confirmed.
func (b *bench) actsRun(ctx context.Context, t *table, _ int) error {
	if b.orphans == 0 {
		return nil
	}
	w, p, err := b.orphaned(ctx)
	if err != nil {
		return err
	}
	defer p.stop()
	before, err := p.stats(ctx)
	if err != nil {
		return err
	}
	if err := appendTo(w.config, "schedule: {quick: '@every 15s', full: '@every 30s'}\n"); err != nil {
		return err
	}
	_, stop, err := b.serves(ctx, w, "run")
	if err != nil {
		return err
	}
	defer stop()
	took, err := allConfirmed(ctx, w, b.orphans)
	if err != nil {
		return err
	}
	after, err := p.stats(ctx)
	if err != nil {
		return err
	}
	return t.acted("by run: ", b.orphans, took, before, after)
}

// allConfirmed waits until the ends of so many orphans are confirmed, and says how long that took.
func allConfirmed(ctx context.Context, w *world, orphans int) (took time.Duration, err error) {
	db, err := pgx.Connect(ctx, w.dsn)
	if err != nil {
		return 0, err
	}
	defer db.Close(ctx)
	for until := time.Now().Add(10 * time.Minute); time.Now().Before(until); time.Sleep(200 * time.Millisecond) {
		confirmed := 0
		err := db.QueryRow(ctx, `
			SELECT /* bench */ count(*), coalesce(max(closed_at) -
				(SELECT min(p.began_at) FROM sandkeeper.passes p JOIN sandkeeper.actions a ON a.pass = p.id), '0')
			FROM sandkeeper.actions WHERE step = 'terminate' AND outcome = 'confirmed'`).Scan(&confirmed, &took)
		if err != nil || confirmed >= orphans {
			return took, err
		}
	}
	return 0, fmt.Errorf("not all of %d ends were confirmed in 10 minutes", orphans)
}

// acted adds what the acts cost, of those that the provider carried out and the program confirmed.
func (t *table) acted(by string, confirmed int, took time.Duration, before, after stats) error {
	ended := before.Sandboxes - after.Sandboxes
	if ended == 0 || ended != confirmed {
		return fmt.Errorf("%d ended at the provider, %d confirmed", ended, confirmed)
	}
	size := thousands(ended) + " orphans"
	t.add(row{Work: by + "calls for each orphan", Size: size, Unit: "calls",
		Ours: float64(after.calls()-before.calls()) / float64(ended), Bare: 1})
	t.add(row{Work: fmt.Sprintf("%sorphans ended, 200 ms a call, %d calls/s", by, actsRate), Size: size, Unit: "s",
		Ours: took.Seconds(), Bare: float64(ended) / actsRate})
	did := after.since(before)
	fmt.Fprintf(os.Stderr, "%s%d ended: %d lists, %d gets, %d deletes, %d logs, %d others\n", by, ended, did.Lists,
		did.Gets, did.Deletes, did.Probes, did.Others)
	return nil
}
