package daytona

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Probe runs a command and lists a path in the sandbox, both at once. Neither counts as
// activity. Only one probe of a sandbox runs at a time.
func (p *Provider) Probe(ctx context.Context, s reconcile.Sandbox, policy reconcile.ProbePolicy) reconcile.ProbeResult {
	return p.frame.Probe(ctx, s, policy, func(ctx context.Context) wire.Half { return p.probe(ctx, s, policy) })
}

func (p *Provider) probe(ctx context.Context, s reconcile.Sandbox, policy reconcile.ProbePolicy) wire.Half {
	if s.Endpoint == "" {
		var err error
		if s.Endpoint, err = p.endpoint(ctx, s.ID); err != nil {
			return wire.Unclear(wire.Clip("toolbox address: "+err.Error(), 200))
		}
	}
	return wire.Both(
		func() wire.Half { return p.probeExec(ctx, s, policy) },
		func() wire.Half { return p.probeFiles(ctx, s, policy) },
	)
}

func (p *Provider) probeExec(ctx context.Context, s reconcile.Sandbox, policy reconcile.ProbePolicy) wire.Half {
	if policy.Exec == "" {
		return wire.Half{}
	}
	seconds := wire.Seconds(policy.Timeout)
	f := p.judge(ctx, s, wire.Call{What: "probe exec", Method: http.MethodPost, URL: "process/execute",
		Body: execBody(policy.Exec, seconds), Timeout: time.Duration(seconds)*time.Second + wire.Margin}, executed)
	f.Said = "exec: " + f.Said
	return f
}

func (p *Provider) probeFiles(ctx context.Context, s reconcile.Sandbox, policy reconcile.ProbePolicy) wire.Half {
	if policy.Path == "" {
		return wire.Half{}
	}
	query := url.Values{"path": {policy.Path}}
	f := p.judge(ctx, s, wire.Call{What: "probe files", URL: "files?" + query.Encode(),
		Timeout: time.Duration(wire.Seconds(policy.Timeout))*time.Second + wire.Margin, Max: wire.MaxOne * 4}, files)
	f.Said = "files of " + policy.Path + ": " + f.Said
	return f
}

// judge makes the call and tells what its answer means for the sandbox; good judges a 200,
// and a 404 that is about the path.
func (p *Provider) judge(ctx context.Context, s reconcile.Sandbox, k wire.Call,
	good func(wire.Answer, wire.Said) (wire.Half, bool)) wire.Half {
	a, err := p.ask(ctx, s, k)
	if err != nil {
		return wire.Silent(err, k.Timeout)
	}
	said := p.client.Said(a)
	if f, ok := good(a, said); ok {
		return f
	}
	words := (&wire.Refusal{Status: a.Status, Words: said.Text}).Error()
	return wire.Half{Outcome: outcome(a, said), Said: wire.Clip(words, 160)}
}

// outcome judges an answer that is no success, after who gave it: the sandbox's own data
// plane, or what stands before it.
func outcome(a wire.Answer, said wire.Said) reconcile.ProbeOutcome {
	words := strings.ToLower(said.Text)
	switch {
	case a.Status == http.StatusRequestTimeout:
		return reconcile.Hung
	case a.Status >= 500:
		return reconcile.CannotStart
	case a.Status == http.StatusNotFound && strings.Contains(words, "container not found"):
		return reconcile.CannotStart
	case a.Status == http.StatusBadRequest && (strings.Contains(words, "no ip address found") ||
		strings.Contains(words, "is the sandbox started")):
		return reconcile.NotAllowed
	}
	return reconcile.Infrastructure
}

// executed judges an answer to exec. A fork that failed answers 200 with exit code -1.
func executed(a wire.Answer, _ wire.Said) (wire.Half, bool) {
	if a.Status != http.StatusOK {
		return wire.Half{}, false
	}
	var in struct {
		ExitCode *int    `json:"exitCode"`
		Result   *string `json:"result"`
	}
	if !wire.IsJSON(a.Header) || wire.Unmarshal(a.Body, &in) != nil || in.ExitCode == nil && in.Result == nil {
		return wire.Unclear("200 with something that is no result"), true
	}
	code, result := 0, ""
	if in.ExitCode != nil {
		code = *in.ExitCode
	}
	if in.Result != nil {
		result = *in.Result
	}
	return wire.Ran(code, result), true
}

// files judges an answer to the file listing. The path always exists, so that one that is
// not there means that the sandbox lost its file system. Old toolboxes say so without a
// body.
func files(a wire.Answer, words wire.Said) (wire.Half, bool) {
	switch {
	case a.Status == http.StatusNotFound && (len(a.Body) == 0 || wire.IsJSON(a.Header) && certain(a, words)):
		return wire.Half{Outcome: reconcile.CannotStart, Said: "404 not found"}, true
	case a.Status != http.StatusOK:
		return wire.Half{}, false
	}
	var in []struct {
		Name string `json:"name"`
	}
	if !wire.IsJSON(a.Header) || wire.Unmarshal(a.Body, &in) != nil {
		return wire.Unclear("200 with something that is no file list"), true
	}
	return wire.Listed(len(in)), true
}
