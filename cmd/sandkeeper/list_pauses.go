package main

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/verb"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

func pausesCommand(o *app.Options) *cobra.Command {
	f := &listFlags{}
	c := &cobra.Command{
		Use:     "pauses",
		Short:   "List the pauses in force: of all, of rules, of providers",
		Example: "  sandkeeper pauses -o json",
		Args:    verb.Needs(),
		RunE:    func(cmd *cobra.Command, _ []string) error { return list(cmd.Context(), o, f, listPauses) },
	}
	f.add(c)
	f.addText(c, "only with this part of what is paused, of the reason or of who asked for it")
	return c
}

// A pauseReport is a pause in force. Its JSON is a public contract.
type pauseReport struct {
	What   string     `json:"what"` // all, rule:NAME or provider:NAME
	Reason string     `json:"reason,omitempty"`
	By     string     `json:"by,omitempty"`
	Since  time.Time  `json:"since"`
	Until  *time.Time `json:"until,omitempty"`
}

func listPauses(ctx context.Context, a *app.App, f *listFlags) (*listing, error) {
	now, controls, err := controlsNow(ctx, a)
	if err != nil {
		return nil, err
	}
	all := []pauseReport{}
	for _, p := range controls.Pauses {
		if strings.Contains(strings.Join([]string{p.Scope, p.Reason, p.Author}, "\n"), f.text) {
			all = append(all, pauseReport{p.Scope, p.Reason, p.Author, p.At.UTC(), console.When(p.Until)})
		}
	}
	l := &listing{name: "pauses", narrow: 6, none: "nothing is paused",
		head: []string{"what", "since", "until", "by", "reason", "resume"}}
	all, l.more = cutList(f, all)
	l.items = all
	for _, p := range all {
		l.rows = append(l.rows, []string{p.What, sinceText(now, p.Since), stampOr(p.Until, "resumed"), p.By, p.Reason,
			"sandkeeper resume " + shellWord(p.What)})
	}
	return l, nil
}

// sinceText is how long something has been so; "" when that is not known.
func sinceText(now, since time.Time) string {
	if since.IsZero() {
		return ""
	}
	return text.Coarse(now.Sub(since)) + " ago"
}

// untilText is until when something is so; "" when no time ends it.
func untilText(until time.Time) string { return stampOr(console.When(until), "") }

func stampOr(t *time.Time, otherwise string) string {
	if t == nil {
		return otherwise
	}
	return text.Time(*t)
}
