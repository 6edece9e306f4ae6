package generic

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/formula"
	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// maxLog is the largest log that is read to save its end.
const maxLog = 8 << 20

// Probe runs a command and lists a path in the sandbox, both at once, as far as they are
// described.
func (p *Provider) Probe(ctx context.Context, s reconcile.Sandbox, policy reconcile.ProbePolicy) reconcile.ProbeResult {
	if p.spec.calls["exec"] == nil {
		policy.Exec = ""
	}
	if p.spec.calls["files"] == nil {
		policy.Path = ""
	}
	return p.base.Probe(ctx, s, policy, func(ctx context.Context) wire.ProbePart {
		v := vars{"id": s.ID, "command": policy.Exec, "path": policy.Path, "timeout": wire.Seconds(policy.Timeout)}
		var err error
		if v["endpoint"], err = p.endpoint(ctx, s); err != nil {
			return wire.Unclear(text.Clip("its address: "+err.Error(), 200))
		}
		return wire.Halves(policy,
			func(within time.Duration) wire.ProbePart {
				return p.try(ctx, p.spec.calls["exec"], v, within, p.spec.command)
			},
			func(within time.Duration) wire.ProbePart {
				return p.try(ctx, p.spec.calls["files"], v, within, p.spec.listing)
			})
	})
}

// endpoint is the sandbox's own address, where a call needs it.
func (p *Provider) endpoint(ctx context.Context, s reconcile.Sandbox) (string, error) {
	if s.Endpoint != "" || p.spec.fields.endpoint == nil {
		return s.Endpoint, nil
	}
	now, err := p.Get(ctx, s.ID)
	return now.Endpoint, err
}

// try makes the call of one half and judges the answer.
func (p *Provider) try(ctx context.Context, c *call, v vars, within time.Duration, t trial) wire.ProbePart {
	k, err := p.request(c, v)
	if err != nil {
		return wire.Unclear(text.Clip(err.Error(), 160))
	}
	k.Inside, k.Timeout, k.Max = true, within+wire.Margin, 4*wire.MaxOne
	return p.client.Judge(ctx, k, wire.Judge{
		Good: func(a wire.Answer, _ wire.APIError) (wire.ProbePart, bool) {
			r := p.spec.read(a)
			return t.judge(r), a.OK() && t.against(r) == reconcile.Infrastructure
		},
		Outcome: func(a wire.Answer, _ wire.APIError) reconcile.ProbeOutcome { return t.against(p.spec.read(a)) },
	})
}

// against is what the description says of an answer. Nothing else speaks against the sandbox;
// a gateway's 502 in its place may, a page that says 404 or 200 may not.
func (t trial) against(r reply) reconcile.ProbeOutcome {
	speaks := r.clear() || r.code >= 500
	switch {
	case r.clear() && t.resting.Is(r.env):
		return reconcile.NotAllowed
	case speaks && t.hung.Is(r.env):
		return reconcile.Hung
	case speaks && t.broken.Is(r.env):
		return reconcile.CannotStart
	}
	return reconcile.Infrastructure
}

// judge reads the result of a call that went well: an exit code, or a list.
func (t trial) judge(r reply) wire.ProbePart {
	v, err := t.result.Run(r.env)
	list, listed := v.([]any)
	exit, ran := formula.Whole(v)
	switch {
	case !r.ours || r.empty:
		return wire.Unclear(fmt.Sprintf("%d with something that is no result", r.code))
	case err != nil:
		return wire.Unclear(text.Clip(err.Error(), 160))
	case listed:
		return wire.Listed(len(list))
	case ran:
		return wire.Ran(exit, textOf(t.output, r.env))
	}
	return wire.Unclear("a result that is neither an exit code nor a list")
}

// Logs is the end of a sandbox's log, at most limit bytes.
func (p *Provider) Logs(ctx context.Context, s reconcile.Sandbox, limit int) (string, error) {
	if p.spec.calls["logs"] == nil {
		return "", wire.Unable("api.logs is not described for " + p.entry.Name)
	}
	out, err := p.log(ctx, s, limit)
	return p.client.Tail(out, limit), p.base.Wrap("read logs of sandbox", s.ID, err)
}

func (p *Provider) log(ctx context.Context, s reconcile.Sandbox, limit int) (string, error) {
	if err := wire.CheckID(s.ID); err != nil {
		return "", err
	}
	endpoint, err := p.endpoint(ctx, s)
	if err != nil {
		return "", err
	}
	k, err := p.request(p.spec.calls["logs"], vars{"id": s.ID, "limit": limit, "endpoint": endpoint})
	if err != nil {
		return "", err
	}
	k.Inside, k.Max, k.Accept = true, maxLog, "*/*"
	a, err := p.client.Once(ctx, k)
	if err == nil && !a.OK() {
		err = p.client.Refuse(a)
	}
	if err != nil || p.spec.text == nil {
		return string(a.Body), err
	}
	v, err := p.spec.text.Run(p.spec.read(a).env)
	out, ok := v.(string)
	if err == nil && !ok {
		err = errors.New("logs.text is no text")
	}
	return out, err
}
