package daytona

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// Probe runs a command and lists a path in the sandbox, both at once. Neither counts as
// activity. Only one probe of a sandbox runs at a time.
func (p *Provider) Probe(ctx context.Context, s reconcile.Sandbox, policy reconcile.ProbePolicy) reconcile.ProbeResult {
	return p.base.Probe(ctx, s, policy, func(ctx context.Context) wire.ProbePart { return p.probe(ctx, s, policy) })
}

func (p *Provider) probe(ctx context.Context, s reconcile.Sandbox, policy reconcile.ProbePolicy) wire.ProbePart {
	if s.Endpoint == "" {
		var err error
		if s.Endpoint, err = p.endpoint(ctx, s.ID); err != nil {
			return wire.Unclear(text.Clip("toolbox address: "+err.Error(), 200))
		}
	}
	judge := func(k wire.Call, good func(wire.Answer, wire.APIError) (wire.ProbePart, bool)) wire.ProbePart {
		ask := func(ctx context.Context, k wire.Call) (wire.Answer, error) { return p.ask(ctx, s, k) }
		return p.client.Judge(ctx, k, wire.Judge{Ask: ask, Good: good, Outcome: outcome})
	}
	return wire.Halves(policy, func(within time.Duration) wire.ProbePart {
		return judge(wire.Call{What: "probe exec", Method: http.MethodPost, URL: "process/execute",
			Body: execBody(policy.Exec, int(within.Seconds())), Timeout: within + wire.Margin}, executed)
	}, func(within time.Duration) wire.ProbePart {
		return judge(wire.Call{What: "probe files", URL: "files?" + url.Values{"path": {policy.Path}}.Encode(),
			Timeout: within + wire.Margin, Max: wire.MaxOne * 4}, files)
	})
}

// outcome judges an answer that is no success, after who gave it: the sandbox's own data
// plane, or what stands before it.
func outcome(a wire.Answer, said wire.APIError) reconcile.ProbeOutcome {
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
func executed(a wire.Answer, _ wire.APIError) (wire.ProbePart, bool) {
	if a.Status != http.StatusOK {
		return wire.ProbePart{}, false
	}
	var in struct {
		ExitCode *int    `json:"exitCode"`
		Result   *string `json:"result"`
	}
	if !wire.IsJSON(a.Header) || wire.Unmarshal(a.Body, &in) != nil || in.ExitCode == nil && in.Result == nil {
		return wire.Unclear("200 with something that is no result"), true
	}
	if in.ExitCode == nil {
		return wire.Ended(), true
	}
	result := ""
	if in.Result != nil {
		result = *in.Result
	}
	return wire.Ran(*in.ExitCode, result), true
}

// files judges an answer to the file listing. The path always exists, so that one that is
// not there means that the sandbox lost its file system. Old toolboxes say so without a
// body.
func files(a wire.Answer, words wire.APIError) (wire.ProbePart, bool) {
	switch {
	case a.Status == http.StatusNotFound && (len(a.Body) == 0 || wire.IsJSON(a.Header) && certain(a, words)):
		return wire.Missing("404 not found"), true
	case a.Status != http.StatusOK:
		return wire.ProbePart{}, false
	}
	var in []struct {
		Name string `json:"name"`
	}
	if !wire.IsJSON(a.Header) || wire.Unmarshal(a.Body, &in) != nil {
		return wire.Unclear("200 with something that is no file list"), true
	}
	return wire.Listed(len(in)), true
}
