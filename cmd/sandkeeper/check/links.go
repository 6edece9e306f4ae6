package check

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/providers"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

const (
	linksLooked = 1000               // sandboxes whose links are looked up
	fewLinks    = 3                  // that all lead nowhere are no chance
	linksWithin = 7 * 24 * time.Hour // of the ledger's history
)

// checkLinks says whether rows explain the sandboxes that are ours: what the rules would make of those that none
// explains, and whether `exclusive` is what the history shows.
func checkLinks(ctx context.Context, a *app.App, e providers.Entry, p reconcile.Provider) []reconcile.CheckResult {
	if a.Config.Tasks.None || a.Tasks == nil {
		return nil
	}
	boxes, err := someOwned(ctx, p)
	if err != nil {
		return nil // the provider's own lines say what is wrong with its listing
	}
	policy := a.Config.Policy()
	l := linked{entry: e, policy: &policy}
	if err := l.read(ctx, a.Tasks, boxes); err != nil {
		return fails("links", err)
	}
	out := l.lines()
	if !e.Owns.Exclusive || !hasSchema(ctx, a) {
		return out
	}
	without, all, err := neverLinked(ctx, a, e.Name)
	if err != nil {
		return append(out, fails("exclusive", err)...)
	}
	// What further rows, or the config, explained when it was there is not known of one that is gone.
	sure := len(policy.Tasks.ExplainedBy) == 0 && e.Owns.Spares.Empty()
	return append(out, exclusive(without, all, sure && policy.Rules["orphan"].Mode == reconcile.Enforce))
}

// hasSchema reports whether the ledger was ever migrated: a line of its own says so where it was not.
func hasSchema(ctx context.Context, a *app.App) bool {
	if a.Ledger == nil {
		return false
	}
	have, _, err := a.Ledger.SchemaVersion(ctx)
	return err != nil || have > 0
}

// neverLinked are the sandboxes of the ledger's last days that no row explains, of how many.
func neverLinked(ctx context.Context, a *app.App, provider string) (without []string, all int, err error) {
	seen, all, err := a.Ledger.Unlinked(ctx, provider, linksWithin)
	if err != nil || len(seen) == 0 {
		return nil, all, err
	}
	var ids []string
	for _, s := range seen {
		ids = append(ids, s.Task)
	}
	// A task that was over before the first pass is in no ledger.
	rows, err := a.Tasks.ByID(ctx, reconcile.NonEmpty(ids...))
	if err != nil {
		return nil, all, err
	}
	for _, s := range seen {
		if !slices.ContainsFunc(rows.Tasks, func(t reconcile.Task) bool { return t.ID == s.Task }) {
			without = append(without, s.ID)
		}
	}
	return without, all, nil
}

var errEnough = errors.New("enough")

// someOwned are the first of the provider's sandboxes that are ours and not on their way out.
func someOwned(ctx context.Context, p reconcile.Provider) ([]reconcile.Sandbox, error) {
	var out []reconcile.Sandbox
	_, err := p.List(ctx, func(page []reconcile.Sandbox) error {
		for _, s := range page {
			if s.Ours() && s.State.Exists() && s.State != reconcile.SandboxDeleting {
				out = append(out, s)
			}
		}
		if len(out) >= linksLooked {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return out[:min(len(out), linksLooked)], err
}

// linked is what became of the links of the sandboxes that were looked at.
type linked struct {
	entry  providers.Entry
	policy *reconcile.Policy

	all       int
	explained int
	byLabel   int      // that a label links with a row
	labelled  int      // that have the label
	nobody    []string // "id (what it names)" of those that nothing explains
}

func (l *linked) read(ctx context.Context, rows rowsAndMore, boxes []reconcile.Sandbox) error {
	var ids, keys []string
	for i := range boxes {
		l.policy.Describe(&boxes[i])
		ids = append(ids, boxes[i].Task)
		keys = append(keys, boxes[i].Keys()...)
	}
	byID, err := rows.ByID(ctx, reconcile.NonEmpty(ids...))
	if err != nil {
		return err
	}
	byBox, err := rows.BySandbox(ctx, reconcile.NonEmpty(keys...))
	if err != nil {
		return err
	}
	has := map[string]bool{}
	for i := range byID.Tasks {
		has[byID.Tasks[i].ID] = true
	}
	named := map[string]bool{}
	for i := range byBox.Tasks {
		named[byBox.Tasks[i].Sandbox] = true
	}
	for i := range boxes {
		b := &boxes[i]
		l.all++
		if b.Task != "" {
			l.labelled++
		}
		linked := b.Task != "" && has[b.Task]
		if linked {
			l.byLabel++
		}
		further, err := explainedElsewhere(ctx, rows, b)
		if err != nil {
			return err
		}
		if linked || further || b.Spare || slices.ContainsFunc(b.Keys(), func(key string) bool { return named[key] }) {
			l.explained++
			continue
		}
		l.nobody = append(l.nobody, unexplainedBox(b))
	}
	return nil
}

// rowsAndMore are the tables that explain sandboxes.
type rowsAndMore interface {
	reconcile.Tasks
	Explaining(ctx context.Context, by int, values []string) ([]string, error)
}

func explainedElsewhere(ctx context.Context, rows rowsAndMore, b *reconcile.Sandbox) (bool, error) {
	for _, key := range b.Further {
		found, err := rows.Explaining(ctx, key.By, []string{key.Value})
		if err != nil || len(found) > 0 {
			return len(found) > 0, err
		}
	}
	return false, nil
}

func unexplainedBox(b *reconcile.Sandbox) string {
	if b.Task == "" {
		return b.ID + " (no link)"
	}
	return fmt.Sprintf("%s (%q)", b.ID, text.Clip(b.Task, 60))
}

func (l *linked) lines() []reconcile.CheckResult {
	if l.all == 0 {
		return []reconcile.CheckResult{{What: "links", OK: true, Said: "no owned sandbox is there to look at"}}
	}
	line := reconcile.CheckResult{What: "links", OK: true,
		Said: fmt.Sprintf("rows explain %d of %d owned sandboxes", l.explained, l.all)}
	if l.labelled > 0 {
		line.Said += fmt.Sprintf("; of %d with the label %s %d name a row", l.labelled, l.entry.Link.TaskLabel, l.byLabel)
	}
	if len(l.nobody) == 0 {
		return []reconcile.CheckResult{line}
	}
	line.Said += "; nothing explains " + strings.Join(l.nobody[:min(3, len(l.nobody))], ", ")
	if more := len(l.nobody) - 3; more > 0 {
		line.Said += fmt.Sprintf(" and %d more", more)
	}
	line.Fix = "say who else does: tasks.explained_by, owns.except, owns.spares; `orphan` takes the rest for leaks"
	if l.explained == 0 && len(l.nobody) >= fewLinks {
		// Every sandbox a leak is less likely than a link that leads elsewhere.
		line.OK = false
		line.Fix = "correct link, tasks.columns.id or owns: no row explains a single one. Is it another column, or another " +
			"environment's database?"
	}
	return []reconcile.CheckResult{line}
}

// exclusive holds `owns.exclusive` against what the ledger saw: where many sandboxes never had a row, somebody else
// makes sandboxes that look like ours, and their tasks are in no table of ours.
func exclusive(without []string, all int, fails bool) reconcile.CheckResult {
	line := reconcile.CheckResult{What: "exclusive", OK: true}
	since := "of the last " + text.Duration(linksWithin)
	switch {
	case all == 0:
		line.Said = "nothing proves it yet: the ledger has seen no sandbox here"
		line.Fix = "observe for some days first"
	case len(without) == 0:
		line.Said = fmt.Sprintf("proven: all %d sandboxes %s had a task", all, since)
	default:
		line.Said = fmt.Sprintf("%d of %d sandboxes %s never had a task, as %s", len(without), all, since,
			strings.Join(without[:min(3, len(without))], ", "))
		line.Fix = "see whose these are; if not all are leaks, write `exclusive: false`, or owns.except for them"
		line.OK = !fails || len(without)*10 <= all
	}
	return line
}
