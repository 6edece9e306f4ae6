package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// How long passes are counted beside probes, and how often each kind is due.
const (
	lanesFor   = 45 * time.Second
	lanesQuick = 2 * time.Second
	lanesFull  = 5 * time.Second
)

// lanes measures whether passes keep their pace beside probes that use up the rate of 50 calls a second, with one
// replica and with four, next to one replica that probes nothing.
func (b *bench) lanes(ctx context.Context, t *table, n int) error {
	quiet, err := b.paceOf(ctx, n, 1, "off")
	if err != nil {
		return err
	}
	for _, replicas := range []int{1, 4} {
		beside, err := b.paceOf(ctx, n, replicas, "{every: 6s, budget: 60000/m}")
		if err != nil {
			return err
		}
		size := fmt.Sprintf("%s, 50 calls/s, replicas: %d", fleet(n, n), replicas)
		t.add(row{Work: "any pass beside probes that use up the rate, next to none: one each", Size: size, Unit: "s",
			Ours: beside.each(beside.quick + beside.full), Bare: quiet.each(quiet.quick + quiet.full)})
		t.add(row{Work: "full pass beside probes that use up the rate, next to none: one each", Size: size, Unit: "s",
			Ours: beside.each(beside.full), Bare: quiet.each(quiet.full)})
	}
	return nil
}

// A pace is how many passes of each kind ended meanwhile.
type pace struct{ quick, full int }

// each is how many seconds one of n took.
func (pace) each(n int) float64 { return lanesFor.Seconds() / max(float64(n), 0.1) }

// paceOf counts the passes of some replicas that probe as the config says.
func (b *bench) paceOf(ctx context.Context, n, replicas int, probe string) (p pace, err error) {
	f, err := b.firstPass(ctx, n)
	if err != nil {
		return p, err
	}
	defer f.provider.stop()
	stop, err := b.replicate(ctx, f.world, replicas, func(config string) string {
		return strings.NewReplacer("probe: off", "probe: "+probe, "100000/s", "50/s").Replace(config) +
			fmt.Sprintf("schedule: {quick: '@every %s', full: '@every %s'}\n", lanesQuick, lanesFull)
	})
	if err != nil {
		return p, err
	}
	defer stop()
	if err := nextFullPass(ctx, f.world); err != nil {
		return p, err
	}
	from := time.Now()
	did, err := f.provider.during(ctx, lanesFor)
	if err != nil {
		return p, err
	}
	p, err = passesSince(ctx, f.world, from)
	fmt.Fprintf(os.Stderr, "probes %s, replicas: %d: %d quick and %d full passes, %.1f calls/s, %d of them of probes\n",
		probe, replicas, p.quick, p.full, did.perSecond(did.calls()), did.Probes)
	return p, err
}

// passesSince counts the passes of each kind that ended since a moment; the server's clock is this machine's.
func passesSince(ctx context.Context, w *world, from time.Time) (p pace, err error) {
	db, err := pgx.Connect(ctx, w.dsn)
	if err != nil {
		return p, err
	}
	defer db.Close(ctx)
	err = db.QueryRow(ctx, `
		SELECT /* bench */ count(*) FILTER (WHERE kind = 'quick'), count(*) FILTER (WHERE kind = 'full')
		FROM sandkeeper.passes WHERE ended_at > $1 AND complete`, from).Scan(&p.quick, &p.full)
	return p, err
}
