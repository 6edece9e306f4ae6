package simulated

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// Probe runs a command and lists a path in the sandbox. It is no activity.
func (p *Provider) Probe(ctx context.Context, s reconcile.Sandbox, policy reconcile.ProbePolicy) reconcile.ProbeResult {
	out := reconcile.ProbeResult{Ref: s.Ref, At: p.world.Now(), Outcome: reconcile.Answered}
	if s.State != reconcile.SandboxRunning || policy.Off || policy.Exec == "" && policy.Path == "" {
		out.Outcome, out.Detail = reconcile.NotAllowed, "the sandbox is "+s.Raw
		return out
	}
	var said []string
	for _, half := range []struct {
		kind Kind
		name string
		skip bool
		do   func() Trouble
	}{
		{Exec, "exec", policy.Exec == "", func() (met Trouble) {
			out.Exit, met = p.exec(s.ID, policy)
			return met
		}},
		{Files, "files of " + policy.Path, policy.Path == "", func() Trouble { return p.files(s.ID, policy) }},
	} {
		if half.skip {
			continue
		}
		within, cancel := context.WithTimeout(ctx, limit(policy)+2*time.Second)
		outcome, words := p.half(within, Call{Kind: half.kind, ID: s.ID}, half.do)
		cancel()
		if outcome == reconcile.Hung && ctx.Err() != nil {
			outcome = reconcile.Infrastructure // the caller's patience ended, not the sandbox's time
		}
		out.Outcome = worse(out.Outcome, outcome)
		said = append(said, half.name+": "+words)
	}
	out.Detail, out.Took = strings.Join(said, "; "), p.world.Now().Sub(out.At)
	return out
}

func (p *Provider) exec(id string, policy reconcile.ProbePolicy) (exit *int, met Trouble) {
	r, trouble := p.world.Exec(id, policy.Exec, limit(policy))
	switch {
	case r.Exit < 0:
		return nil, NoFork
	case trouble != Healthy:
		return nil, trouble
	}
	return &r.Exit, Healthy
}

func (p *Provider) files(id string, policy reconcile.ProbePolicy) Trouble {
	_, trouble := p.world.Folder(id, policy.Path)
	return trouble
}

func (p *Provider) half(ctx context.Context, c Call, do func() Trouble) (reconcile.ProbeOutcome, string) {
	var met Trouble
	err := p.call(ctx, c, func(Fault) error {
		met = do()
		return nil
	})
	var answered *status
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return reconcile.Hung, "no answer"
	case errors.As(err, &answered) && answered.code >= 500:
		return reconcile.CannotStart, err.Error()
	case errors.As(err, &answered) && answered.code == 408:
		return reconcile.Hung, err.Error()
	case err != nil:
		return reconcile.Infrastructure, err.Error()
	}
	return met.outcome(), string(met)
}

func (t Trouble) outcome() reconcile.ProbeOutcome {
	switch t {
	case Healthy:
		return reconcile.Answered
	case Hung, TimedOut:
		return reconcile.Hung
	case NotRunning:
		return reconcile.NotAllowed
	case Unknown:
		return reconcile.Infrastructure
	}
	return reconcile.CannotStart
}

// worse is the outcome that a probe of two halves has.
func worse(a, b reconcile.ProbeOutcome) reconcile.ProbeOutcome {
	for _, o := range []reconcile.ProbeOutcome{reconcile.CannotStart, reconcile.Hung, reconcile.Infrastructure,
		reconcile.NotAllowed} {
		if a == o || b == o {
			return o
		}
	}
	return reconcile.Answered
}

// Template reads a template by name or id.
func (p *Provider) Template(ctx context.Context, name string) (reconcile.Template, error) {
	var t Template
	err := p.call(ctx, Call{Kind: Snapshot, ID: name}, func(Fault) (err error) {
		t, err = p.world.TemplateOf(name)
		return err
	})
	now := p.world.Now()
	if errors.Is(err, reconcile.ErrNotFound) {
		return reconcile.Template{Name: name, Raw: "missing", State: reconcile.TemplateMissing, AsOf: now}, nil
	}
	if err != nil {
		return reconcile.Template{}, fmt.Errorf("read template %s of %s: %w", name, p.entry.Name, err)
	}
	out := reconcile.Template{ID: t.ID, Name: t.Name, Raw: t.Raw, State: t.State, Error: t.Error, LastUsed: t.LastUsedAt,
		AsOf: now}
	if out.Raw == "" {
		out.Raw = string(t.State)
	}
	if t.State == reconcile.TemplateActive && !t.General {
		out.ExpiresAt = t.usedAt().Add(UnusedFor)
	}
	return out, nil
}

// Activate makes an inactive template usable again, after a while.
func (p *Provider) Activate(ctx context.Context, name string) error {
	err := p.call(ctx, Call{Kind: Activate, ID: name}, func(f Fault) error {
		if f.Effect == NotDone {
			return nil
		}
		t, err := p.world.ActivateTemplate(name)
		if t.State == reconcile.TemplateActive || t.State == reconcile.TemplateBuilding {
			return nil
		}
		return err
	})
	if err != nil {
		return fmt.Errorf("activate template %s of %s: %w", name, p.entry.Name, err)
	}
	return nil
}

// Logs is the end of what the sandbox printed.
func (p *Provider) Logs(ctx context.Context, s reconcile.Sandbox, limit int) (string, error) {
	var log string
	err := p.call(ctx, Call{Kind: LogsOf, ID: s.ID}, func(Fault) error {
		var trouble Trouble
		log, trouble = p.world.LogOf(s.ID)
		return trouble.err()
	})
	if err != nil {
		return "", fmt.Errorf("read logs of sandbox %s of %s: %w", s.ID, p.entry.Name, err)
	}
	return text.Tail(log, limit), nil
}

// Usage is what the sandbox uses.
func (p *Provider) Usage(ctx context.Context, s reconcile.Sandbox) (reconcile.Resources, error) {
	var out reconcile.Resources
	err := p.call(ctx, Call{Kind: UsageOf, ID: s.ID}, func(Fault) error {
		var trouble Trouble
		out, trouble = p.world.Measure(s.ID)
		return trouble.err()
	})
	if err != nil {
		return reconcile.Resources{}, fmt.Errorf("measure sandbox %s of %s: %w", s.ID, p.entry.Name, err)
	}
	return out, nil
}

// Executions are what the sandbox was asked to run and has not finished.
func (p *Provider) Executions(ctx context.Context, s reconcile.Sandbox) (reconcile.ExecutionsSeen, error) {
	var out reconcile.ExecutionsSeen
	err := p.call(ctx, Call{Kind: Queue, ID: s.ID}, func(Fault) error {
		var trouble Trouble
		out, trouble = p.world.ExecutionsOf(s.ID)
		return trouble.err()
	})
	if err != nil {
		return reconcile.ExecutionsSeen{}, fmt.Errorf("read executions of sandbox %s of %s: %w", s.ID, p.entry.Name, err)
	}
	return out, nil
}

func (t Trouble) err() error {
	if t == Healthy {
		return nil
	}
	return errors.New(string(t))
}

// Quotas are the account's limits and what is used of them.
func (p *Provider) Quotas(ctx context.Context) ([]reconcile.Quota, error) {
	var used, limits Limits
	err := p.call(ctx, Call{Kind: AccountOf}, func(Fault) error {
		used, limits = p.world.Account()
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read quotas of %s: %w", p.entry.Name, err)
	}
	return []reconcile.Quota{
		{Name: "cpu", Used: used.CPU, Limit: limits.CPU},
		{Name: "memory", Used: used.MemoryGiB, Limit: limits.MemoryGiB},
		{Name: "disk", Used: used.DiskGiB, Limit: limits.DiskGiB},
	}, nil
}

// Check makes one call.
func (p *Provider) Check(ctx context.Context) []reconcile.CheckResult {
	if _, err := p.Quotas(ctx); err != nil {
		return []reconcile.CheckResult{{What: "credential", Said: err.Error(), Fix: "lift the fault"}}
	}
	return []reconcile.CheckResult{{What: "credential", OK: true, Said: "a simulated world needs none"}}
}

// Death is what is on record of the end of a sandbox.
func (p *Provider) Death(ctx context.Context, id string) (reconcile.Death, error) {
	var s Sandbox
	err := p.call(ctx, Call{Kind: LogsOf, ID: id}, func(Fault) (err error) {
		s, err = p.world.Died(id)
		return err
	})
	if err != nil {
		return reconcile.Death{}, fmt.Errorf("read the end of sandbox %s of %s: %w", id, p.entry.Name, err)
	}
	return reconcile.Death{At: s.EndedAt, AsOf: p.world.Now(), Reason: s.EndedFor, By: s.EndedBy, Record: "record"}, nil
}
