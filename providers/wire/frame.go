package wire

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// A Base holds what the calls of [reconcile.Provider] have in common: their order of
// steps, which is a guard, and the words around their errors. An adapter gives it its own
// calls. It is safe for concurrent use.
type Base struct {
	Entry  entry.Entry
	Now    func() time.Time         // our own clock
	Redact func(text string) string // nil: texts are left as they are

	probing sync.Map                  // ids of sandboxes with a probe under way
	marks   sync.Map                  // where parts of each scope's listing may well begin
	unread  atomic.Pointer[time.Time] // until when records of ends are not asked for: the credential may not
}

// Open makes the client and the frame of an entry. It makes no call.
func Open(e entry.Entry, o entry.Options, d Dialect) (*Client, *Base, error) {
	c, err := New(e, o, d)
	if err != nil {
		return nil, nil, err
	}
	return c, &Base{Entry: e, Now: c.Now, Redact: c.Redact}, nil
}

// Wrap puts the words of what was being done to which thing before an error; nil stays nil.
func (f *Base) Wrap(doing, thing string, err error) error {
	if err != nil {
		err = fmt.Errorf("%s %s of %s: %w", doing, thing, f.Entry.Name, err)
	}
	return err
}

// ErrAnother is the answer to a look that shows another sandbox than the one asked for, as
// where a look-up by id also finds names. The id itself is gone.
var ErrAnother = fmt.Errorf("%w: the answer is another sandbox", reconcile.ErrNotFound)

// A Look reads one sandbox by id, with errors as [reconcile.Provider]'s Get has them.
type Look func(ctx context.Context, id string) (reconcile.Sandbox, error)

// lookHolds is how long a look at a sandbox is as good as another one.
const lookHolds = 2 * time.Second

// Or is look, but of a sandbox that a look has just shown so, which is not made twice. It is for who needs nothing of a
// look but the sandbox. The time is asked when the look would be made: a process may have stood still before.
func (look Look) Or(seen reconcile.Sandbox) Look {
	return func(ctx context.Context, id string) (reconcile.Sandbox, error) {
		if JustLooked(&seen) {
			return seen, nil
		}
		return look(ctx, id)
	}
}

// JustLooked reports whether a look a moment ago showed the sandbox so.
func JustLooked(s *reconcile.Sandbox) bool {
	return !s.Looked.IsZero() && time.Since(s.Looked) < lookHolds
}

// Get reads one sandbox by look. What is asked for is not always an id: a row may hold a name.
func (f *Base) Get(ctx context.Context, id string, look Look) (reconcile.Sandbox, error) {
	s, err := f.look(ctx, id, look)
	var other *sameName
	if errors.As(err, &other) && f.rowsName(other) {
		err = fmt.Errorf("it is the name of sandbox %s, which is %s: rows that hold names need link: {sandbox: name}",
			text.Clip(other.ID, 80), first(text.Clip(other.Raw, 40), "in no known state"))
	}
	if err != nil {
		return reconcile.Sandbox{}, f.Wrap("get sandbox", id, err)
	}
	return s, nil
}

func (f *Base) look(ctx context.Context, id string, look Look) (reconcile.Sandbox, error) {
	if err := CheckID(id); err != nil {
		return reconcile.Sandbox{}, err
	}
	return look(ctx, id)
}

// Before makes sure that the id still is the sandbox expected and still ours. Else it says
// how that ends what is asked for.
func (f *Base) Before(ctx context.Context, expected reconcile.Sandbox, look Look) (
	now reconcile.Sandbox, how reconcile.Termination, err error,
) {
	now, err = f.look(ctx, expected.ID, look)
	switch {
	case errors.Is(err, ErrAnother), err == nil && now.ID != expected.ID:
		return now, reconcile.TerminateChanged, nil
	case errors.Is(err, reconcile.ErrNotFound):
		return now, reconcile.TerminateGone, nil
	case err != nil:
		return now, "", fmt.Errorf("look first: %w", err)
	case f.changed(expected, now):
		return now, reconcile.TerminateChanged, nil
	}
	return now, "", nil
}

// changed reports whether the sandbox lost the labels or the name that proved whose it is, or
// has some by now that except it.
func (f *Base) changed(expected, now reconcile.Sandbox) bool {
	return now.Excepted || expected.Owned && !now.Owned && !f.Entry.Owns.Referenced
}

// Terminate looks first and calls end only for what is still the sandbox expected and not
// at its end. One that is being deleted is asked for again only when it was expected so.
func (f *Base) Terminate(ctx context.Context, expected reconcile.Sandbox, look Look,
	end func(ctx context.Context, now reconcile.Sandbox) (reconcile.Termination, error),
) (reconcile.Termination, error) {
	now, how, err := f.Before(ctx, expected, look)
	switch {
	case how != "" || err != nil:
	case now.State == reconcile.SandboxEnded:
		how = reconcile.TerminateGone
	case now.State == reconcile.SandboxDeleting && expected.State != reconcile.SandboxDeleting:
		how = reconcile.TerminateAccepted
	case f.Entry.Passed(expected, now):
		how = reconcile.TerminateChanged
	default:
		how, err = end(ctx, now)
	}
	return how, f.Wrap("terminate sandbox", expected.ID, err)
}

// Turns are an adapter's ways to suspend a sandbox and to bring it back.
type Turns struct {
	Look  Look
	Stop  func(ctx context.Context, now reconcile.Sandbox) (reconcile.Termination, error)
	Start func(ctx context.Context, now reconcile.Sandbox) error
	// Resting tells what is stopped or suspended, which is done, from what is on the way
	// there, which is accepted.
	Resting func(now reconcile.Sandbox) reconcile.Termination
}

// Suspend looks first and calls Stop only for a running sandbox that is still the one
// expected.
func (f *Base) Suspend(ctx context.Context, expected reconcile.Sandbox, t Turns) (reconcile.Termination, error) {
	now, how, err := f.Before(ctx, expected, t.Look)
	if how == "" && err == nil {
		switch now.State {
		case reconcile.SandboxEnded:
			how = reconcile.TerminateGone
		case reconcile.SandboxStopped, reconcile.SandboxSuspended:
			how = t.Resting(now)
		case reconcile.SandboxCreating:
			err = fmt.Errorf("%w: it is %s", reconcile.ErrHeld, now.Raw)
		case reconcile.SandboxRunning:
			if f.Entry.Passed(expected, now) {
				return reconcile.TerminateChanged, nil
			}
			how, err = t.Stop(ctx, now)
		default:
			how, err = reconcile.TerminateRefused, fmt.Errorf("it is %s", first(now.Raw, "in no known state"))
		}
	}
	return how, f.Wrap("stop sandbox", expected.ID, err)
}

// Resume calls Start for a sandbox that is stopped or suspended and still the one expected.
// One that is being deleted is gone: it never comes back. One that runs or comes up is left
// as it is.
func (f *Base) Resume(ctx context.Context, expected reconcile.Sandbox, t Turns) error {
	return f.Wrap("start sandbox", expected.ID, f.resume(ctx, expected, t))
}

func (f *Base) resume(ctx context.Context, expected reconcile.Sandbox, t Turns) error {
	now, err := f.look(ctx, expected.ID, t.Look)
	switch {
	case err != nil:
		return err
	case f.changed(expected, now), now.ID != expected.ID:
		return errors.New("it is not the one expected any more")
	}
	switch now.State {
	case reconcile.SandboxRunning, reconcile.SandboxCreating:
		return nil
	case reconcile.SandboxDeleting, reconcile.SandboxEnded:
		return fmt.Errorf("%w: it is %s", reconcile.ErrNotFound, now.Raw)
	case reconcile.SandboxStopped, reconcile.SandboxSuspended:
		return t.Start(ctx, now)
	}
	return fmt.Errorf("it is %s", first(now.Raw, "in no known state"))
}

func (f *Base) redact(text string) string {
	if f.Redact == nil {
		return text
	}
	return f.Redact(text)
}

// Template reads a template by name. One that is certainly not there is missing, which is no
// error. The kind is the vendor's word for a template: "snapshot".
func (f *Base) Template(ctx context.Context, kind, name string,
	read func(ctx context.Context, name string) (reconcile.Template, Answer, error),
) (reconcile.Template, error) {
	if err := CheckID(name); err != nil {
		return reconcile.Template{}, f.Wrap("read "+kind, name, err)
	}
	t, a, err := read(ctx, name)
	switch {
	case errors.Is(err, reconcile.ErrNotFound):
		return reconcile.Template{Name: name, Raw: "missing", State: reconcile.TemplateMissing, AsOf: a.Date}, nil
	case err != nil:
		return reconcile.Template{}, f.Wrap("read "+kind, name, err)
	}
	t.AsOf = a.Date
	return t, nil
}

// Same is nil for the thing that was asked for. An answer that shows another one says that
// the id itself is not there: see [ErrAnother].
func Same(kind, want, got string) error {
	switch got {
	case want:
		return nil
	case "":
		return errors.New("the answer is no " + kind + ": it has no id")
	}
	return fmt.Errorf("%w: %s", ErrAnother, text.Clip(got, 80))
}

// Found is nil for the sandbox that was asked for by id, at a provider whose look-up by id finds
// names as well. One that has the id for its name says that the id itself is not there, see
// [ErrAnother]. Another one says nothing: the API or its description is odd.
func Found(id string, s reconcile.Sandbox) error {
	switch {
	case s.ID == id || s.ID == "":
		return Same("sandbox", id, s.ID)
	case s.Name == id:
		return &sameName{s}
	}
	return fmt.Errorf("the answer is another sandbox: %s", text.Clip(s.ID, 80))
}

// A sameName is a sandbox that was found by its name.
type sameName struct{ reconcile.Sandbox }

func (n *sameName) Error() string {
	return fmt.Sprintf("%v: %s, which has that name", ErrAnother, text.Clip(n.ID, 80))
}

func (n *sameName) Unwrap() error { return ErrAnother }

// rowsName reports whether a row that holds ids may mean the namesake: while that is there,
// nothing is gone.
func (f *Base) rowsName(n *sameName) bool {
	lost := n.State == reconcile.SandboxStopped || n.State == reconcile.SandboxEnded
	return f.Entry.Link.Sandbox == "id" && !lost
}

// Held is the error of a change that came while another one is under way: nothing was done,
// and it may work later.
func Held(err error) error { return fmt.Errorf("%w: %w", reconcile.ErrHeld, err) }

// Unable is the error of what an adapter, or the provider behind it, cannot do at all. It
// wraps [errors.ErrUnsupported].
func Unable(what string) error {
	return fmt.Errorf("%w: %s", errors.ErrUnsupported, strings.TrimSpace(what))
}
