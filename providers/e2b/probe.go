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
)

// lull is how long a probe may wait for its turn, and how far before its end a sandbox that
// may wake is left alone, beside the probe's own time.
const lull = 5 * time.Second

// Probe runs a command and lists a path in the sandbox, both at once. Neither puts its end
// off. Only one probe of a sandbox runs at a time.
func (p *Provider) Probe(ctx context.Context, s reconcile.Sandbox, policy reconcile.ProbePolicy) reconcile.ProbeResult {
	return p.frame.Probe(ctx, s, policy, func(ctx context.Context) wire.Half { return p.probe(ctx, s.ID, policy) })
}

// probe calls into the sandbox only while it is known to run, because a call into a paused one
// may wake it. A failure counts only against one that still runs after it.
func (p *Provider) probe(ctx context.Context, id string, policy reconcile.ProbePolicy) wire.Half {
	b, a, err := p.get(ctx, id)
	if h, stays := runs(b, err); !stays {
		return h
	}
	patience := wait(policy) + lull
	switch {
	case b.mayWake(a.Date, patience+lull):
		return wire.Half{Outcome: reconcile.NotAllowed, Said: "its time is over in a moment, and a call may wake it then"}
	case b.keptAlive():
		return wire.Half{Outcome: reconcile.NotAllowed, Said: "a call puts its end off"}
	}
	within, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	met := wire.Both(
		func() wire.Half { return p.probeExec(within, b, policy) },
		func() wire.Half { return p.probeFiles(within, b, policy) },
	)
	if !met.Outcome.Failed() {
		return met
	}
	b, _, err = p.get(ctx, id)
	if h, stays := runs(b, err); !stays {
		return wire.Half{Outcome: h.Outcome, Said: h.Said + " (" + met.Said + ")"}
	}
	return met
}

// runs reports whether a get shows that the sandbox runs, and what it is else.
func runs(b box, err error) (wire.Half, bool) {
	switch {
	case errors.Is(err, reconcile.ErrNotFound):
		return wire.Half{Outcome: reconcile.NotAllowed, Said: "it is gone"}, false
	case err != nil:
		return wire.Unclear(wire.Clip("get: "+err.Error(), 200)), false
	case states[b.State] != reconcile.SandboxRunning:
		return wire.Half{Outcome: reconcile.NotAllowed, Said: "it is " + wire.Clip(b.State, 40)}, false
	}
	return wire.Half{}, true
}

// wait is how long one call of a probe may take.
func wait(policy reconcile.ProbePolicy) time.Duration {
	return time.Duration(wire.Seconds(policy.Timeout))*time.Second + wire.Margin
}

func (p *Provider) probeExec(ctx context.Context, b box, policy reconcile.ProbePolicy) wire.Half {
	if policy.Exec == "" {
		return wire.Half{}
	}
	// The command outlives the call unless the daemon itself ends it.
	limit := strconv.Itoa(wire.Seconds(policy.Timeout) * 1000)
	k := wire.Call{What: "probe exec", URL: "/process.Process/Start", Body: startBody(policy.Exec), Type: stream,
		Accept: stream, Timeout: wait(policy), Header: map[string]string{"Connect-Timeout-Ms": limit}}
	h := p.judge(ctx, b, k, executed)
	h.Said = "exec: " + h.Said
	return h
}

func (p *Provider) probeFiles(ctx context.Context, b box, policy reconcile.ProbePolicy) wire.Half {
	if policy.Path == "" {
		return wire.Half{}
	}
	body, _ := json.Marshal(map[string]any{"path": policy.Path, "depth": 1}) // a text and a number always encode
	h := p.judge(ctx, b, wire.Call{What: "probe files", URL: "/filesystem.Filesystem/ListDir", Body: body,
		Timeout: wait(policy), Max: wire.MaxOne * 4}, listed)
	h.Said = "files of " + policy.Path + ": " + h.Said
	return h
}

// judge makes the call and tells what its answer means for the sandbox; good judges those
// that are its own to judge, and reports whether it could.
func (p *Provider) judge(ctx context.Context, b box, k wire.Call, good func(wire.Answer, wire.Said) (wire.Half, bool),
) wire.Half {
	a, err := p.ask(ctx, b, k)
	if err != nil {
		return wire.Silent(err, k.Timeout)
	}
	said := p.client.Said(a)
	if h, ok := good(a, said); ok {
		return h
	}
	words := (&wire.Refusal{Status: a.Status, Words: said.Text}).Error()
	return wire.Half{Outcome: outcome(a, said), Said: wire.Clip(words, 160)}
}

// outcome judges an answer that is no success, after who gave it. The daemon names its errors
// by words, the proxy before it by numbers. The proxy's 502 is of one who runs without a
// daemon ("port is not open"), or of none at all ("was not found"), which speaks against the
// sandbox only if the control plane still says that it runs. A 502 that is no JSON comes from
// farther out, and so do a 503 and a 504.
func outcome(a wire.Answer, said wire.Said) reconcile.ProbeOutcome {
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

// listed judges an answer to the file listing. The path always exists, so that one that is
// not there means that the sandbox lost its file system. An empty folder is an empty object.
func listed(a wire.Answer, said wire.Said) (wire.Half, bool) {
	switch {
	case a.Status == http.StatusNotFound && said.Code == "not_found":
		return wire.Half{Outcome: reconcile.CannotStart, Said: "404 not found"}, true
	case a.Status != http.StatusOK:
		return wire.Half{}, false
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
