package wire

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// MaxPages bounds a listing.
const MaxPages = 2000

// A Page is one page of a listing.
type Page struct {
	Sandboxes []reconcile.Sandbox
	Next      string    // cursor of the following page; "" when this was the last
	Date      time.Time // the provider's now
}

// ReadPage reads the page at a cursor; "" is the first.
type ReadPage func(ctx context.Context, cursor string) (Page, error)

// List reads one page of a listing into v, with the patience and the speed that listings get.
func List[P any](ctx context.Context, c *Client, address string, v *P) (Answer, error) {
	a, err := c.Read(ctx, Call{What: "list", URL: address, Max: MaxPage})
	if err != nil {
		return a, err
	}
	return a, DecodePage(c, a, v)
}

// PageOf makes a page of a listing's items. One without an id makes the whole page an error:
// what is left out of a listing looks as if it were gone.
func PageOf[B any](a Answer, next string, items []B, read func(*B) reconcile.Sandbox) (Page, error) {
	out := Page{Sandboxes: make([]reconcile.Sandbox, len(items)), Next: next, Date: a.Date}
	for i := range items {
		if out.Sandboxes[i] = read(&items[i]); out.Sandboxes[i].ID == "" {
			return Page{}, fmt.Errorf("item %d has no id", i)
		}
	}
	return out, nil
}

// Alive leaves out what has ended, which some providers list for months.
func (p Page) Alive() Page {
	p.Sandboxes = slices.DeleteFunc(p.Sandboxes, func(s reconcile.Sandbox) bool {
		return s.State == reconcile.SandboxEnded
	})
	return p
}

// EachPage calls visit with every page. It ends well only when the provider says that there
// is no further one. A sandbox that stood on an earlier page, because it moved while we
// read, is left out.
func EachPage(ctx context.Context, read ReadPage, visit func(Page) error) error {
	return eachPage(ctx, read, map[string]bool{}, visit)
}

func eachPage(ctx context.Context, read ReadPage, met map[string]bool, visit func(Page) error) error {
	seen := map[string]bool{}
	cursor := ""
	for n := 1; n <= MaxPages; n++ {
		page, err := read(ctx, cursor)
		if err != nil {
			return fmt.Errorf("page %d: %w", n, err)
		}
		page.Sandboxes = unmet(page.Sandboxes, met)
		if err := visit(page); err != nil {
			return &visitError{err}
		}
		if page.Next == "" {
			return nil
		}
		if seen[page.Next] {
			return fmt.Errorf("page %d leads back to a page that was read", n)
		}
		seen[page.Next] = true
		cursor = page.Next
	}
	return fmt.Errorf("more than %d pages", MaxPages)
}

// A visitError came from who was listed to, not from the provider.
type visitError struct{ error }

func (v *visitError) Unwrap() error { return v.error }

// unmet leaves out those that stood on an earlier page.
func unmet(page []reconcile.Sandbox, met map[string]bool) []reconcile.Sandbox {
	kept := 0
	for i := range page {
		if met[page[i].ID] {
			continue
		}
		met[page[i].ID] = true
		if kept != i {
			page[kept] = page[i]
		}
		kept++
	}
	return page[:kept]
}

// A Scope is one part of a listing that is read by itself: a region, a state, an
// application.
type Scope struct {
	Name string // for people; "" where there is only one scope
	Read ReadPage
}

// List reads every page of every scope. A scope that cannot be read makes the listing
// incomplete and is named in it; when no scope can be read, or there is only one, that is
// an error.
func (f *Frame) List(ctx context.Context, yield func([]reconcile.Sandbox) error, scopes ...Scope) (
	reconcile.Listing, error,
) {
	out := reconcile.Listing{Provider: f.Entry.Name}
	met := map[string]bool{}
	var failed []failure
	for _, scope := range scopes {
		err := eachPage(ctx, scope.Read, met, func(p Page) error {
			if out.Date.IsZero() {
				out.Date = p.Date
			}
			return yield(p.Sandboxes)
		})
		var ours *visitError
		switch {
		case err == nil:
		case len(scopes) == 1, errors.As(err, &ours), ctx.Err() != nil:
			return out, fmt.Errorf("list sandboxes of %s: %w", f.Entry.Name, err)
		default:
			failed = failures(failed, scope.Name, err)
			out.Missing = append(out.Missing, scope.Name)
		}
	}
	if len(out.Missing) > 0 && len(out.Missing) == len(scopes) {
		return out, fmt.Errorf("list sandboxes of %s: %w", f.Entry.Name, joined(failed))
	}
	out.Complete = len(failed) == 0
	return out, nil
}

// A failure is one cause for which scopes could not be read.
type failure struct {
	scopes string
	err    error
}

// failures adds a scope's failure: to those of the same cause, so that it is told once.
func failures(all []failure, scope string, err error) []failure {
	for i := range all {
		if all[i].err.Error() == err.Error() {
			all[i].scopes += ", " + scope
			return all
		}
	}
	return append(all, failure{scope, err})
}

func joined(all []failure) error {
	out := make([]error, len(all))
	for i, f := range all {
		out[i] = fmt.Errorf("%s: %w", f.scopes, f.err)
	}
	return errors.Join(out...)
}

// Find reads the owned sandboxes whose link label names the task, from pages that may show
// others too. Without such a link there are none, and read is not called.
func (f *Frame) Find(ctx context.Context, task string, read ReadPage) ([]reconcile.Sandbox, error) {
	if f.Entry.Link.TaskLabel == "" || task == "" {
		return nil, nil
	}
	var found []reconcile.Sandbox
	err := EachPage(ctx, read, func(p Page) error {
		for _, s := range p.Sandboxes {
			// Naming the task is what "referenced" asks for.
			s.Owned = s.Owned || f.Entry.Owns.ByRowOnly()
			if s.Owned && s.Task == task {
				found = append(found, s)
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("find sandboxes of task %s at %s: %w", task, f.Entry.Name, err)
	}
	return found, nil
}
