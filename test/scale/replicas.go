package main

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"
)

// How replicas are measured: the calls to the provider that all of them together may make, and for how long they are
// counted.
const (
	replicasRate = 30 // a second
	replicasFor  = 20 * time.Second
	replicasOf   = 2000 // tasks and sandboxes: many more than are probed meanwhile
)

// replicate starts some replicas of `run` on the config of a world, changed.
func (b *bench) replicate(ctx context.Context, w *world, replicas int, change func(config string) string,
) (stop func(), err error) {
	text, err := os.ReadFile(w.config)
	if err != nil {
		return nil, err
	}
	var stops []func()
	stop = func() {
		for _, one := range stops {
			one()
		}
	}
	for i := range replicas {
		each := &world{dsn: w.dsn, config: fmt.Sprintf("%s.%d", w.config, i)}
		if err := os.WriteFile(each.config, []byte(change(string(text))), 0o600); err != nil {
			stop()
			return nil, err
		}
		_, end, err := b.serves(ctx, each, "run")
		if err != nil {
			stop()
			return nil, err
		}
		stops = append(stops, end)
	}
	return stop, nil
}

// replicas measures what 1, 2 and 4 replicas come to under one rate: probes of a slow sandbox, of which one replica
// cannot have enough under way to use the rate up, probes of a fast one, and acts at a slow provider.
func (b *bench) replicas(ctx context.Context, t *table, _ int) error {
	for _, replicas := range []int{1, 2, 4} {
		for _, takes := range []time.Duration{50 * time.Millisecond, 6 * time.Second} {
			if err := b.probesOf(ctx, t, replicas, takes); err != nil {
				return err
			}
		}
		if err := b.actsOf(ctx, t, replicas); err != nil {
			return err
		}
	}
	return nil
}

// probesOf measures the calls of some replicas that probe what they can.
func (b *bench) probesOf(ctx context.Context, t *table, replicas int, takes time.Duration) error {
	f, err := b.firstPass(ctx, replicasOf, "-probe", takes.String())
	if err != nil {
		return err
	}
	defer f.provider.stop()
	stop, err := b.replicate(ctx, f.world, replicas, func(config string) string {
		return strings.NewReplacer("probe: off", "probe: {every: 30s, timeout: 8s, budget: 2000/m}",
			"100000/s", fmt.Sprintf("%d/s", replicasRate)).Replace(config) +
			"schedule: {quick: '@every 5s', full: '@every 10s'}\n"
	})
	if err != nil {
		return err
	}
	defer stop()
	if err := nextFullPass(ctx, f.world); err != nil { // it asks for probes
		return err
	}
	time.Sleep(takes + 5*time.Second) // until as many are under way as can be
	did, err := f.provider.during(ctx, replicasFor)
	if err != nil {
		return err
	}
	t.add(row{Work: fmt.Sprintf("probes of %s: 100 calls under %d/s", takes, replicasRate),
		Size: fmt.Sprintf("replicas: %d", replicas), Unit: "s", Ours: 100 / did.perSecond(did.calls()),
		Bare: 100. / replicasRate})
	fmt.Fprintf(os.Stderr, "%d replicas, probes of %s: %.1f calls/s, %.1f probes/s\n", replicas, takes,
		did.perSecond(did.calls()), did.perSecond(did.Execs))
	return nil
}

// actsOf measures how fast some replicas end orphans at a provider that takes two seconds for each answer.
func (b *bench) actsOf(ctx context.Context, t *table, replicas int) error {
	const orphans = 120
	w, err := b.fill(ctx, pageSize)
	if err != nil {
		return err
	}
	p, err := startProvider(ctx, "-dsn", w.dsn, "-latency", "2s", "-orphans", fmt.Sprint(orphans))
	if err != nil {
		return err
	}
	defer p.stop()
	if err := b.configure(w, p.url, replicasRate); err != nil {
		return err
	}
	if _, _, err := b.once(ctx, w, "--migrate"); err != nil {
		return err
	}
	stop, err := b.replicate(ctx, w, replicas, func(config string) string {
		return config + "schedule: {quick: '@every 2s', full: '@every 10s'}\n"
	})
	if err != nil {
		return err
	}
	defer stop()
	s, err := p.allEnded(ctx, orphans)
	if err != nil {
		return err
	}
	took := s.LastEnded.Sub(s.FirstDelete)
	t.add(row{Work: fmt.Sprintf("orphans ended, 2 s a call, %d calls/s", replicasRate),
		Size: fmt.Sprintf("%d orphans, replicas: %d", orphans, replicas), Unit: "s", Ours: took.Seconds(),
		Bare: 2 * float64(orphans) / replicasRate})
	fmt.Fprintf(os.Stderr, "%d replicas: %.1f ended a second\n", replicas, orphans/took.Seconds())
	return nil
}

// allEnded waits until so many sandboxes were ended.
func (p *runningProvider) allEnded(ctx context.Context, orphans int) (s stats, err error) {
	first, err := p.stats(ctx)
	for until := time.Now().Add(5 * time.Minute); err == nil; s, err = p.stats(ctx) {
		if first.Sandboxes-s.Sandboxes >= orphans && s.Deletes >= orphans {
			return s, nil
		}
		if time.Now().After(until) {
			return s, fmt.Errorf("%d of %d orphans were ended in 5 minutes", first.Sandboxes-s.Sandboxes, orphans)
		}
		time.Sleep(200 * time.Millisecond)
	}
	return s, err
}
