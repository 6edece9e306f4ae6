package generic

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/formula"
	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// maxLog is the largest log that is read to save its end.
const maxLog = 8 << 20

// Probe runs a command and lists a path in the sandbox, both at once, as far as they are
// described.
func (p *Provider) Probe(ctx context.Context, s reconcile.Sandbox, policy reconcile.ProbePolicy) reconcile.ProbeResult {
	if p.spec.exec == nil {
		policy.Exec = ""
	}
	if p.spec.files == nil {
		policy.Path = ""
	}
	return p.frame.Probe(ctx, s, policy, func(ctx context.Context) wire.Half {
		v := vars{"id": s.ID, "command": policy.Exec, "path": policy.Path, "timeout": wire.Seconds(policy.Timeout)}
		var err error
		if v["endpoint"], err = p.endpoint(ctx, s); err != nil {
			return wire.Unclear(wire.Clip("its address: "+err.Error(), 200))
		}
		return wire.Both(
			func() wire.Half { return p.half(ctx, p.spec.exec, v, policy.Exec) },
			func() wire.Half { return p.half(ctx, p.spec.files, v, policy.Path) },
		)
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

// half makes one half of a probe; asked is "" where it is not wanted.
func (p *Provider) half(ctx context.Context, c *call, v vars, asked string) wire.Half {
	if asked == "" {
		return wire.Half{}
	}
	t, name := p.spec.command, "exec: "
	if c == p.spec.files {
		t, name = p.spec.listing, "files of "+asked+": "
	}
	h := p.try(ctx, c, v, t)
	h.Said = name + h.Said
	return h
}

// try makes the call and judges the answer. Only what the description says speaks against
// the sandbox, and a call that was handed over and not answered in time.
func (p *Provider) try(ctx context.Context, c *call, v vars, t trial) wire.Half {
	k, err := p.request(c, v)
	if err != nil {
		return wire.Unclear(wire.Clip(err.Error(), 160))
	}
	seconds, _ := v["timeout"].(int)
	k.Inside, k.Timeout, k.Max = true, time.Duration(seconds)*time.Second+wire.Margin, 4*wire.MaxOne
	a, err := p.client.Once(ctx, k)
	if err != nil {
		return wire.Silent(err, k.Timeout)
	}
	r := p.spec.read(a)
	words := wire.Clip((&wire.Refusal{Status: a.Status, Words: p.client.Said(a).Text}).Error(), 160)
	switch {
	case r.clear() && t.resting.Is(r.env):
		return wire.Half{Outcome: reconcile.NotAllowed, Said: words}
	case r.speaks() && t.hung.Is(r.env):
		return wire.Half{Outcome: reconcile.Hung, Said: words}
	case r.speaks() && t.broken.Is(r.env):
		return wire.Half{Outcome: reconcile.CannotStart, Said: words}
	case !a.OK():
		return wire.Unclear(words)
	case !r.ours || len(a.Body) == 0:
		return wire.Unclear(fmt.Sprintf("%d with something that is no result", a.Status))
	}
	return t.judge(r)
}

// speaks reports whether the answer may speak against the sandbox: a gateway's 502 in its
// place may, a page that says 404 or 200 may not.
func (r reply) speaks() bool { return r.clear() || r.code >= 500 }

// judge reads the result of a call that went well: an exit code, or a list.
func (t trial) judge(r reply) wire.Half {
	v, err := t.result.Run(r.env)
	if err != nil {
		return wire.Unclear(wire.Clip(err.Error(), 160))
	}
	if list, ok := v.([]any); ok {
		return wire.Listed(len(list))
	}
	exit, ok := formula.Whole(v)
	if !ok {
		return wire.Unclear("a result that is neither an exit code nor a list")
	}
	return wire.Ran(exit, text(t.output, r.env))
}

// Logs is the end of a sandbox's log, at most limit bytes.
func (p *Provider) Logs(ctx context.Context, s reconcile.Sandbox, limit int) (string, error) {
	if p.spec.logs == nil {
		return "", wire.Unable("api.logs is not described for " + p.entry.Name)
	}
	out, err := p.log(ctx, s, limit)
	if err != nil {
		return "", fmt.Errorf("read logs of sandbox %s of %s: %w", s.ID, p.entry.Name, err)
	}
	return p.client.Tail(out, limit), nil
}

func (p *Provider) log(ctx context.Context, s reconcile.Sandbox, limit int) (string, error) {
	if err := wire.CheckID(s.ID); err != nil {
		return "", err
	}
	endpoint, err := p.endpoint(ctx, s)
	if err != nil {
		return "", err
	}
	k, err := p.request(p.spec.logs, vars{"id": s.ID, "limit": limit, "endpoint": endpoint})
	if err != nil {
		return "", err
	}
	k.Inside, k.Max, k.Accept = true, maxLog, "*/*"
	a, err := p.client.Once(ctx, k)
	if err != nil {
		return "", err
	}
	if !a.OK() {
		return "", p.client.Refuse(a)
	}
	if p.spec.text == nil {
		return string(a.Body), nil
	}
	v, err := p.spec.text.Run(p.spec.read(a).env)
	out, ok := v.(string)
	if err == nil && !ok {
		err = errors.New("logs.text is no text")
	}
	return out, err
}
