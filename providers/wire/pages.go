package wire

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// MaxPages bounds a listing, and maxEmpty how many of its pages in a row may show nothing: a
// listing that never ends keeps all providers' passes waiting.
const (
	MaxPages = 25_000 // five million sandboxes at 200 a page
	maxEmpty = 200
)

// A Page is one page of a listing.
type Page struct {
	Sandboxes []reconcile.Sandbox
	Next      string    // cursor of the following page; "" when this was the last
	Date      time.Time // the provider's now
}

// ReadPage reads the page at a cursor; "" is the first.
type ReadPage func(ctx context.Context, cursor string) (Page, error)

// List reads one page of a listing into v, with the patience and the speed that listings get. The answer of a good one
// is without its body: another page is read to where that was.
func List[P any](ctx context.Context, c *Client, address string, v *P) (Answer, error) {
	a, err := c.Read(ctx, Call{What: "list", URL: address, Max: MaxPage})
	if err != nil {
		return a, err
	}
	if err = DecodePage(c, a, v); err == nil {
		c.leavePage(a.Body)
		a.Body = nil
	}
	return a, err
}

// PageOf makes a page of a listing's items. One without an id makes the whole page an error:
// what is left out of a listing looks as if it were gone.
func PageOf[B any](a Answer, next string, items []B, read func(*B) reconcile.Sandbox) (Page, error) {
	return PageIn(make([]reconcile.Sandbox, 0, len(items)), a, next, items, read)
}

// PageIn makes a page in the room of another one, that nobody needs any more.
func PageIn[B any](room []reconcile.Sandbox, a Answer, next string, items []B, read func(*B) reconcile.Sandbox,
) (Page, error) {
	out := Page{Sandboxes: slices.Grow(room[:0], len(items))[:len(items)], Next: next, Date: a.Date}
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
	return eachPage(ctx, read, met{}, visit)
}

func eachPage(ctx context.Context, read ReadPage, all met, visit func(Page) error) error {
	s := &stretch{read: read}
	for !s.whole {
		page, err := s.ask(ctx)
		if err != nil {
			return err
		}
		page.Sandboxes, _, _ = all.note(page.Sandboxes, s)
		if err := visit(page); err != nil {
			return &visitError{err}
		}
		if err := s.went(page.Next, len(page.Sandboxes)); err != nil {
			return err
		}
	}
	return nil
}

// A visitError came from who was listed to, not from the provider.
type visitError struct{ error }

func (v *visitError) Unwrap() error { return v.error }

// A Scope is one part of a listing that is read by itself: a region, a state, an
// application.
type Scope struct {
	Name string // for people; "" where there is only one scope
	Read ReadPage
	Ours bool // only those with the labels that prove ours are asked for
	// From reads the same in the same order, oldest first, but only what was made at a moment or later. Nil: the
	// provider cannot be asked for that, and the pages are read one after the other.
	From func(made time.Time) ReadPage
}

// InTurn reads the pages of all scopes, one scope after the other.
func InTurn(scopes []Scope) ReadPage {
	return func(ctx context.Context, cursor string) (Page, error) {
		number, inner, _ := strings.Cut(cursor, " ")
		at, _ := strconv.Atoi(number) // "" is the first
		page, err := scopes[at].Read(ctx, inner)
		switch {
		case err != nil:
			return page, fmt.Errorf("%s: %w", scopes[at].Name, err)
		case page.Next != "":
			page.Next = fmt.Sprint(at, " ", page.Next)
		case at+1 < len(scopes):
			page.Next = fmt.Sprint(at+1, " ")
		}
		return page, nil
	}
}

// List reads every page of every scope. A scope that cannot be read makes the listing
// incomplete and is named in it; when no scope can be read, or there is only one, that is
// an error.
func (f *Base) List(ctx context.Context, yield func([]reconcile.Sandbox) error, scopes ...Scope) (
	reconcile.Listing, error,
) {
	out := reconcile.Listing{Provider: f.Entry.Name}
	all := met{}
	var failed []failure
	for _, scope := range scopes {
		out.OursOnly = out.OursOnly || scope.Ours
		before, _ := f.marks.Load(scope.Name)
		marks, _ := before.([]time.Time)
		marks, err := eachOf(ctx, scope, marks, all, func(p Page) error {
			if out.Date.IsZero() {
				out.Date = p.Date
			}
			return yield(p.Sandboxes)
		})
		if err == nil {
			f.marks.Store(scope.Name, marks)
		}
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
func (f *Base) Find(ctx context.Context, task string, read ReadPage) ([]reconcile.Sandbox, error) {
	if f.Entry.Link.TaskLabel == "" || task == "" {
		return nil, nil
	}
	found, err := f.search(ctx, read, func(s *reconcile.Sandbox) bool { return s.Owned && s.Task == task })
	return found, f.Wrap("find sandboxes of task", task, err)
}

// Named reads the sandboxes that rows name by a value that is no id. One with a name is read by
// look, where the vendor can be asked for names; else, and where the value is a label's, it is
// searched on the pages of sandboxes that have these labels, which may show others too.
func (f *Base) Named(ctx context.Context, value string, look Look,
	pages func(labels map[string]string) ReadPage,
) (found []reconcile.Sandbox, err error) {
	key, byLabel := strings.CutPrefix(f.Entry.Link.Sandbox, "label:")
	switch {
	case byLabel || look == nil:
		want := map[string]string{}
		if maps.Copy(want, f.Entry.Owns.Labels); byLabel {
			want[key] = value
		}
		found, err = f.search(ctx, pages(want), func(s *reconcile.Sandbox) bool {
			return s.SandboxKey == value || s.AltKey == value
		})
	default:
		var one reconcile.Sandbox
		if one, err = f.look(ctx, value, look); errors.Is(err, reconcile.ErrNotFound) {
			return nil, nil
		}
		f.Entry.OwnNamed(&one)
		found = []reconcile.Sandbox{one}
	}
	if err != nil {
		return nil, f.Wrap("find sandbox", text.Clip(value, 80), err)
	}
	return found, nil
}

// search reads all pages and keeps what is wanted.
func (f *Base) search(ctx context.Context, read ReadPage, wanted func(*reconcile.Sandbox) bool) (
	found []reconcile.Sandbox, err error,
) {
	err = EachPage(ctx, read, func(p Page) error {
		for _, s := range p.Sandboxes {
			// Naming the task, or being named by a row, is what "referenced" asks for.
			f.Entry.OwnNamed(&s)
			if wanted(&s) {
				found = append(found, s)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return found, nil
}
