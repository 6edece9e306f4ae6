package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/verb"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/store/ledger"
)

const (
	followEvery = time.Second
	// lateLines is how many numbers below the newest line are looked at again: who took a number first may commit last.
	lateLines = 1000
)

// timelineKinds are the kinds of lines of the timeline.
var timelineKinds = []string{"seen", "state", "finding", "resolved", "action", "probe", "operator", "source"}

// logFlags are those of log.
type logFlags struct {
	listFlags
	kind   string
	follow bool
}

func logCommand(o *app.Options) *cobra.Command {
	f := &logFlags{}
	c := &cobra.Command{
		Use:   "log",
		Short: "Show the timeline of everything that was seen and done; -f goes on",
		Long: `Log shows the newest lines of the ledger's timeline, oldest first: what was found and resolved, what was
done, what operators asked for, which sources were trusted. All times are of the ledger's
clock. With -f it goes on until it is interrupted; -o json then gives one line for each.`,
		Example: "  sandkeeper log -f\n  sandkeeper log --kind operator --limit 20\n" +
			"  sandkeeper log -f -o json --text daytona",
		Args: verb.Needs(),
		RunE: func(cmd *cobra.Command, _ []string) error {
			if f.follow {
				return follow(cmd.Context(), o, f)
			}
			return list(cmd.Context(), o, &f.listFlags, f.list)
		},
	}
	f.add(c)
	f.addText(c, "only with this part of a subject or of what happened")
	verb.Word(c, &verb.WordValue{Flag: "kind", Value: &f.kind, Known: timelineKinds}, "", "only lines of this kind")
	c.Flags().BoolVarP(&f.follow, "follow", "f", false, "go on with what happens")
	return c
}

// lines are the newest lines after a number, oldest first, and whether there are more before them.
func (f *logFlags) lines(ctx context.Context, a *app.App, after int64) ([]ledger.NumberedEvent, bool, error) {
	most := f.limit + 1
	if f.limit == 0 || after > 0 {
		most = 1_000_000
	}
	found, err := a.Ledger.Timeline(ctx, ledger.TimelinePart{After: after, Kind: f.kind, Text: f.text, Most: most})
	more := len(found) == most
	if more {
		found = found[:most-1]
	}
	slices.Reverse(found)
	return found, more, err
}

func (f *logFlags) list(ctx context.Context, a *app.App, _ *listFlags) (*listing, error) {
	found, more, err := f.lines(ctx, a, 0)
	if err != nil {
		return nil, err
	}
	l := &listing{name: "lines", more: more, narrow: 4, none: "no such line",
		head: []string{"at", "kind", "subject", "what"}}
	items := []reconcile.TimelineEvent{}
	for i := range found {
		e := found[i].TimelineEvent
		e.At = e.At.UTC()
		items = append(items, e)
		l.rows = append(l.rows, []string{text.Time(e.At), e.Kind, e.Subject, e.What})
	}
	l.items = items
	return l, nil
}

// follow prints the newest lines and then each new one, until it is interrupted.
func follow(ctx context.Context, o *app.Options, f *logFlags) error {
	return onLedger(ctx, o, func(a *app.App) error {
		if err := a.CheckSchema(ctx); err != nil {
			return err
		}
		w := follower{logFlags: f, a: a, out: o.Out, seen: map[int64]bool{}}
		tick := time.NewTicker(followEvery)
		defer tick.Stop()
		for {
			if err := w.look(ctx); err != nil && ctx.Err() == nil {
				return err
			}
			select {
			case <-ctx.Done(): // who follows ends it, that is no failure
				return nil
			case <-tick.C:
			}
		}
	})
}

// A follower prints each line once.
type follower struct {
	*logFlags
	a      *app.App
	out    io.Writer
	seen   map[int64]bool // by number
	newest int64
}

// look prints what is new. At the first look that is as much as --limit wants, and what is below counts as seen.
func (w *follower) look(ctx context.Context) error {
	first := len(w.seen) == 0
	found, _, err := w.lines(ctx, w.a, max(w.newest-lateLines, 0))
	if err != nil {
		return err
	}
	for i := range found {
		e := &found[i]
		if w.seen[e.Number] {
			continue
		}
		if err := w.line(w.out, e.TimelineEvent); err != nil {
			return err
		}
		w.seen[e.Number], w.newest = true, max(w.newest, e.Number)
	}
	if first && len(found) > 0 {
		for n := max(found[0].Number-lateLines, 0); n < found[0].Number; n++ {
			w.seen[n] = true
		}
	}
	return nil
}

// line prints one line as it comes.
func (f *logFlags) line(w io.Writer, e reconcile.TimelineEvent) error {
	e.At = e.At.UTC()
	switch f.output {
	case "json":
		return console.PrintJSONLine(w, e)
	case "yaml":
		return console.PrintYAML(w, []reconcile.TimelineEvent{e})
	}
	var b bytes.Buffer
	width := cellWidth
	if f.output == "wide" {
		width = 1 << 20
	}
	fmt.Fprintf(&b, "%s  %-8s  %s  %s\n", text.Time(e.At), e.Kind, text.Clip(e.Subject, width), text.Clip(e.What, width))
	return console.Print(w, &b)
}
