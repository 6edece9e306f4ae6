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
	"slices"
	"strconv"
	"strings"
	"time"
)

// Flags say what is measured.
type flags struct {
	program, to, against   string
	only                   []string // names of parts; none for all of a whole bench
	sizes                  []int
	rounds, orphans, pages int
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
	if len(f.only) > 0 && f.to != "" {
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
	only := set.String("only", "", "measure some parts alone, and keep the other rows of the file: "+partNames())
	if err := set.Parse(args); err != nil {
		return f, err
	}
	for name := range strings.SplitSeq(*only, ",") {
		if *only != "" && !slices.ContainsFunc(parts, func(p part) bool { return p.name == name }) {
			return f, fmt.Errorf("-only %q: give some of %s", name, partNames())
		}
	}
	if *only != "" {
		f.only = strings.Split(*only, ",")
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

// A part is what can be measured by itself.
type part struct {
	name  string
	alone bool // it takes minutes, and is measured where it is asked for alone
	each  bool // of each size; else of a fleet of its own
	do    func(*bench, context.Context, *table, int) error
}

var parts = []part{
	{name: "passes", each: true, do: (*bench).passes},
	{name: "metrics", each: true, alone: true, do: (*bench).scrapesAlone},
	{name: "listing", do: (*bench).listing},
	{name: "acts", do: (*bench).acts},
	{name: "acts-run", alone: true, do: (*bench).actsRun},
	{name: "events", alone: true, do: (*bench).events},
	{name: "lanes", alone: true, do: (*bench).lanes},
	{name: "probes", alone: true, do: (*bench).probes},
	{name: "replicas", alone: true, do: (*bench).replicas},
	{name: "pace", each: true, alone: true, do: (*bench).pace},
	{name: "idle", alone: true, do: (*bench).idle},
}

func partNames() string {
	names := make([]string, len(parts))
	for i, p := range parts {
		names[i] = p.name
	}
	return strings.Join(names, ", ")
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
	for _, p := range parts {
		if !slices.Contains(f.only, p.name) && (len(f.only) > 0 || p.alone) {
			continue
		}
		sizes := f.sizes
		if !p.each {
			sizes = sizes[:1]
		}
		for _, n := range sizes {
			if err := p.do(b, ctx, t, n); err != nil {
				return nil, fmt.Errorf("%s at %d: %w", p.name, n, err)
			}
		}
	}
	fmt.Fprintln(os.Stderr, "measured in", time.Since(began).Round(time.Second))
	return t, nil
}
