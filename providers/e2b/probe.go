package e2b

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// lull is how long a probe may wait for its turn, and how far before its end a sandbox that
// may wake is left alone, beside the probe's own time.
const lull = 5 * time.Second

// Probe runs a command and lists a path in the sandbox, both at once. Neither puts its end
// off. Only one probe of a sandbox runs at a time.
func (p *Provider) Probe(ctx context.Context, s reconcile.Sandbox, policy reconcile.ProbePolicy) reconcile.ProbeResult {
	return p.base.Probe(ctx, s, policy, func(ctx context.Context) wire.ProbePart { return p.probe(ctx, s.ID, policy) })
}

// probe calls into the sandbox only while it is known to run, because a call into a paused one
// may wake it. A failure counts only against one that still runs after it.
func (p *Provider) probe(ctx context.Context, id string, policy reconcile.ProbePolicy) wire.ProbePart {
	patience := wire.Within(policy) + wire.Margin + lull
	b, a, err := p.get(ctx, id)
	if no := barred(b, a, err, patience+lull); no.Outcome != "" {
		return no
	}
	within, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	met := p.halves(within, b, policy)
	if !met.Outcome.Failed() {
		return met
	}
	b, _, err = p.get(ctx, id)
	if no := away(b, err); no.Outcome != "" {
		return wire.ProbePart{Outcome: no.Outcome, Words: no.Words + " (" + met.Words + ")"}
	}
	return met
}

// away is how a get shows that a sandbox does not run; zero where it runs.
func away(b box, err error) (no wire.ProbePart) {
	switch {
	case errors.Is(err, reconcile.ErrNotFound):
		no = wire.Barred("it is gone")
	case err != nil:
		no = wire.Unclear(text.Clip("get: "+err.Error(), 200))
	case states[b.State] != reconcile.SandboxRunning:
		no = wire.Barred("it is " + text.Clip(b.State, 40))
	}
	return no
}

// barred is why nothing may be called inside a sandbox that a get showed so, within that time;
// zero where it may. One that is paused meanwhile could be resumed by the call, and where the
// server does not say whether, it could.
func barred(b box, a wire.Answer, err error, within time.Duration) wire.ProbePart {
	no, wakes := away(b, err), b.Lifecycle == nil || b.Lifecycle.AutoResume
	switch {
	case no.Outcome != "":
	case wakes && !b.EndAt.IsZero() && b.EndAt.Sub(a.Date) < within:
		no = wire.Barred("its time is over in a moment, and a call may wake it then")
	case b.Lifecycle != nil && b.Lifecycle.Keepalive.Traffic.Enabled:
		no = wire.Barred("a call puts its end off")
	}
	return no
}

func (p *Provider) halves(ctx context.Context, b box, policy reconcile.ProbePolicy) wire.ProbePart {
	judge := func(k wire.Call, good func(wire.Answer, wire.APIError) (wire.ProbePart, bool)) wire.ProbePart {
		ask := func(ctx context.Context, k wire.Call) (wire.Answer, error) { return p.ask(ctx, b, k) }
		return p.client.Judge(ctx, k, wire.Judge{Ask: ask, Good: good, Outcome: outcome})
	}
	return wire.Halves(policy, func(within time.Duration) wire.ProbePart {
		// The command outlives the call unless the daemon itself ends it.
		limit := strconv.FormatInt(within.Milliseconds(), 10)
		return judge(wire.Call{What: "probe exec", URL: "/process.Process/Start", Body: startBody(policy.Exec), Type: stream,
			Accept: stream, Timeout: within + wire.Margin, Header: map[string]string{"Connect-Timeout-Ms": limit}}, executed)
	}, func(within time.Duration) wire.ProbePart {
		body, _ := json.Marshal(map[string]any{"path": policy.Path, "depth": 1}) // a text and a number always encode
		return judge(wire.Call{What: "probe files", URL: "/filesystem.Filesystem/ListDir", Body: body,
			Timeout: within + wire.Margin, Max: wire.MaxOne * 4}, listed)
	})
}

// outcome judges an answer that is no success, after who gave it. The daemon names its errors
// by words, the proxy before it by numbers. The proxy's 502 is of one who runs without a
// daemon ("port is not open"), or of none at all ("was not found"), which speaks against the
// sandbox only if the control plane still says that it runs. A 502 that is no JSON comes from
// farther out, and so do a 503 and a 504.
func outcome(a wire.Answer, said wire.APIError) reconcile.ProbeOutcome {
	if met, ok := refusals[said.Code]; ok {
		return met
	}
	if wire.IsJSON(a.Header) && (a.Status == http.StatusBadGateway || a.Status == http.StatusInternalServerError) {
		return reconcile.CannotStart
	}
	return reconcile.Infrastructure
}

// refusals are the daemon's words that speak against the sandbox; the others speak against
// the call.
var refusals = map[string]reconcile.ProbeOutcome{
	"deadline_exceeded":   reconcile.Hung,
	"resource_exhausted":  reconcile.CannotStart, // no process, no file to be had
	"internal":            reconcile.CannotStart,
	"unknown":             reconcile.CannotStart,
	"unavailable":         reconcile.CannotStart,
	"data_loss":           reconcile.CannotStart,
	"failed_precondition": reconcile.CannotStart,
}

// listed judges an answer to the file listing. An empty folder is an empty object.
func listed(a wire.Answer, said wire.APIError) (wire.ProbePart, bool) {
	switch {
	case a.Status == http.StatusNotFound && said.Code == "not_found":
		return wire.Missing("404 not found"), true
	case a.Status != http.StatusOK:
		return wire.ProbePart{}, false
	}
	var in struct {
		Entries []struct {
			Name string `json:"name"`
		} `json:"entries"`
	}
	if !wire.IsJSON(a.Header) || wire.Unmarshal(a.Body, &in) != nil ||
		in.Entries == nil && strings.TrimSpace(string(a.Body)) != "{}" {
		return wire.Unclear("200 with something that is no file list"), true
	}
	return wire.Listed(len(in.Entries)), true
}
