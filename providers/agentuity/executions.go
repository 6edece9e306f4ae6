package agentuity

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// mark is how the name begins that a probe's command gets; the second follows at which it
// was asked for, by the provider's clock.
const mark = "sandkeeper-probe-"

const (
	longSince = time.Hour // a queued one of long ago, by more than two probes, says nothing of now
	retry     = 200 * time.Millisecond
	forever   = 24 * time.Hour // how long a job may run in a sandbox that names no time-out of executions
)

// An execution is one command that a sandbox was asked to run. The vendor does not say since
// when one is queued.
type execution struct {
	ID        string     `json:"executionId"`
	Status    string     `json:"status"`
	Command   []string   `json:"command"`
	ExitCode  *int       `json:"exitCode"`
	Error     string     `json:"error"`
	StartedAt wire.Stamp `json:"startedAt"`
}

// asked is when a probe asked for the execution, if one did.
func (e *execution) asked() (time.Time, bool) {
	if len(e.Command) == 0 {
		return time.Time{}, false
	}
	second, ours := strings.CutPrefix(e.Command[len(e.Command)-1], mark)
	at, err := strconv.ParseInt(second, 10, 64)
	return time.Unix(at, 0), ours && err == nil
}

// began reports whether it was taken up.
func (e *execution) began() bool {
	return e.Status != "queued" && (e.Status != "cancelled" || !e.StartedAt.IsZero())
}

// judged judges an execution that has come to its end.
func (e *execution) judged() wire.ProbePart {
	switch {
	case e.Status == "queued", e.Status == "running":
		return wire.ProbePart{}
	case e.Status == "timeout":
		return wire.ProbePart{Outcome: reconcile.Hung, Words: "the command timed out"}
	case e.Status != "completed" && e.Status != "failed":
		return wire.Unclear("the command is " + text.Clip(e.Status, 40))
	case e.ExitCode != nil:
		return wire.Ran(*e.ExitCode, e.Error)
	case e.Status == "failed":
		return wire.Failed(text.Clip("failed: "+e.Error, 160))
	}
	return wire.Ended()
}

// A queue is what a sandbox was asked to run and has not.
type queue struct {
	waiting []execution // that nothing newer overtook, probes' apart
	running int
	left    []time.Time // when probes asked for what is still queued, newest first
	stands  bool        // nothing newer than the newest of these was taken up
	at      time.Time   // the provider's now
}

// queueOf sorts executions out. They are carried out in turn: one that is queued while a
// newer one was taken up does not wait, it was forgotten.
func queueOf(all []execution, at time.Time) queue {
	q := queue{at: at}
	overtaken := false
	for _, e := range newestFirst(all) {
		asked, ours := e.asked()
		switch {
		case e.Status == "queued" && ours:
			q.stands = q.stands || !overtaken && len(q.left) == 0
			q.left = append(q.left, asked)
		case e.Status == "queued" && !overtaken:
			q.waiting = append(q.waiting, e)
		case e.Status == "running":
			q.running++
		}
		overtaken = overtaken || e.began()
	}
	return q
}

// newestFirst is the order in which the vendor lists by itself. It is turned round if the
// times say that it is the other way.
func newestFirst(all []execution) []execution {
	begun := slices.DeleteFunc(slices.Clone(all), func(e execution) bool { return e.StartedAt.IsZero() })
	if n := len(begun); n > 0 && begun[0].StartedAt.Before(begun[n-1].StartedAt.Time) {
		slices.Reverse(all)
	}
	return all
}

// room reports whether one more command may be left behind: one that is answered by 500 may stay
// queued for ever.
func (q queue) room() bool {
	return len(q.left) == 0 || wire.MayLeave(len(q.left), q.at.Sub(q.left[0]))
}

// fails reports whether an earlier probe failed recently, and nothing worked since.
func (q queue) fails(lately time.Duration) bool {
	return q.stands && q.running == 0 && q.at.Sub(q.left[0]) < lately
}

func (p *Provider) queue(ctx context.Context, s reconcile.Sandbox) (queue, error) {
	in, a, err := ask[struct {
		Executions []execution `json:"executions"`
	}](ctx, p, p.about(s, "executions"))
	if err == nil && in.Data.Executions == nil {
		err = errors.New("the answer lists no executions")
	}
	return queueOf(in.Data.Executions, a.Date), err
}

// about is a call for what the vendor keeps of a sandbox, newest first.
func (p *Provider) about(s reconcile.Sandbox, what string) *call {
	query := url.Values{"limit": {"100"}}
	if what == "events" {
		query.Set("direction", "desc")
	}
	return p.at(s.Region, what, query, "sandbox", "sandboxes", s.ID, what)
}

// beside looks for a job that says running for longer than it may, which is the second thing
// that fails in a sandbox whose commands do.
func (k *probeCall) beside(ctx context.Context, exec wire.ProbePart) wire.ProbePart {
	in, a, _ := ask[struct { // nothing is known where they are lost
		Jobs []struct {
			ID        string     `json:"jobId"`
			Status    string     `json:"status"`
			StartedAt wire.Stamp `json:"startedAt"`
		} `json:"jobs"`
	}](ctx, k.Provider, k.about(k.now, "jobs"))
	for _, j := range in.Data.Jobs {
		if ran := a.Date.Sub(j.StartedAt.Time); j.Status == "running" && !j.StartedAt.IsZero() && ran > k.most {
			exec.Words += fmt.Sprintf("; job %s says running for %s", text.Clip(j.ID, 40), ran.Round(time.Minute))
			return twice(exec)
		}
	}
	return exec
}

// Executions are what the sandbox was asked to run and has not finished. What probes left
// behind is not its work, and what was overtaken does not wait.
func (p *Provider) Executions(ctx context.Context, s reconcile.Sandbox) (reconcile.ExecutionsSeen, error) {
	q, err := p.queue(ctx, s)
	if err != nil {
		return reconcile.ExecutionsSeen{}, p.base.Wrap("read executions of sandbox", s.ID, err)
	}
	out := reconcile.ExecutionsSeen{Queued: len(q.waiting), Running: q.running}
	if len(q.waiting) == 0 {
		p.waiting.Delete(s.ID)
		return out, nil
	}
	before, _ := p.waiting.Load(s.ID)
	seen, _ := before.(map[string]time.Time)
	now, told := map[string]time.Time{}, p.told(ctx, s, q.waiting)
	for _, e := range q.waiting {
		now[e.ID] = earliest(q.at, e.StartedAt.Time, told[e.ID], seen[e.ID])
		out.QueuedFor = max(out.QueuedFor, q.at.Sub(now[e.ID]))
	}
	p.waiting.Store(s.ID, now)
	return out, nil
}

// earliest tells since when one waits: as it says itself, as an event of the sandbox does that
// names it, or since we first saw it. What is not known is the zero time.
func earliest(now time.Time, known ...time.Time) time.Time {
	for _, at := range known {
		if !at.IsZero() && at.Before(now) {
			now = at
		}
	}
	return now
}

// An event is one moment of a sandbox's life.
type event struct {
	Of        string         `json:"sandboxId"`
	Type      string         `json:"type"`
	Event     map[string]any `json:"event"`
	CreatedAt wire.Stamp     `json:"createdAt"`
}

// events are the latest, newest first.
func (p *Provider) events(ctx context.Context, s reconcile.Sandbox) ([]event, error) {
	in, _, err := ask[struct {
		Events []event `json:"events"`
	}](ctx, p, p.about(s, "events"))
	return in.Data.Events, err
}

// told is when events first name executions that do not tell it themselves. Without events
// nothing is told.
func (p *Provider) told(ctx context.Context, s reconcile.Sandbox, waiting []execution) map[string]time.Time {
	if !slices.ContainsFunc(waiting, func(e execution) bool { return e.StartedAt.IsZero() }) {
		return nil
	}
	events, _ := p.events(ctx, s) // they only add
	out := map[string]time.Time{}
	for _, e := range events {
		if id, _ := e.Event["executionId"].(string); !e.CreatedAt.IsZero() {
			out[id] = earliest(e.CreatedAt.Time, out[id])
		}
	}
	return out
}
