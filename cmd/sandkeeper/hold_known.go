package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/app"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// holdLookFor is how long hold looks for what its target names. It holds already by then.
const holdLookFor = 20 * time.Second

// doubtHold warns when what is held matches nothing that is there now: it may be meant for
// what comes, or be misspelt, and then protects nothing.
func doubtHold(ctx context.Context, a *app.App, out io.Writer, arg string) {
	wanted, err := app.Targets(arg)
	if err != nil || reconcile.TypeOf(arg) == reconcile.SubjectProvider {
		return // refused before
	}
	ctx, cancel := context.WithTimeoutCause(ctx, holdLookFor, fmt.Errorf("not found within %s", holdLookFor))
	defer cancel()
	found, err := matchesAny(ctx, a, wanted)
	if found {
		return
	}
	what := strings.Join(wanted, " or ")
	doubt := fmt.Sprintf("%s matches no task and no sandbox that sandkeeper knows now; the hold counts once one appears. "+
		"If it is misspelt: sandkeeper unhold %s", what, arg)
	var other *otherSpelling
	switch {
	case errors.As(err, &other):
		doubt = fmt.Sprintf("%s holds nothing: %v", what, other)
	case err != nil:
		doubt = fmt.Sprintf("whether %s matches a task or a sandbox is not known: %v; the hold is recorded", what, err)
	}
	if a.Config.HasProvider(arg) {
		doubt += fmt.Sprintf("; %s is a provider, which is held by: sandkeeper hold provider:%s", arg, arg)
	}
	fmt.Fprintln(out, "warning:", text.Line(strings.ReplaceAll(doubt, "\n", "; ")))
}

// matchesAny reports whether any of the targets of one argument names something. What could
// not be asked is an error only when nothing else knows it.
func matchesAny(ctx context.Context, a *app.App, wanted []string) (bool, error) {
	var errs []error
	for _, ask := range []func(context.Context, *app.App, string) (bool, error){recalled, hasRow} { // the cheapest first
		for _, target := range wanted {
			found, err := ask(ctx, a, target)
			if found {
				return true, nil
			}
			errs = append(errs, err)
		}
	}
	found, err := inListings(ctx, a, wanted)
	return found, errors.Join(append(errs, err)...)
}

// recalled reports whether the ledger has the target as something that is there. It has seen
// what the last pass saw, without labels.
func recalled(ctx context.Context, a *app.App, target string) (bool, error) {
	id, is := reconcile.OfType(reconcile.SubjectSandbox, target)
	if !is {
		return false, nil
	}
	h, err := readHistory(ctx, a, id)
	return slices.ContainsFunc(h.Sandboxes, func(b reconcile.SandboxSeen) bool { return b.GoneAt.IsZero() }), err
}

// An otherSpelling is the id that a task's row has, when the database reads the one that was
// given as the same: a uuid in capitals. A hold is compared letter by letter.
type otherSpelling struct{ id string }

func (e *otherSpelling) Error() string {
	return fmt.Sprintf("the row's id is spelled %s; use: sandkeeper hold task:%s", e.id, e.id)
}

// hasRow reports whether a row of the task table has the id.
func hasRow(ctx context.Context, a *app.App, target string) (bool, error) {
	id, is := reconcile.OfType(reconcile.SubjectTask, target)
	if !is || a.Config.Tasks.None {
		return false, nil
	}
	if a.Tasks == nil {
		if err := a.OpenTasks(ctx); err != nil {
			return false, err
		}
	}
	rows, err := a.Tasks.ByID(ctx, []string{id})
	switch {
	case err != nil || len(rows.Tasks) == 0:
		return false, err
	case rows.Tasks[0].ID != id: // the row's own id comes first
		return false, &otherSpelling{id: rows.Tasks[0].ID}
	}
	return true, nil
}

// errFound ends a listing early.
var errFound = errors.New("found")

// inListings asks every provider for all its sandboxes: only that shows labels, and what came
// since the last pass.
func inListings(ctx context.Context, a *app.App, wanted []string) (bool, error) {
	errs := []error{a.OpenProviders()}
	for _, name := range slices.Sorted(maps.Keys(a.Providers)) {
		found := false
		listing, err := a.Providers[name].List(ctx, func(page []reconcile.Sandbox) error {
			found = found || slices.ContainsFunc(page, func(sb reconcile.Sandbox) bool { return namesSandbox(wanted, &sb) })
			if found {
				return errFound
			}
			return nil
		})
		if found {
			return true, nil
		}
		if err == nil && !listing.Complete {
			err = fmt.Errorf("the listing of %s is not complete", name)
		}
		errs = append(errs, err)
	}
	return false, errors.Join(errs...)
}

// namesSandbox reports whether a hold of one of the targets is about the sandbox. One that is
// not ours is never acted on, so no hold is about it.
func namesSandbox(wanted []string, sb *reconcile.Sandbox) bool {
	return sb.Owned && slices.ContainsFunc(wanted, func(target string) bool {
		of := reconcile.ParseSubject(target)
		value := of.Within()
		switch of.Type {
		case reconcile.SubjectTask:
			return sb.Task == value
		case reconcile.SubjectSandbox:
			return slices.Contains([]string{sb.ID, sb.Ref.String(), sb.Name, sb.AltKey}, value)
		}
		key, want := reconcile.LabelParts(value)
		got, has := sb.Labels[key]
		return has && got == want
	})
}
