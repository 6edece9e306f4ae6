package daytona

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// margin is what an answer may take beyond the time-out inside the sandbox.
const margin = 2 * time.Second

// A finding is what one half of a probe met.
type finding struct {
	outcome reconcile.ProbeOutcome
	said    string
}

// Probe runs a command and lists a path in the sandbox, both at once. Neither counts as
// activity. Only one probe of a sandbox runs at a time.
func (p *Provider) Probe(ctx context.Context, s reconcile.Sandbox, policy reconcile.ProbePolicy) reconcile.ProbeResult {
	began := p.now()
	out := reconcile.ProbeResult{Ref: s.Ref, At: began}
	f := p.probe(ctx, s, policy)
	out.Outcome, out.Detail, out.Took = f.outcome, p.client.redact(f.said), p.now().Sub(began)
	return out
}

func (p *Provider) probe(ctx context.Context, s reconcile.Sandbox, policy reconcile.ProbePolicy) finding {
	switch {
	case s.State != reconcile.SandboxRunning:
		return finding{reconcile.NotAllowed, "the sandbox is " + first(s.Raw, string(s.State), "in no known state")}
	case policy.Off, policy.Exec == "" && policy.Path == "":
		return finding{reconcile.NotAllowed, "no probe is configured"}
	}
	if _, busy := p.probing.LoadOrStore(s.ID, true); busy {
		return finding{reconcile.NotAllowed, "another probe of it is under way"}
	}
	defer p.probing.Delete(s.ID)
	if s.Endpoint == "" {
		var err error
		if s.Endpoint, err = p.endpoint(ctx, s.ID); err != nil {
			return finding{reconcile.Infrastructure, clip("toolbox address: "+err.Error(), 200)}
		}
	}
	var exec, files finding
	var both sync.WaitGroup
	both.Go(func() { exec = p.probeExec(ctx, s, policy) })
	both.Go(func() { files = p.probeFiles(ctx, s, policy) })
	both.Wait()
	return merge(exec, files)
}

// merge is the verdict of both halves: a failure counts first, then that nothing is known.
func merge(halves ...finding) finding {
	order := []reconcile.ProbeOutcome{reconcile.CannotStart, reconcile.Hung, reconcile.Infrastructure,
		reconcile.NotAllowed, reconcile.Answered}
	var said []string
	met := map[reconcile.ProbeOutcome]bool{}
	for _, h := range halves {
		met[h.outcome] = true
		if h.said != "" {
			said = append(said, h.said)
		}
	}
	for _, outcome := range order {
		if met[outcome] {
			return finding{outcome, strings.Join(said, "; ")}
		}
	}
	return finding{reconcile.NotAllowed, "no probe is configured"} // unreachable unless both halves are skipped
}

func (p *Provider) probeExec(ctx context.Context, s reconcile.Sandbox, policy reconcile.ProbePolicy) finding {
	if policy.Exec == "" {
		return finding{}
	}
	seconds := inSeconds(policy.Timeout)
	f := p.judge(ctx, s, call{what: "probe exec", method: http.MethodPost, url: "process/execute",
		body: execBody(policy.Exec, seconds), timeout: time.Duration(seconds)*time.Second + margin, max: maxOne}, executed)
	f.said = "exec: " + f.said
	return f
}

func (p *Provider) probeFiles(ctx context.Context, s reconcile.Sandbox, policy reconcile.ProbePolicy) finding {
	if policy.Path == "" {
		return finding{}
	}
	query := url.Values{"path": {policy.Path}}
	f := p.judge(ctx, s, call{what: "probe files", url: "files?" + query.Encode(),
		timeout: time.Duration(inSeconds(policy.Timeout))*time.Second + margin, max: maxOne * 4}, files)
	f.said = "files of " + policy.Path + ": " + f.said
	return f
}

// inSeconds is the time-out as the toolbox takes it: whole seconds, at least one.
func inSeconds(d time.Duration) int { return max(1, int((d+time.Second-1)/time.Second)) }

// judge makes the call and tells what its answer means for the sandbox; good judges a 200,
// and a 404 that is about the path.
func (p *Provider) judge(ctx context.Context, s reconcile.Sandbox, k call,
	good func(answer, said) (finding, bool)) finding {
	a, err := p.ask(ctx, s, k)
	if err != nil {
		return silent(err, k.timeout)
	}
	said := p.client.said(a)
	if f, ok := good(a, said); ok {
		return f
	}
	return finding{outcome(a, said), clip((&refusal{status: a.status, words: said.line()}).Error(), 160)}
}

// silent judges a call without an answer. Only a request that was handed over and not
// answered in time speaks against the sandbox.
func silent(err error, timeout time.Duration) finding {
	var gone *lost
	if errors.As(err, &gone) && gone.slow && gone.connected {
		return finding{reconcile.Hung, fmt.Sprintf("no answer within %s", timeout)}
	}
	return finding{reconcile.Infrastructure, clip(err.Error(), 160)}
}

// outcome judges an answer that is no success, after who gave it: the sandbox's own data
// plane, or what stands before it.
func outcome(a answer, said said) reconcile.ProbeOutcome {
	words := strings.ToLower(said.text)
	switch {
	case a.status == http.StatusRequestTimeout:
		return reconcile.Hung
	case a.status >= 500:
		return reconcile.CannotStart
	case a.status == http.StatusNotFound && strings.Contains(words, "container not found"):
		return reconcile.CannotStart
	case a.status == http.StatusBadRequest && (strings.Contains(words, "no ip address found") ||
		strings.Contains(words, "is the sandbox started")):
		return reconcile.NotAllowed
	}
	return reconcile.Infrastructure
}

// executed judges an answer to exec. A fork that failed answers 200 with exit code -1.
func executed(a answer, _ said) (finding, bool) {
	if a.status != http.StatusOK {
		return finding{}, false
	}
	var in struct {
		ExitCode *int    `json:"exitCode"`
		Result   *string `json:"result"`
	}
	if !isJSON(a.header) || unmarshal(a.body, &in) != nil || in.ExitCode == nil && in.Result == nil {
		return finding{reconcile.Infrastructure, "200 with something that is no result"}, true
	}
	code, result := 0, ""
	if in.ExitCode != nil {
		code = *in.ExitCode
	}
	if in.Result != nil {
		result = clip(*in.Result, 100)
	}
	if code < 0 {
		return finding{reconcile.CannotStart, strings.TrimSuffix(fmt.Sprintf("exit %d: %s", code, result), ": ")}, true
	}
	return finding{reconcile.Answered, fmt.Sprintf("exit %d", code)}, true
}

// files judges an answer to the file listing. The path always exists, so that one that is
// not there means that the sandbox lost its file system. Old toolboxes say so without a
// body.
func files(a answer, words said) (finding, bool) {
	switch {
	case a.status == http.StatusNotFound && (len(a.body) == 0 || isJSON(a.header) && words.certain()):
		return finding{reconcile.CannotStart, "404 not found"}, true
	case a.status != http.StatusOK:
		return finding{}, false
	}
	var in []struct {
		Name string `json:"name"`
	}
	if !isJSON(a.header) || unmarshal(a.body, &in) != nil {
		return finding{reconcile.Infrastructure, "200 with something that is no file list"}, true
	}
	return finding{reconcile.Answered, fmt.Sprintf("%d entries", len(in))}, true
}

func first(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
