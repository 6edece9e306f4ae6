package cloudflare

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// Get reads one sandbox by id: its record and its container. Gone is what has neither, and the
// id of one that is listed under another one by now: see Decisions.
func (p *Provider) Get(ctx context.Context, id string) (reconcile.Sandbox, error) {
	return p.base.Get(ctx, id, func(ctx context.Context, id string) (reconcile.Sandbox, error) {
		s, _, err := p.exactly(ctx, id)
		if errors.Is(err, wire.ErrAnother) && s.State.Exists() && !p.lists(s.ID) {
			err = fmt.Errorf("it goes by %s now, which no listing has shown yet", text.Clip(s.ID, 80))
		}
		return s, err
	})
}

// exactly is look for what goes by this very id.
func (p *Provider) exactly(ctx context.Context, id string) (reconcile.Sandbox, pair, error) {
	s, of, err := p.look(ctx, id)
	if err == nil && s.ID != id {
		err = fmt.Errorf("%w: it goes by %s now", wire.ErrAnother, text.Clip(s.ID, 80))
	}
	return s, of, err
}

// look reads the sandbox that goes by the id, or did when another half was configured.
func (p *Provider) look(ctx context.Context, id string) (reconcile.Sandbox, pair, error) {
	of, asOf, err := p.pair(ctx, id)
	if err != nil {
		return reconcile.Sandbox{}, of, err
	}
	return p.sandbox(of, asOf), of, nil
}

// pair reads what there is of a sandbox, the record first.
func (p *Provider) pair(ctx context.Context, id string) (of pair, asOf time.Time, err error) {
	if p.worker == nil {
		of.instance, asOf, err = p.control.find(ctx, id, nil)
		return of, asOf, err
	}
	of.record, asOf, err = p.worker.one(ctx, id)
	if p.control == nil && isObject(id) && errors.Is(err, reconcile.ErrNotFound) {
		of.record, asOf, err = p.worker.listed(ctx, id)
	}
	if p.control == nil || err != nil && !errors.Is(err, reconcile.ErrNotFound) {
		return of, asOf, err
	}
	p.learn(of.record)
	var date time.Time
	of.instance, date, err = p.control.find(ctx, id, of.record)
	if err == nil {
		for _, name := range []string{of.instance.Name, p.recordOf(of.instance)} {
			if of.record == nil && (err == nil || errors.Is(err, reconcile.ErrNotFound)) && name != "" && name != id {
				of.record, asOf, err = p.worker.one(ctx, name)
			}
		}
	}
	if errors.Is(err, reconcile.ErrNotFound) && of != (pair{}) {
		err = nil // the other half has it
	}
	if asOf.IsZero() {
		asOf = date
	}
	return of, asOf, err
}

// Terminate asks the Worker to end the sandbox: its container, if there is one, and its
// record. That repairs a record without a container as well. It looks first, and leaves
// alone what was created again under the same id.
func (p *Provider) Terminate(ctx context.Context, expected reconcile.Sandbox) (reconcile.Termination, error) {
	var of pair
	look := func(ctx context.Context, id string) (s reconcile.Sandbox, err error) {
		s, of, err = p.exactly(ctx, id)
		if err == nil && !expected.CreatedAt.IsZero() && s.CreatedAt.After(expected.CreatedAt.Add(time.Second)) {
			err = fmt.Errorf("%w: created again at %s", wire.ErrAnother, text.Time(s.CreatedAt))
		}
		return s, err
	}
	return p.base.Terminate(ctx, expected, look,
		func(ctx context.Context, _ reconcile.Sandbox) (how reconcile.Termination, err error) {
			if of.record != nil {
				how, err = p.worker.end(ctx, of.record.ID)
			}
			if of.instance != nil && (of.record == nil || how == reconcile.TerminateGone) {
				return p.kill(ctx, of.instance)
			}
			return how, err
		})
}

// Probe lets the Worker run a command and list a path in the sandbox, both at once. It looks
// first, and nothing is asked of what sleeps, or of a record without a container: a careless
// Worker would start one.
func (p *Provider) Probe(ctx context.Context, s reconcile.Sandbox, policy reconcile.ProbePolicy) reconcile.ProbeResult {
	return p.base.Probe(ctx, s, policy, func(ctx context.Context) wire.ProbePart {
		switch {
		case p.worker == nil:
			return wire.Barred("the control plane cannot probe; give worker_url")
		case s.NoContainer:
			return wire.Barred("nothing runs behind its record")
		}
		now, of, err := p.exactly(ctx, s.ID)
		switch {
		case err != nil:
			return wire.Unclear(text.Clip("look first: "+err.Error(), 200))
		case of.record == nil:
			return wire.Barred("the Worker has no record of it to run anything by")
		case now.NoContainer, now.State != reconcile.SandboxRunning:
			return wire.Barred("by now the sandbox is " + cmp.Or(now.Raw, "in no known state"))
		}
		return wire.Halves(policy,
			func(within time.Duration) wire.ProbePart {
				return p.worker.exec(ctx, of.record.ID, policy.Exec, within)
			},
			func(within time.Duration) wire.ProbePart {
				return p.worker.files(ctx, of.record.ID, policy.Path, within)
			})
	})
}
