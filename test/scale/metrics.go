package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/test/ports"
	"github.com/sandkeeper/sandkeeper/test/scale/bare"
)

// What a scrape of /metrics may take and weigh, whatever the fleet, and how many of them are measured.
const (
	scrapeTakes  = 50  // ms
	scrapeWeighs = 200 // kB
	scrapes      = 31
)

// The works that are measured of it.
const (
	scrapeBared  = "/metrics, next to one bare count of the sandboxes"
	scrapeTime   = "/metrics, of what a scrape may take"
	scrapeWeight = "/metrics, of what it may weigh"
)

// scraped measures /metrics of a process that serves what passes have recorded of a fleet.
func (b *bench) scraped(ctx context.Context, t *table, w *world, size string) error {
	url, stop, err := b.serves(ctx, w, "serve")
	if err != nil {
		return err
	}
	defer stop()
	db, err := pgx.Connect(ctx, w.dsn)
	if err != nil {
		return err
	}
	defer db.Close(ctx)
	var ours, bares []time.Duration
	var text []byte
	for range scrapes { // by turns
		took, err := timed(func() (err error) { text, err = bare.Text(ctx, url+"/metrics"); return err })
		if err != nil {
			return err
		}
		counting, err := timed(func() error { return bare.Counts(ctx, db) })
		if err != nil {
			return err
		}
		ours, bares = append(ours, took), append(bares, counting)
	}
	took := median(ours)
	t.add(row{Work: scrapeBared, Size: size, Unit: "ms", Ours: took, Bare: median(bares)})
	t.add(row{Work: scrapeTime, Size: size, Unit: "ms", Ours: took, Bare: scrapeTakes,
		Bound: true})
	t.add(row{Work: scrapeWeight, Size: size, Unit: "kB", Ours: float64(len(text)) / 1000,
		Bare: scrapeWeighs, Bound: true})
	return nil
}

func timed(do func() error) (time.Duration, error) {
	began := time.Now()
	err := do()
	return time.Since(began), err
}

// median is in ms.
func median(all []time.Duration) float64 {
	slices.Sort(all)
	return all[len(all)/2].Seconds() * 1000
}

// serves starts a verb of the program that shows the page of a world, and waits until it answers.
func (b *bench) serves(ctx context.Context, w *world, verb string) (url string, stop func(), err error) {
	url, _, stop, err = b.process(ctx, w, verb)
	return url, stop, err
}

// process is the same, with the number of the process.
func (b *bench) process(ctx context.Context, w *world, verb string) (url string, pid int, stop func(), err error) {
	at, err := ports.Address(ctx)
	if err != nil {
		return "", 0, nil, err
	}
	if err := appendTo(w.config, fmt.Sprintf("web: {listen: %q}\n", at)); err != nil {
		return "", 0, nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	cmd := exec.CommandContext(ctx, b.program, verb, "--config", w.config)
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		cancel()
		return "", 0, nil, fmt.Errorf("%s: %w", verb, err)
	}
	stop = func() { cancel(); _ = cmd.Wait() } // it is killed, and says so
	for until := time.Now().Add(time.Minute); ; time.Sleep(100 * time.Millisecond) {
		if _, err = bare.Text(ctx, "http://"+at+"/metrics"); err == nil {
			return "http://" + at, cmd.Process.Pid, stop, nil
		}
		if time.Now().After(until) {
			stop()
			return "", 0, nil, fmt.Errorf("%s does not answer: %w", verb, err)
		}
	}
}

func appendTo(file, text string) error {
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0) //nolint:gosec // a config that this program wrote
	if err != nil {
		return err
	}
	if _, err := f.WriteString(text); err != nil {
		return err
	}
	return f.Close()
}

// scrapesAlone fills a fleet and measures nothing of it but /metrics.
func (b *bench) scrapesAlone(ctx context.Context, t *table, n int) error {
	f, err := b.firstPass(ctx, n)
	if err != nil {
		return err
	}
	defer f.provider.stop()
	return b.scraped(ctx, t, f.world, fleet(f.result.Healthy, n))
}

func fleet(tasks, sandboxes int) string {
	return fmt.Sprintf("%s tasks × %s sandboxes", thousands(tasks), thousands(sandboxes))
}
