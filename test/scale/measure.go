package main

import (
	"context"
	"fmt"
	"os"
	"time"
)

// A result is what the program says of a pass, of what is asked here.
type result struct {
	Healthy int
	Steps   []struct{ Step, Outcome string }
}

// once makes one pass, as a CronJob does.
func (b *bench) once(ctx context.Context, w *world, args ...string) (r result, s spent, err error) {
	all := append([]string{"once", "--config", w.config, "-o", "json", "--timeout", "20m"}, args...)
	s, err = child(ctx, &r, b.program, all...)
	return r, s, err
}

// A first is a fleet after its first pass, with what that came to and cost.
type first struct {
	world    *world
	provider *runningProvider
	result   result
	cost     spent
}

// firstPass fills a fleet, starts its provider, as it is told to be, and makes the first pass.
func (b *bench) firstPass(ctx context.Context, n int, provider ...string) (first, error) {
	return b.firstPassOf(ctx, n, fewEvents, provider...)
}

// firstPassOf is the same, with so many events for each task.
func (b *bench) firstPassOf(ctx context.Context, n, events int, provider ...string) (f first, err error) {
	if f.world, err = b.fillWith(ctx, n, events); err != nil {
		return f, err
	}
	if f.provider, err = startProvider(ctx, append([]string{"-dsn", f.world.dsn}, provider...)...); err != nil {
		return f, err
	}
	if err = b.configure(f.world, f.provider.url, 100_000); err == nil {
		f.result, f.cost, err = b.once(ctx, f.world, "--migrate")
	}
	if err != nil {
		f.provider.stop()
	}
	return f, err
}

// passes compares passes over a healthy fleet with the bare reads, by turns.
func (b *bench) passes(ctx context.Context, t *table, n int) error {
	f, err := b.firstPass(ctx, n)
	if err != nil {
		return err
	}
	defer f.provider.stop()
	r, err := b.inTurn(ctx, f.world, f.provider)
	if err != nil {
		return err
	}
	if f.result.Healthy != r.read.Rows || r.healthy != r.read.Rows || r.read.Sandboxes != r.read.Rows {
		return fmt.Errorf("%d rows and %d sandboxes were read; the passes call %d and %d healthy", r.read.Rows,
			r.read.Sandboxes, f.result.Healthy, r.healthy)
	}
	size := fleet(r.read.Rows, r.read.Sandboxes)
	t.cost("full pass", size, r.full, r.bare)
	t.cost("first pass", size, f.cost, r.bare)
	t.cost("quick pass", size, r.quick, r.bare)
	return b.scraped(ctx, t, f.world, size)
}

// A rounds is what several rounds came to: the cheapest of each.
type rounds struct {
	read              counted
	healthy           int
	bare, full, quick spent
}

func (b *bench) inTurn(ctx context.Context, w *world, p *runningProvider) (out rounds, err error) {
	var bares, fulls, quicks []spent
	path, err := os.Executable()
	if err != nil {
		return out, err
	}
	for range b.rounds {
		s, err := child(ctx, &out.read, path, "bare", w.dsn, p.url)
		if err != nil {
			return out, err
		}
		bares = append(bares, s)
		full, s, err := b.once(ctx, w)
		if err != nil {
			return out, err
		}
		out.healthy, fulls = full.Healthy, append(fulls, s)
		_, s, err = b.once(ctx, w, "--quick")
		if err != nil {
			return out, err
		}
		quicks = append(quicks, s)
	}
	out.bare, out.full, out.quick = least(bares), least(fulls), least(quicks)
	return out, nil
}

// pageTakes is how long a page of a slow provider takes.
const pageTakes = 80 * time.Millisecond

// listing measures how long the pages of a slow provider take, which are read at 50 a second at most.
func (b *bench) listing(ctx context.Context, t *table, _ int) error {
	if b.pages == 0 {
		return nil
	}
	w, err := b.fill(ctx, b.pages*pageSize)
	if err != nil {
		return err
	}
	p, err := startProvider(ctx, "-dsn", w.dsn, "-latency", pageTakes.String())
	if err != nil {
		return err
	}
	defer p.stop()
	if err := b.configure(w, p.url, 50); err != nil {
		return err
	}
	if _, _, err := b.once(ctx, w, "--migrate"); err != nil {
		return err
	}
	s, err := p.stats(ctx)
	if err != nil {
		return err
	}
	limit := float64(s.Lists) / 50
	t.add(row{Work: "listing, 80 ms a page, 50 calls/s", Size: thousands(s.Sandboxes) + " sandboxes", Unit: "s",
		Ours: s.LastPage.Sub(s.FirstPage).Seconds(), Bare: limit})
	return nil
}
