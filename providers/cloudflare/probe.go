package cloudflare

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Probe lets the Worker run a command and list a path in the sandbox, both at once. It looks
// first, and nothing is asked of what sleeps, or of a record without a container: a careless
// Worker would start one.
func (p *Provider) Probe(ctx context.Context, s reconcile.Sandbox, policy reconcile.ProbePolicy) reconcile.ProbeResult {
	return p.frame.Probe(ctx, s, policy, func(ctx context.Context) wire.Half {
		switch {
		case p.worker == nil:
			return wire.Half{Outcome: reconcile.NotAllowed, Said: "the control plane cannot probe; give worker_url"}
		case s.Hollow:
			return wire.Half{Outcome: reconcile.NotAllowed, Said: "nothing runs behind its record"}
		}
		now, of, err := p.look(ctx, s.ID)
		switch {
		case err != nil:
			return wire.Unclear(wire.Clip("look first: "+err.Error(), 200))
		case of.record == nil, now.Hollow, now.State != reconcile.SandboxRunning:
			return wire.Half{Outcome: reconcile.NotAllowed,
				Said: "by now the sandbox is " + cmp.Or(now.Raw, "in no known state")}
		}
		s.ID = of.record.ID
		return wire.Both(
			func() wire.Half { return p.probeExec(ctx, s, policy) },
			func() wire.Half { return p.probeFiles(ctx, s, policy) },
		)
	})
}

func (p *Provider) probeExec(ctx context.Context, s reconcile.Sandbox, policy reconcile.ProbePolicy) wire.Half {
	if policy.Exec == "" {
		return wire.Half{}
	}
	limit := time.Duration(wire.Seconds(policy.Timeout)) * time.Second
	body, _ := json.Marshal(map[string]any{ // texts and a number always encode
		"command": []string{"sh", "-c", policy.Exec}, "timeout_ms": limit.Milliseconds(),
	})
	f := p.judge(ctx, wire.Call{What: "probe exec", Method: http.MethodPost, URL: p.worker.At(s.ID, "exec"),
		Body: body, Timeout: limit + wire.Margin}, executed)
	f.Said = "exec: " + f.Said
	return f
}

func (p *Provider) probeFiles(ctx context.Context, s reconcile.Sandbox, policy reconcile.ProbePolicy) wire.Half {
	if policy.Path == "" {
		return wire.Half{}
	}
	limit := time.Duration(wire.Seconds(policy.Timeout)) * time.Second
	f := p.judge(ctx, wire.Call{What: "probe files", Method: http.MethodGet, Timeout: limit + wire.Margin,
		URL: p.worker.At(s.ID, "files") + "?" + url.Values{"path": {policy.Path}}.Encode(), Max: wire.MaxOne * 4}, files)
	f.Said = "files of " + policy.Path + ": " + f.Said
	return f
}

// judge makes the call and tells what its answer means for the sandbox.
func (p *Provider) judge(ctx context.Context, k wire.Call, good func([]byte) wire.Half) wire.Half {
	k.Inside = true
	a, err := p.worker.Once(ctx, k)
	if err != nil {
		return wire.Silent(err, k.Timeout)
	}
	if a.Status == http.StatusOK && wire.IsJSON(a.Header) {
		return good(a.Body)
	}
	said := p.worker.Said(a)
	words := (&wire.Refusal{Status: a.Status, Words: said.Text}).Error()
	return wire.Half{Outcome: outcome(a, said), Said: wire.Clip(words, 160)}
}

// outcome judges an answer that is no success. Only what the Worker says, in JSON, of the
// container speaks against the sandbox; a page comes from what stands before the Worker.
func outcome(a wire.Answer, said wire.Said) reconcile.ProbeOutcome {
	switch {
	case !wire.IsJSON(a.Header):
	case a.Status == http.StatusGatewayTimeout, said.Code == "timeout":
		return reconcile.Hung
	case a.Status == http.StatusBadGateway, said.Code == "no_such_path":
		return reconcile.CannotStart
	case a.Status == http.StatusConflict:
		return reconcile.NotAllowed
	}
	return reconcile.Infrastructure
}

// executed judges an answer to exec. A command that could not be started has a negative exit
// code, or one of a shell that lost its programs.
func executed(body []byte) wire.Half {
	var in struct {
		ExitCode *int   `json:"exit_code"`
		Stderr   string `json:"stderr"`
	}
	if wire.Unmarshal(body, &in) != nil || in.ExitCode == nil {
		return wire.Unclear("200 with something that is no result")
	}
	return wire.Ran(*in.ExitCode, in.Stderr)
}

// files judges an answer to the file listing.
func files(body []byte) wire.Half {
	var in struct {
		Entries []struct {
			Name string `json:"name"`
		} `json:"entries"`
	}
	if wire.Unmarshal(body, &in) != nil || in.Entries == nil {
		return wire.Unclear("200 with something that is no file list")
	}
	return wire.Listed(len(in.Entries))
}
