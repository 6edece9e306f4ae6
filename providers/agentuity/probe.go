package agentuity

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// once is between the halves of a probe what failed a single time. It speaks against the
// sandbox when it fails again, or beside another half that failed.
const once reconcile.ProbeOutcome = "once"

func failed(h wire.ProbePart) bool { return h.Outcome == once || h.Outcome.Failed() }

// twice is a half that was asked for again, or failed before: that is enough.
func twice(h wire.ProbePart) wire.ProbePart {
	if h.Outcome == once {
		h.Outcome = reconcile.CannotStart
	}
	return h
}

// verdict lets a half that failed once count only beside another that failed.
func verdict(halves ...wire.ProbePart) wire.ProbePart {
	both := failed(halves[0]) && failed(halves[1])
	for i, h := range halves {
		if h.Outcome == once && !both {
			halves[i] = wire.Unclear(h.Words + " (once: it counts when it fails again)")
		}
		halves[i] = twice(halves[i])
	}
	return wire.Merge(halves...)
}

// Probe runs a command and lists a path in the sandbox, one after the other, because the
// vendor does one thing at a time. It looks first, because a command would wake one that is
// paused or suspended. Both count as activity there.
func (p *Provider) Probe(ctx context.Context, s reconcile.Sandbox, policy reconcile.ProbePolicy) reconcile.ProbeResult {
	return p.base.Probe(ctx, s, policy, func(ctx context.Context) wire.ProbePart {
		k := &probeCall{Provider: p, ProbePolicy: policy, limit: wire.Within(policy), now: s}
		return k.probe(ctx)
	})
}

// A probeCall is one probe under way.
type probeCall struct {
	*Provider
	reconcile.ProbePolicy
	limit time.Duration     // inside the sandbox
	now   reconcile.Sandbox // as it was looked at last
	most  time.Duration     // how long a job may run in it
}

func (k *probeCall) probe(ctx context.Context) (exec wire.ProbePart) {
	if h := k.running(ctx); h.Outcome != "" {
		return h
	}
	if k.Exec != "" {
		exec = k.exec(ctx).Named("exec")
	}
	if failed(exec) { // it may have been paused or have ended meanwhile
		if h := k.running(ctx); h.Outcome != "" {
			h.Words += " (" + exec.Words + ")"
			return h
		}
	}
	if exec.Outcome == once {
		exec = k.beside(ctx, exec)
	}
	if k.Path == "" {
		return verdict(exec, wire.ProbePart{})
	}
	files := k.files(ctx)
	if files.Outcome == once && !failed(exec) && reconcile.Sleep(ctx, retry) == nil {
		files = twice(k.files(ctx))
	}
	return verdict(exec, files.Named("files of "+k.Path))
}

// running looks at the sandbox, and says what is the matter when it does not run.
func (k *probeCall) running(ctx context.Context) wire.ProbePart {
	b, a, err := k.get(ctx, k.now.ID)
	if err != nil {
		return wire.Unclear(text.Clip("look first: "+err.Error(), 200))
	}
	k.now, k.most = k.sandbox(&b, a.Date), forever
	if d, err := time.ParseDuration(b.Timeout.Execution); err == nil && d > 0 {
		k.most = 2 * d
	}
	if k.now.State != reconcile.SandboxRunning {
		return wire.Barred("the sandbox is " + k.now.Raw + " now")
	}
	return wire.ProbePart{}
}

// exec counts what earlier probes left behind, and asks for a command if there is room for
// one more. What fails is asked again, unless it left one behind: the next probe will see it.
func (k *probeCall) exec(ctx context.Context) wire.ProbePart {
	q, err := k.queue(ctx, k.now)
	switch {
	case err != nil:
		return wire.Unclear(text.Clip("executions: "+err.Error(), 160))
	case !q.room():
		return wire.Unclear(fmt.Sprintf("not asked: %d commands of earlier probes are still queued", len(q.left)))
	}
	out := k.run(ctx, q.at)
	switch {
	case out.Outcome == reconcile.Hung && q.running > 0: // the vendor does one thing at a time
		return wire.Unclear("behind another execution: " + out.Words)
	case out.Outcome != once:
		return out
	case q.fails(max(longSince, 2*k.Every)):
		return twice(out)
	}
	after, err := k.queue(ctx, k.now)
	if err != nil || len(after.left) > len(q.left) || reconcile.Sleep(ctx, retry) != nil {
		return out
	}
	if h := k.running(ctx); h.Outcome != "" {
		return h
	}
	return twice(k.run(ctx, after.at))
}

// run asks for the probe's command, once, and waits for its end.
func (k *probeCall) run(ctx context.Context, now time.Time) wire.ProbePart {
	ctx, cancel := context.WithTimeout(ctx, 2*k.limit+2*wire.Margin)
	defer cancel()
	c := k.at(k.now.Region, "probe exec", url.Values{}, "sandbox", k.now.ID, "execute")
	c.Body, _ = json.Marshal(map[string]any{"timeout": k.limit.String(), // texts always encode
		"command": []string{"sh", "-c", k.Exec, mark + strconv.FormatInt(now.Unix(), 10)}})
	c.Method = http.MethodPost
	return inside(ctx, k, c, func(in envelope[execution]) wire.ProbePart {
		switch {
		case in.Resumed:
			k.log.ErrorContext(ctx, "a probe woke a sandbox that was suspended after it was looked at", "sandbox", k.now.ID)
			return wire.Barred("it was suspended right before, and this probe woke it")
		case in.Data.ID == "":
			return wire.Unclear("200 with something that is no execution")
		}
		return k.ended(ctx, in.Data)
	})
}

// ended waits for the end of a command that was taken.
func (k *probeCall) ended(ctx context.Context, e execution) wire.ProbePart {
	for end := time.Now().Add(k.limit + wire.Margin); ; {
		if h := e.judged(); h.Outcome != "" {
			return h
		}
		if !time.Now().Before(end) {
			return wire.ProbePart{Outcome: reconcile.Hung, Words: fmt.Sprintf("%s after %s", e.Status, k.limit)}
		}
		c := k.at(k.now.Region, "execution", url.Values{"wait": {k.limit.String()}}, "sandbox", "execution", e.ID)
		c.Timeout, c.Inside = k.limit+wire.Margin, true
		in, _, err := ask[execution](ctx, k.Provider, c)
		if err != nil {
			return wire.Silent(err, c.Timeout)
		}
		e = in.Data
		_ = reconcile.Sleep(ctx, retry) // the next asking tells that the time is over
	}
}

// files lists the path.
func (k *probeCall) files(ctx context.Context) wire.ProbePart {
	c := k.at(k.now.Region, "probe files", url.Values{"path": {k.Path}}, "fs", "list", k.now.ID)
	c.Method, c.Max = http.MethodGet, 4*wire.MaxOne
	type listing struct {
		Files []struct {
			Path string `json:"path"`
		} `json:"files"`
	}
	return inside(ctx, k, c, func(in envelope[listing]) wire.ProbePart {
		if in.Data.Files == nil {
			return wire.Unclear("200 with something that is no file list")
		}
		return wire.Listed(len(in.Data.Files))
	})
}

// inside makes a call into the sandbox, once; good judges what it says when all is well. Of
// what is no success only a 500, and a file system that is not there, speak against the
// sandbox: a 502 or a 503 comes from a data plane that starts again.
func inside[T any](ctx context.Context, k *probeCall, c *call, good func(envelope[T]) wire.ProbePart) wire.ProbePart {
	c.Timeout, c.Inside = k.limit+wire.Margin, true
	in, a, err := ask[T](ctx, k.Provider, c)
	switch {
	case err == nil:
		return good(in)
	case a.Status == 0:
		return wire.Silent(err, c.Timeout)
	}
	said := k.client.APIError(a)
	words := text.Clip(err.Error(), 160)
	switch a.Status {
	case http.StatusConflict:
		if busy(a, said) {
			return wire.ProbePart{Outcome: reconcile.Answered, Words: "busy with another execution"}
		}
		return wire.Barred(words)
	case http.StatusNotFound, http.StatusUnprocessableEntity:
		if lost(said.Text) {
			return wire.ProbePart{Outcome: once, Words: words}
		}
	case http.StatusInternalServerError:
		return wire.ProbePart{Outcome: once, Words: words}
	}
	return wire.Unclear(words)
}

// lost reports whether the words are of a file system that is not there. The path always exists.
func lost(words string) bool {
	words = strings.ToLower(words)
	return strings.Contains(words, "cow-merged") || strings.Contains(words, "no such file")
}

// busy tells a sandbox that runs something, and so is alive, from a limit and from another
// state.
func busy(a wire.Answer, said wire.APIError) bool {
	if said.Code != "" || said.Text != "" {
		return said.Code == busyCode || said.Code == "" && strings.Contains(strings.ToLower(said.Text), "busy")
	}
	limited := a.Header.Get("Retry-After") + a.Header.Get("X-RateLimit-Reset") + a.Header.Get("X-RateLimit-Retry-After")
	return limited == ""
}
