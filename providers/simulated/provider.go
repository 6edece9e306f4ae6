package simulated

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A Provider shows a world to the reconciler directly, without a wire in between. It
// keeps the same promises as the adapters of real providers.
type Provider struct {
	world *World
	entry entry.Entry
}

var _ reconcile.Provider = (*Provider)(nil)

// Capabilities are what it can do: all that there is.
func (p *Provider) Capabilities() reconcile.Capabilities {
	return reconcile.Capabilities{Named: p, Templates: p, Suspender: p, Logs: p, Usage: p,
		Executions: p, Quotas: p, Checker: p, Deaths: p, ListsEnding: true, StopMayDelete: true,
		NamesLast: p.world.o.StableName, IndexLag: p.world.o.IndexLag, TwoStores: p.world.o.TwoStores}
}

// Provider is the world as an entry of the config sees it.
func (w *World) Provider(e entry.Entry) *Provider { return &Provider{world: w, entry: e} }

// World is what the provider shows.
func (p *Provider) World() *World { return p.world }

// List reads page after page, oldest first.
func (p *Provider) List(ctx context.Context, yield func([]reconcile.Sandbox) error) (reconcile.Listing, error) {
	out := reconcile.Listing{Provider: p.entry.Name, Date: p.world.Now()}
	err := p.pages(ctx, List, Query{Hidden: true}, yield)
	if err != nil {
		return out, fmt.Errorf("list sandboxes of %s: %w", p.entry.Name, err)
	}
	out.Complete = true
	return out, nil
}

func (p *Provider) pages(ctx context.Context, kind Kind, q Query, yield func([]reconcile.Sandbox) error) error {
	cursors := map[string]bool{}
	for n := 1; ; n++ {
		var page []reconcile.Sandbox
		var next string
		err := p.call(ctx, Call{Kind: kind, ID: q.Labels[p.entry.Link.TaskLabel], Page: n}, func(f Fault) error {
			page, next = p.page(q, f)
			return nil
		})
		if err != nil {
			return fmt.Errorf("page %d: %w", n, err)
		}
		if err := yield(page); err != nil || next == "" {
			return err
		}
		if cursors[next] {
			return fmt.Errorf("page %d leads back to a page that was read", n)
		}
		cursors[next] = true
		q.After = next
	}
}

func (p *Provider) page(q Query, f Fault) ([]reconcile.Sandbox, string) {
	boxes, next := p.world.Page(q, f)
	page := make([]reconcile.Sandbox, len(boxes))
	for i, b := range boxes {
		page[i] = p.sandbox(b)
	}
	return page, next
}

func (p *Provider) sandbox(b Sandbox) reconcile.Sandbox {
	s := reconcile.Sandbox{
		Ref: reconcile.Ref{ID: b.ID}, Name: b.FormerName(), Raw: b.Raw, State: b.State, Template: b.Template,
		Region: b.Region, Size: b.Size, Labels: b.Labels, CreatedAt: b.CreatedAt, UpdatedAt: b.UpdatedAt,
		LastActivityAt: b.LastActivityAt, ExpiresAt: b.ExpiresAt, AsOf: p.world.Now(), Error: b.Error,
		NoContainer: b.NoContainer, StableName: p.world.o.StableName,
	}
	if b.Ephemeral {
		s.NotStoppable = "it is ephemeral: a stop would delete it"
	}
	if s.Raw == "" {
		s.Raw = string(b.State)
	}
	if b.Doomed && s.State != reconcile.SandboxEnded {
		s.State = reconcile.SandboxDeleting
	}
	p.entry.Mark(&s)
	if s.StableName && p.entry.Link.Sandbox == "id" {
		s.AltKey = s.Name // where names last, rows may hold either
	}
	return s
}

// Get reads one sandbox by id.
func (p *Provider) Get(ctx context.Context, id string) (reconcile.Sandbox, error) {
	var out reconcile.Sandbox
	err := p.call(ctx, Call{Kind: Get, ID: id}, func(Fault) error {
		b, err := p.world.Look(id)
		if err == nil && b.ID != id {
			err = ErrGone // found by its name
		}
		out = p.sandbox(b)
		return err
	})
	if err != nil {
		return reconcile.Sandbox{}, fmt.Errorf("get sandbox %s of %s: %w", id, p.entry.Name, err)
	}
	return out, nil
}

// Find asks for the sandboxes whose link label names the task.
func (p *Provider) Find(ctx context.Context, task string) ([]reconcile.Sandbox, error) {
	label := p.entry.Link.TaskLabel
	if label == "" || task == "" {
		return nil, nil
	}
	var found []reconcile.Sandbox
	err := p.pages(ctx, Find, Query{Hidden: true, Labels: map[string]string{label: p.entry.Link.Value(task)}},
		func(page []reconcile.Sandbox) error {
			for _, s := range page {
				p.entry.OwnNamed(&s)
				if s.Owned && s.Task == task {
					found = append(found, s)
				}
			}
			return nil
		})
	if err != nil {
		return nil, fmt.Errorf("find sandboxes of task %s at %s: %w", task, p.entry.Name, err)
	}
	return found, nil
}

// Named reads the sandboxes that rows name by the value.
func (p *Provider) Named(ctx context.Context, value string) ([]reconcile.Sandbox, error) {
	var found []reconcile.Sandbox
	err := p.pages(ctx, Find, Query{Hidden: true}, func(page []reconcile.Sandbox) error {
		for _, s := range page {
			p.entry.OwnNamed(&s)
			if s.SandboxKey == value || s.AltKey == value {
				found = append(found, s)
			}
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("find sandbox %s at %s: %w", value, p.entry.Name, err)
	}
	return found, nil
}

// Terminate deletes the sandbox, if it still is ours.
func (p *Provider) Terminate(ctx context.Context, expected reconcile.Sandbox) (reconcile.Termination, error) {
	now, err := expected, error(nil)
	if !wire.JustLooked(&expected) {
		now, err = p.Get(ctx, expected.ID)
	}
	switch {
	case errors.Is(err, reconcile.ErrNotFound), err == nil && now.State == reconcile.SandboxEnded:
		return reconcile.TerminateGone, nil
	case err != nil:
		return "", err
	case p.changed(expected, now):
		return reconcile.TerminateChanged, nil
	case now.State == reconcile.SandboxDeleting && expected.State != reconcile.SandboxDeleting:
		return reconcile.TerminateAccepted, nil
	case p.entry.Passed(expected, now):
		return reconcile.TerminateChanged, nil
	}
	err = p.call(ctx, Call{Kind: Delete, ID: expected.ID}, func(f Fault) error {
		if f.Effect == NotDone {
			return nil
		}
		_, err := p.world.Destroy(expected.ID)
		return err
	})
	return p.termination(expected.ID, err)
}

func (p *Provider) termination(id string, err error) (reconcile.Termination, error) {
	var no *Refused
	switch {
	case err == nil:
		return reconcile.TerminateAccepted, nil
	case errors.Is(err, reconcile.ErrNotFound):
		return reconcile.TerminateGone, nil
	case errors.Is(err, ErrBusy):
		return "", fmt.Errorf("terminate sandbox %s of %s: %w: %w", id, p.entry.Name, reconcile.ErrHeld, err)
	case errors.As(err, &no):
		return reconcile.TerminateRefused, fmt.Errorf("terminate sandbox %s of %s: %w", id, p.entry.Name, err)
	}
	return "", fmt.Errorf("terminate sandbox %s of %s: %w", id, p.entry.Name, err)
}

// call journals a call, lets the fault that strikes it happen, and does it.
func (p *Provider) call(ctx context.Context, c Call, do func(Fault) error) error {
	if p.entry.Timeout > 0 && c.Kind != Exec && c.Kind != Files {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, p.entry.Timeout)
		defer cancel()
	}
	f := p.world.Called(c)
	if err := p.world.Wait(ctx, f); err != nil {
		return err
	}
	switch f.Effect {
	case Answer:
		return f.meaning()
	case Drop:
		return errCut
	case CutPage:
		return errors.New("read the answer's JSON: unexpected end")
	}
	asked := time.Now()
	err := do(f)
	reconcile.NoteClock(ctx, p.world.Now(), asked)
	switch {
	case f.Effect == DoneThenDrop:
		return errCut
	case f.Effect == DoneThenAnswer:
		return f.meaning()
	case errors.Is(err, ErrGone):
		return reconcile.ErrNotFound
	}
	return err
}

var errCut = errors.New("connection reset by peer")

// meaning is the error that an adapter would make of the fault's answer.
func (f Fault) meaning() error {
	json := f.ContentType == "" || f.ContentType == "application/json"
	switch {
	case f.Code() == 401 || f.Code() == 403:
		return fmt.Errorf("%d: %w", f.Code(), reconcile.ErrUnauthorized)
	case f.Code() == 429:
		return fmt.Errorf("%d: %w", f.Code(), reconcile.ErrThrottled)
	case f.Code() == 404 && json:
		return fmt.Errorf("%d: %w", f.Code(), reconcile.ErrNotFound)
	}
	return &status{f.Code()}
}

// A status is an answer that means nothing else.
type status struct{ code int }

func (s *status) Error() string { return fmt.Sprintf("%d: not an answer that says anything", s.code) }

// limit is a probe's time-out inside the sandbox.
func limit(p reconcile.ProbePolicy) time.Duration { return max(p.Timeout, time.Second) }
