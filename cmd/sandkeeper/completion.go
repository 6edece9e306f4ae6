package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/config"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

const (
	completeWithin = 2 * time.Second // a shell that waits longer is in the way
	mostCompleted  = 50
)

// A completer gives the words that an argument may begin with.
type completer func(ctx context.Context, a *app.App, begun string) []string

// completes has a shell complete the first argument of a verb. What cannot be read completes nothing: a shell has no
// place for an error.
func completes(c *cobra.Command, o *app.Options, words ...completer) *cobra.Command {
	c.ValidArgsFunction = func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return completed(cmd.Context(), o, begun, words), cobra.ShellCompDirectiveNoFileComp
	}
	return c
}

func completed(ctx context.Context, o *app.Options, begun string, words []completer) (out []string) {
	ctx, cancel := context.WithTimeout(ctx, completeWithin)
	defer cancel()
	c, err := config.Load(o.ConfigFile, o.Lookup)
	if err != nil {
		return nil
	}
	a, err := o.OpenLedger(ctx, c)
	if err != nil {
		return nil
	}
	defer a.Close()
	for _, word := range words {
		for _, w := range word(ctx, a, begun) {
			if strings.HasPrefix(w, begun) && !strings.ContainsAny(w, "\n\t ") && !slices.Contains(out, w) {
				out = append(out, w)
			}
		}
	}
	return out[:min(len(out), mostCompleted)]
}

// knownIDs are tasks and sandboxes. Nothing is looked for before somebody has begun.
func knownIDs(ctx context.Context, a *app.App, begun string) (out []string) {
	found, _ := a.Ledger.Search(ctx, begun, mostCompleted)
	for _, f := range found {
		if f.Type != reconcile.SubjectIncident {
			out = append(out, f.ID)
		}
	}
	return out
}

// knownTargets are tasks and sandboxes as a hold names them.
func knownTargets(ctx context.Context, a *app.App, begun string) (out []string) {
	kind, id, typed := strings.Cut(begun, ":")
	if !typed {
		return knownIDs(ctx, a, begun)
	}
	for _, known := range knownIDs(ctx, a, id) {
		out = append(out, kind+":"+known)
	}
	for _, p := range a.Config.Providers {
		out = append(out, reconcile.SubjectOf(reconcile.SubjectProvider, p.Name))
	}
	return out
}

// heldTargets are what operators hold.
func heldTargets(ctx context.Context, a *app.App, _ string) (out []string) {
	c, _ := a.Ledger.Controls(ctx)
	for _, h := range c.Holds {
		out = append(out, h.Target)
	}
	return out
}

// pausable are what can be paused.
func pausable(_ context.Context, a *app.App, _ string) []string {
	out := []string{"all"}
	for _, rule := range reconcile.RuleNames {
		out = append(out, reconcile.SubjectOf(reconcile.SubjectRule, rule))
	}
	for _, p := range a.Config.Providers {
		out = append(out, reconcile.SubjectOf(reconcile.SubjectProvider, p.Name))
	}
	return out
}

// pausedScopes are what is paused.
func pausedScopes(ctx context.Context, a *app.App, _ string) (out []string) {
	c, _ := a.Ledger.Controls(ctx)
	for _, p := range c.Pauses {
		out = append(out, p.Scope)
	}
	return out
}

// releasable are the open breakers, the sources that are not trusted, and the incidents that hold.
func releasable(ctx context.Context, a *app.App, _ string) []string {
	o, _ := a.Ledger.Overview(ctx, mostCompleted)
	out := reconcile.SortedKeys(o.Controls.Breakers)
	for _, s := range o.Sources {
		if !s.Trusted {
			out = append(out, s.Name)
		}
	}
	for i := range o.Incidents {
		if o.Incidents[i].Holds() {
			out = append(out, reconcile.SubjectOf(reconcile.SubjectIncident, o.Incidents[i].ID))
		}
	}
	return out
}

// knownIncidents are the newest incidents.
func knownIncidents(ctx context.Context, a *app.App, _ string) (out []string) {
	found, _ := a.Ledger.Incidents(ctx, mostCompleted)
	for i := range found {
		out = append(out, found[i].ID)
	}
	return out
}
