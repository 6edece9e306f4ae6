package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/verb"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/asked"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

const (
	usualRows = 100 // that a list shows when nobody says how many
	partRows  = 500 // that are read at once
	cellWidth = 90  // of a cell in -o table; -o wide cuts nothing
)

// listForms are the forms of the verbs that list.
var listForms = []string{"table", "wide", "json", "yaml"}

// A listing is what a verb that lists has found: rows for people, and the same as data for programs.
type listing struct {
	name   string   // of the list, as JSON has it
	head   []string // of the columns
	narrow int      // how many of them -o table has
	rows   [][]string
	items  any
	more   bool   // there is more than --limit
	none   string // what is said when there is nothing
}

// listFlags are the filters of the verbs that list. Each takes those that mean something to it.
type listFlags struct {
	output, rule, provider, state, heldBy, template, text string
	limit                                                 int
}

// add gives a verb the flags that every list has.
func (f *listFlags) add(c *cobra.Command) {
	verb.Form(c, &f.output, "table", "form of the result: table, wide, json or yaml", listForms...)
	c.Flags().IntVar(&f.limit, "limit", usualRows, "most rows; 0: all")
}

func (f *listFlags) addRule(c *cobra.Command, also ...string) {
	known := append(append([]string{}, reconcile.RuleNames...), also...)
	verb.Word(c, &verb.WordValue{Flag: "rule", Value: &f.rule, Known: known}, "", "only of this rule")
}

func (f *listFlags) addProvider(c *cobra.Command) {
	c.Flags().StringVar(&f.provider, "provider", "", "only at this provider entry")
}

func (f *listFlags) addState(c *cobra.Command, help string, known ...string) {
	verb.Word(c, &verb.WordValue{Flag: "state", Value: &f.state, Known: known}, "", help)
}

func (f *listFlags) addHeldBy(c *cobra.Command) {
	c.Flags().StringVar(&f.heldBy, "held-by", "",
		`only what this holds: a kind like "budget", or what it is, like "rule:orphan" or "listing:daytona"`)
	_ = c.RegisterFlagCompletionFunc("held-by",
		cobra.FixedCompletions(reconcile.HeldKinds(), cobra.ShellCompDirectiveNoFileComp))
}

func (f *listFlags) addTemplate(c *cobra.Command) {
	c.Flags().StringVar(&f.template, "template", "", "only what was made from this template, or is about it")
}

func (f *listFlags) addText(c *cobra.Command, help string) {
	c.Flags().StringVar(&f.text, "text", "", help)
}

// chosen is what the flags choose.
func (f *listFlags) chosen() reconcile.Chosen {
	return reconcile.Chosen{Rule: f.rule, Provider: f.provider, HeldBy: f.heldBy, Template: f.template, Text: f.text,
		Most: partRows}
}

// unheard is the error of a filter by which nothing was found, and that names what there is not; nil when it does not.
func unheard(ctx context.Context, a *app.App, c *reconcile.Chosen) error {
	now, err := a.Ledger.Overview(ctx, 1)
	if err != nil {
		return err
	}
	policy := a.Config.Policy()
	if why := asked.Unheard(c, policy.ProviderNames(), now.Templates); why != "" {
		return verb.Misused(errors.New(why))
	}
	return nil
}

// full reports whether a list has as many rows as it may.
func (f *listFlags) full(n int) bool { return f.limit > 0 && n >= f.limit }

// A lister finds what a verb lists.
type lister func(ctx context.Context, a *app.App, f *listFlags) (*listing, error)

// list runs a verb that lists, on a ledger with this program's schema.
func list(ctx context.Context, o *app.Options, f *listFlags, find lister) error {
	if f.limit < 0 {
		return verb.Misused(fmt.Errorf("--limit %d is below 0", f.limit))
	}
	return onLedger(ctx, o, func(a *app.App) error {
		if f.provider != "" && !a.Config.HasProvider(f.provider) {
			return verb.Misused(a.Operator().UnknownProvider(f.provider))
		}
		if err := a.CheckSchema(ctx); err != nil {
			return err
		}
		l, err := find(ctx, a, f)
		if err != nil {
			return err
		}
		return l.print(o, f)
	})
}

func (l *listing) print(o *app.Options, f *listFlags) error {
	switch f.output {
	case "json":
		return console.PrintJSON(o.Out, l.data())
	case "yaml":
		return console.PrintYAML(o.Out, l.data())
	}
	var b bytes.Buffer
	l.text(&b, f)
	return console.Print(o.Out, &b)
}

// data is the list under its name, and whether there is more.
func (l *listing) data() map[string]any {
	out := map[string]any{l.name: l.items}
	if l.more {
		out["more"] = true
	}
	return out
}

func (l *listing) text(b *bytes.Buffer, f *listFlags) {
	if len(l.rows) == 0 {
		fmt.Fprintln(b, l.none)
		return
	}
	columns, width := l.narrow, cellWidth
	if f.output == "wide" {
		columns, width = len(l.head), 1<<20
	}
	t := console.Table(b)
	fmt.Fprintln(t, strings.ToUpper(strings.Join(l.head[:columns], "\t")))
	for _, row := range l.rows {
		cells := make([]string, columns)
		for i := range cells {
			cells[i] = reconcile.FirstOf(text.Clip(row[i], width), "-")
		}
		fmt.Fprintln(t, strings.Join(cells, "\t"))
	}
	_ = t.Flush() // into memory
	if l.more {
		fmt.Fprintf(b, "more than %d; --limit 0 shows all\n", f.limit)
	}
}

// chosenParts reads part after part, until the list is full, of what keep lets through.
func chosenParts[T any](f *listFlags, c reconcile.Chosen, keep func(*T) bool,
	read func(reconcile.Chosen) ([]T, reconcile.Cursor, error)) (out []T, more bool, err error) {
	for {
		rows, next, err := read(c)
		if err != nil {
			return nil, false, err
		}
		for i := range rows {
			switch {
			case !keep(&rows[i]):
			case f.full(len(out)):
				return out, true, nil
			default:
				out = append(out, rows[i])
			}
		}
		if next == (reconcile.Cursor{}) {
			return out, false, nil
		}
		c.After = next
	}
}

// cutList is the list up to its limit.
func cutList[T any](f *listFlags, all []T) (shown []T, more bool) {
	if f.limit == 0 || len(all) <= f.limit {
		return all, false
	}
	return all[:f.limit], true
}
