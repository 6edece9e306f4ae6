package simulated

import (
	"context"
	"errors"
	"fmt"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Suspend stops the sandbox, if it still is ours; its disk is kept.
func (p *Provider) Suspend(ctx context.Context, expected reconcile.Sandbox) (reconcile.Termination, error) {
	now, err := p.Get(ctx, expected.ID)
	switch {
	case errors.Is(err, reconcile.ErrNotFound):
		return reconcile.TerminateGone, nil
	case err != nil:
		return "", err
	case p.changed(expected, now):
		return reconcile.TerminateChanged, nil
	}
	switch now.State {
	case reconcile.SandboxSuspended:
		return reconcile.TerminateDone, nil
	case reconcile.SandboxStopped:
		return stopped(now.Raw), nil
	case reconcile.SandboxUnknown:
		return reconcile.TerminateRefused, fmt.Errorf("stop sandbox %s of %s: it is %s", expected.ID, p.entry.Name, now.Raw)
	}
	if p.entry.Passed(expected, now) {
		return reconcile.TerminateChanged, nil
	}
	if b, _ := p.world.Sandbox(expected.ID); b.Ephemeral {
		return reconcile.TerminateRefused, fmt.Errorf("stop sandbox %s of %s: it is ephemeral: a stop would delete it",
			expected.ID, p.entry.Name)
	}
	return p.stop(ctx, expected.ID)
}

func (p *Provider) stop(ctx context.Context, id string) (reconcile.Termination, error) {
	var after Sandbox
	err := p.call(ctx, Call{Kind: Stop, ID: id}, func(f Fault) (err error) {
		after, err = p.halt(id, f)
		return err
	})
	var no *Refused
	switch {
	case err == nil:
		return stopped(after.Raw), nil
	case errors.Is(err, reconcile.ErrNotFound):
		return reconcile.TerminateGone, nil
	case errors.As(err, &no):
		return reconcile.TerminateRefused, fmt.Errorf("stop sandbox %s of %s: %w", id, p.entry.Name, err)
	}
	return "", fmt.Errorf("stop sandbox %s of %s: %w", id, p.entry.Name, held(err))
}

func (p *Provider) changed(expected, now reconcile.Sandbox) bool {
	return now.Excepted || expected.Owned && !now.Owned && !p.entry.Owns.Referenced
}

func stopped(raw string) reconcile.Termination {
	if raw == stopping {
		return reconcile.TerminateAccepted
	}
	return reconcile.TerminateDone
}

func (p *Provider) halt(id string, f Fault) (Sandbox, error) {
	if f.Effect == NotDone {
		return Sandbox{Raw: stopping}, nil
	}
	return p.world.Halt(id)
}

// held tells a change that came too early from one that failed.
func held(err error) error {
	if errors.Is(err, ErrBusy) {
		return fmt.Errorf("%w: %w", reconcile.ErrHeld, err)
	}
	return err
}

// Resume starts the sandbox again, if it still is ours.
func (p *Provider) Resume(ctx context.Context, expected reconcile.Sandbox) error {
	now, err := p.Get(ctx, expected.ID)
	switch {
	case err != nil:
		return err
	case p.changed(expected, now):
		return fmt.Errorf("start sandbox %s of %s: it is not the one expected any more", expected.ID, p.entry.Name)
	}
	switch now.State {
	case reconcile.SandboxRunning, reconcile.SandboxCreating:
		return nil
	case reconcile.SandboxDeleting, reconcile.SandboxEnded:
		return fmt.Errorf("start sandbox %s of %s: %w: it is %s", expected.ID, p.entry.Name, reconcile.ErrNotFound, now.Raw)
	case reconcile.SandboxUnknown:
		return fmt.Errorf("start sandbox %s of %s: it is %s", expected.ID, p.entry.Name, now.Raw)
	}
	err = p.call(ctx, Call{Kind: Start, ID: expected.ID}, func(f Fault) error {
		if f.Effect == NotDone {
			return nil
		}
		_, err := p.world.Start(expected.ID)
		return err
	})
	if err != nil {
		return fmt.Errorf("start sandbox %s of %s: %w", expected.ID, p.entry.Name, held(err))
	}
	return nil
}
