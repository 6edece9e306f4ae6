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
)

// What probes may leave behind. A command that is answered by 500 may stay queued for ever,
// so that a sandbox in which some of ours are queued is asked less and less, and at last not
// at all.
const (
	mostLeft  = 8                // queued executions of probes in one sandbox
	freely    = 5                // so many before probes become rare
	rare      = 10 * time.Minute // since the newest that is queued; doubled by each further one
	longSince = time.Hour        // a queued one of long ago, by more than two probes, says nothing of now
	retry     = 200 * time.Millisecond
)

// A sign is what one half of a probe met. What failed only once speaks against the sandbox
// only beside another half that failed.
type sign struct {
	wire.Half
	once bool
}

// Probe runs a command and lists a path in the sandbox, one after the other, because the
// vendor does one thing at a time. It looks first, because a command would wake one that is
// paused or suspended. Both count as activity there.
func (p *Provider) Probe(ctx context.Context, s reconcile.Sandbox, policy reconcile.ProbePolicy) reconcile.ProbeResult {
	return p.frame.Probe(ctx, s, policy, func(ctx context.Context) wire.Half { return p.probe(ctx, s.ID, policy) })
}

func (p *Provider) probe(ctx context.Context, id string, policy reconcile.ProbePolicy) wire.Half {
	b, now, h := p.running(ctx, id)
	if h.Outcome != "" {
		return h
	}
	exec := p.probeExec(ctx, now, policy)
	failed := exec.once || exec.Outcome.Failed()
	if failed { // it may have been paused or have ended meanwhile
		if b, now, h = p.running(ctx, id); h.Outcome != "" {
			h.Said += " (" + exec.Said + ")"
			return h
		}
	}
	if exec.once {
		exec = p.beside(ctx, now, b, exec)
	}
	return verdict(exec, p.probeFiles(ctx, now, policy, failed))
}

// running looks at the sandbox. The half says what is the matter when it does not run.
func (p *Provider) running(ctx context.Context, id string) (box, reconcile.Sandbox, wire.Half) {
	b, a, err := p.get(ctx, id)
	if err != nil {
		return b, reconcile.Sandbox{}, wire.Unclear(wire.Clip("look first: "+err.Error(), 200))
	}
	now := p.sandbox(&b, a.Date)
	if now.State != reconcile.SandboxRunning {
		return b, now, wire.Half{Outcome: reconcile.NotAllowed, Said: "the sandbox is " + now.Raw + " now"}
	}
	return b, now, wire.Half{}
}

// verdict lets a half that failed once count only beside another that failed.
func verdict(exec, files sign) wire.Half {
	for _, one := range []struct{ this, that *sign }{{&exec, &files}, {&files, &exec}} {
		if one.this.once && !one.that.once && !one.that.Outcome.Failed() {
			one.this.Outcome = reconcile.Infrastructure
			one.this.Said += " (once: it counts when it fails again)"
		}
	}
	return wire.Merge(exec.Half, files.Half)
}

func within(policy reconcile.ProbePolicy) time.Duration {
	return time.Duration(wire.Seconds(policy.Timeout)) * time.Second
}

func (p *Provider) probeExec(ctx context.Context, s reconcile.Sandbox, policy reconcile.ProbePolicy) sign {
	if policy.Exec == "" {
		return sign{}
	}
	out := p.exec(ctx, s, policy)
	out.Said = "exec: " + out.Said
	return out
}

// exec counts what earlier probes left behind, and asks for a command if there is room for
// one more.
func (p *Provider) exec(ctx context.Context, s reconcile.Sandbox, policy reconcile.ProbePolicy) sign {
	q, err := p.queue(ctx, s)
	if err != nil {
		return sign{Half: wire.Unclear(wire.Clip("executions: "+err.Error(), 160))}
	}
	if !q.room() {
		return sign{Half: wire.Unclear(fmt.Sprintf("not asked: %d commands of earlier probes are still queued", len(q.left)))}
	}
	out := p.run(ctx, s, policy, q.at)
	if out.Outcome == reconcile.Hung && q.running > 0 { // the vendor does one thing at a time
		return sign{Half: wire.Unclear("behind another execution: " + out.Said)}
	}
	if !out.once || q.fails(max(longSince, 2*policy.Every)) {
		return sign{Half: out.Half}
	}
	after, err := p.queue(ctx, s)
	if err != nil || len(after.left) > len(q.left) || !rest(ctx) {
		return out // it left one behind, or may have: the next probe will see it
	}
	if _, _, h := p.running(ctx, s.ID); h.Outcome != "" {
		return sign{Half: h}
	}
	again := p.run(ctx, s, policy, after.at)
	again.once = false // twice is enough
	return again
}

// room reports whether one more command may be left behind.
func (q queue) room() bool {
	n := len(q.left)
	if n < freely {
		return true
	}
	return n < mostLeft && q.at.Sub(q.left[0]) >= rare<<(n-freely)
}

// fails reports whether an earlier probe failed lately, and nothing worked since.
func (q queue) fails(lately time.Duration) bool {
	return q.stands && q.running == 0 && q.at.Sub(q.left[0]) < lately
}

// rest waits a little before something is asked again.
func rest(ctx context.Context) bool {
	select {
	case <-time.After(retry):
		return true
	case <-ctx.Done():
		return false
	}
}

// run asks for the probe's command, once, and waits for its end.
func (p *Provider) run(ctx context.Context, s reconcile.Sandbox, policy reconcile.ProbePolicy, now time.Time) sign {
	limit := within(policy)
	ctx, cancel := context.WithTimeout(ctx, 2*limit+2*wire.Margin)
	defer cancel()
	body, _ := json.Marshal(map[string]any{"timeout": limit.String(), // texts always encode
		"command": []string{"sh", "-c", policy.Exec, mark + strconv.FormatInt(now.Unix(), 10)}})
	c := call{region: s.Region, path: []string{"sandbox", s.ID, "execute"}, Call: wire.Call{What: "probe exec",
		Method: http.MethodPost, Body: body, Timeout: limit + wire.Margin, Inside: true}}
	a, err := p.send(ctx, &c, p.client.Once)
	switch {
	case err != nil:
		return sign{Half: wire.Silent(err, c.Timeout)}
	case a.OK():
		return sign{Half: p.ran(ctx, s, a, limit)}
	}
	return p.judged(a)
}

// judged tells what an answer means that is no success. Only a 500 speaks against the
// sandbox: a 502 or a 503 comes from a data plane that starts anew.
func (p *Provider) judged(a wire.Answer) sign {
	said := p.client.Said(a)
	words := wire.Clip((&wire.Refusal{Status: a.Status, Words: said.Text}).Error(), 160)
	switch {
	case a.Status == http.StatusConflict && busy(a, said):
		return sign{Half: wire.Half{Outcome: reconcile.Answered, Said: "busy with another execution"}}
	case a.Status == http.StatusConflict:
		return sign{Half: wire.Half{Outcome: reconcile.NotAllowed, Said: words}}
	case a.Status == http.StatusInternalServerError, a.Status == http.StatusNotFound && noFiles(said.Text):
		return sign{Half: wire.Half{Outcome: reconcile.CannotStart, Said: words}, once: true}
	}
	return sign{Half: wire.Unclear(words)}
}

// isBusy is the vendor's code for a sandbox that runs something.
const isBusy = "SANDBOX_BUSY"

// busy tells a sandbox that runs something, and so is alive, from a limit and from another
// state.
func busy(a wire.Answer, said wire.Said) bool {
	if said.Code != "" || said.Text != "" {
		return said.Code == isBusy || said.Code == "" && strings.Contains(strings.ToLower(said.Text), "busy")
	}
	limited := a.Header.Get("Retry-After") + a.Header.Get("X-RateLimit-Reset") + a.Header.Get("X-RateLimit-Retry-After")
	return limited == ""
}

// ran waits for the end of a command that was taken.
func (p *Provider) ran(ctx context.Context, s reconcile.Sandbox, a wire.Answer, limit time.Duration) wire.Half {
	in, err := open[execution](p, a)
	if in.Code == isBusy {
		return wire.Half{Outcome: reconcile.Answered, Said: "busy with another execution"}
	}
	if err != nil {
		return wire.Unclear(wire.Clip(err.Error(), 160))
	}
	if in.Resumed {
		p.log.ErrorContext(ctx, "a probe woke a sandbox that was suspended after it was looked at", "sandbox", s.ID)
		return wire.Half{Outcome: reconcile.NotAllowed, Said: "it was suspended right before, and this probe woke it"}
	}
	if in.Data.ID == "" {
		return wire.Unclear("200 with something that is no execution")
	}
	for end := time.Now().Add(limit + wire.Margin); ; {
		if h, over := in.Data.over(); over {
			return h
		}
		if !time.Now().Before(end) {
			return wire.Half{Outcome: reconcile.Hung, Said: fmt.Sprintf("%s after %s", in.Data.Status, limit)}
		}
		in.Data, _, err = fetch[execution](ctx, p, call{region: s.Region, path: []string{"sandbox", "execution", in.Data.ID},
			query: url.Values{"wait": {limit.String()}},
			Call:  wire.Call{What: "execution", Timeout: limit + wire.Margin, Inside: true}})
		if err != nil {
			return wire.Silent(err, limit+wire.Margin)
		}
		rest(ctx)
	}
}

// over judges an execution that has come to its end.
func (e *execution) over() (wire.Half, bool) {
	switch e.Status {
	case "completed", "failed":
		if e.ExitCode == nil && e.Status == "failed" {
			return wire.Half{Outcome: reconcile.CannotStart, Said: wire.Clip("failed: "+e.Error, 160)}, true
		}
		if e.ExitCode == nil {
			return wire.Ran(0, ""), true
		}
		return wire.Ran(*e.ExitCode, e.Error), true
	case "timeout":
		return wire.Half{Outcome: reconcile.Hung, Said: "the command timed out"}, true
	case "cancelled":
		return wire.Unclear("the command was cancelled"), true
	case "queued", "running":
		return wire.Half{}, false
	}
	return wire.Unclear("the command is " + wire.Clip(e.Status, 40)), true
}
