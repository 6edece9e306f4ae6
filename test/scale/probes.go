package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"
)

// How probes are measured: under so many calls a second, for so long, and each of so many sandboxes hangs.
const (
	probesRate = 200
	probesFor  = 60 * time.Second
	probesHang = 100
)

// probes measures how many sandboxes `run` probes a second where each answers after 50 ms and one of a hundred never.
// The limit is what the rate leaves to probes, by the calls that each of them really took.
func (b *bench) probes(ctx context.Context, t *table, n int) error {
	f, err := b.firstPass(ctx, n, "-hang", fmt.Sprint(probesHang))
	if err != nil {
		return err
	}
	defer f.provider.stop()
	stop, err := b.replicate(ctx, f.world, 1, func(config string) string {
		return strings.NewReplacer("probe: off", "probe: {every: 30s, budget: 12000/m}",
			"100000/s", fmt.Sprintf("%d/s", probesRate)).Replace(config) +
			"schedule: {quick: '@every 5s', full: '@every 10s'}\n"
	})
	if err != nil {
		return err
	}
	defer stop()
	time.Sleep(20 * time.Second) // until probes hang as many as can
	did, err := f.provider.during(ctx, probesFor)
	if err != nil {
		return err
	}
	if did.Execs == 0 {
		return fmt.Errorf("nothing was probed")
	}
	each := float64(did.Probes+did.Gets) / float64(did.Execs)
	limit := (probesRate - did.perSecond(did.Lists+did.Others)) / each
	t.add(row{Work: fmt.Sprintf("10,000 probes of 50 ms, 1 %% hanging, %d calls/s", probesRate), Size: fleet(n, n),
		Unit: "s", Ours: 10_000 / did.perSecond(did.Execs), Bare: 10_000 / limit})
	fmt.Fprintf(os.Stderr, "%.1f probes/s; the limit is %.1f/s at %.2f calls each; %.1f calls/s\n",
		did.perSecond(did.Execs), limit, each, did.perSecond(did.calls()))
	return nil
}

// A span is what a provider was asked in a time.
type span struct {
	stats
	took time.Duration
}

func (s span) perSecond(n int) float64 { return float64(n) / s.took.Seconds() }

// calls are all that were counted.
func (s stats) calls() int { return s.Lists + s.Gets + s.Deletes + s.Others + s.Probes }

// during is what the provider was asked from now on for a while.
func (p *runningProvider) during(ctx context.Context, wait time.Duration) (out span, err error) {
	before, err := p.stats(ctx)
	if err != nil {
		return out, err
	}
	began := time.Now()
	time.Sleep(wait)
	after, err := p.stats(ctx)
	out.took = time.Since(began)
	out.stats = after.since(before)
	return out, err
}

// since is what a provider was asked from one reading to the next.
func (s stats) since(before stats) stats {
	return stats{Lists: s.Lists - before.Lists, Gets: s.Gets - before.Gets, Deletes: s.Deletes - before.Deletes,
		Others: s.Others - before.Others, Probes: s.Probes - before.Probes, Execs: s.Execs - before.Execs}
}
