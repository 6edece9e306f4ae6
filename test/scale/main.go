// Command scale measures what sandkeeper costs on a large fleet, from outside: the CPU time and the peak memory of real
// processes, next to a bare program that reads the same rows by pgx and the same pages by HTTP and encoding/json in the
// same run. `make bench` runs it, `make bench-check` holds it against the committed bench.json.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"time"
)

// Flags say what is measured.
type flags struct {
	program, to, against   string
	sizes                  []int
	rounds, orphans, pages int
	metrics, acts          bool
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "scale:", err)
		os.Exit(1)
	}
}

// run is the measuring process; bare and serve are the processes that it starts of itself.
func run(ctx context.Context, args []string) error {
	if len(args) == 3 && args[0] == "bare" {
		return bareReads(ctx, args[1], args[2])
	}
	if len(args) > 0 && args[0] == "serve" {
		return serve(ctx, args[1:])
	}
	f, err := parse(args)
	if err != nil {
		return err
	}
	t, err := measure(ctx, f)
	if err != nil {
		return err
	}
	fmt.Print(t)
	if (f.metrics || f.acts) && f.to != "" {
		t, err = t.over(f.to)
	}
	if f.to != "" && err == nil {
		err = t.write(f.to)
	}
	if f.against != "" {
		err = errors.Join(err, t.compare(f.against))
	}
	return err
}

func parse(args []string) (f flags, err error) {
	set := flag.NewFlagSet("scale", flag.ContinueOnError)
	sizes := set.String("sizes", "10000,100000", "tasks and sandboxes of each fleet")
	set.StringVar(&f.program, "program", "bin/sandkeeper", "what is measured")
	set.StringVar(&f.to, "to", "", "write the figures to this file")
	set.StringVar(&f.against, "against", "", "fail where a ratio is more than 10 % worse than in this file")
	set.IntVar(&f.rounds, "rounds", 2, "passes of each kind; the cheapest counts, for others use this machine too")
	set.IntVar(&f.orphans, "orphans", 200, "orphans that are ended at 200 ms a call; 0: leave it out")
	set.IntVar(&f.pages, "pages", 50, "pages of a listing at 80 ms a page; 0: leave it out")
	set.BoolVar(&f.metrics, "metrics", false, "measure /metrics alone, and keep the other rows of the file")
	set.BoolVar(&f.acts, "acts", false, "measure acts alone, and keep the other rows of the file")
	if err := set.Parse(args); err != nil {
		return f, err
	}
	if f.acts {
		return f, nil
	}
	for word := range strings.SplitSeq(*sizes, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < pageSize {
			return f, fmt.Errorf("size %q: give whole numbers from %d, as 10000,100000", word, pageSize)
		}
		f.sizes = append(f.sizes, n)
	}
	return f, nil
}

// measure measures the fleets one after the other, each in a database of its own.
func measure(ctx context.Context, f flags) (*table, error) {
	began := time.Now()
	b := &bench{flags: f}
	if err := b.start(ctx); err != nil {
		return nil, err
	}
	defer b.stop()
	t := &table{}
	for _, n := range f.sizes {
		if f.metrics {
			if err := b.scrapesAlone(ctx, t, n); err != nil {
				return nil, fmt.Errorf("/metrics at %d: %w", n, err)
			}
			continue
		}
		if err := b.passes(ctx, t, n); err != nil {
			return nil, fmt.Errorf("passes at %d: %w", n, err)
		}
	}
	if f.pages > 0 && !f.metrics && !f.acts {
		if err := b.listing(ctx, t); err != nil {
			return nil, fmt.Errorf("listing of %d pages: %w", f.pages, err)
		}
	}
	if f.orphans > 0 && !f.metrics {
		if err := b.acts(ctx, t); err != nil {
			return nil, fmt.Errorf("%d orphans: %w", f.orphans, err)
		}
	}
	fmt.Fprintln(os.Stderr, "measured in", time.Since(began).Round(time.Second))
	return t, nil
}
