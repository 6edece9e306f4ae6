package main

import (
	"context"
	"time"
)

// manyEvents is how many events a task has that worked for hours.
const manyEvents = 300

// eventPasses is how many full passes of a daemon are measured of each fleet, with the quick ones in between.
const eventPasses = 2

// settled is how long events are read again after their time, with some to spare: how many are as young as that depends
// on how long it took to write them down, and not on how many there are.
const settled = 75 * time.Second

// events measures what the database server does for the passes of `run` where each task has many events, next to where
// each has few.
func (b *bench) events(ctx context.Context, t *table, n int) error {
	few, err := b.passesOf(ctx, n, fewEvents)
	if err != nil {
		return err
	}
	many, err := b.passesOf(ctx, n, manyEvents)
	if err != nil {
		return err
	}
	t.add(row{Work: "300 events for each task, next to 3: PostgreSQL's CPU time for a full and 4 quick passes",
		Size: fleet(n, n), Unit: "s", Ours: many.Seconds(), Bare: few.Seconds()})
	return nil
}

// passesOf is the CPU time of the database server for a full pass over a fleet and the quick ones until the next.
func (b *bench) passesOf(ctx context.Context, n, events int) (each time.Duration, err error) {
	f, err := b.firstPassOf(ctx, n, events)
	if err != nil {
		return 0, err
	}
	defer f.provider.stop()
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-time.After(settled):
	}
	if err := sql(ctx, f.world.dsn, countStatements); err != nil {
		return 0, err
	}
	if err := appendTo(f.world.config, "schedule: {quick: '@every 2s', full: '@every 10s'}\n"); err != nil {
		return 0, err
	}
	_, stop, err := b.serves(ctx, f.world, "run")
	if err != nil {
		return 0, err
	}
	defer stop()
	if err := nextFullPass(ctx, f.world); err != nil { // it reads all; from then on nothing is new
		return 0, err
	}
	before, err := loaded(ctx, f.world)
	if err != nil {
		return 0, err
	}
	for range eventPasses {
		if err := nextFullPass(ctx, f.world); err != nil {
			return 0, err
		}
	}
	after, err := loaded(ctx, f.world)
	_, cpu, _ := after.since(before)
	return cpu / eventPasses, err
}
