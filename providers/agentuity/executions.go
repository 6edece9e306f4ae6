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
)

// mark is how the name begins that a probe's command gets; the second follows at which it
// was asked for, by the provider's clock.
const mark = "sandkeeper-probe-"

// An execution is one command that a sandbox was asked to run. The vendor does not say since
// when one is queued; should it ever, that is believed.
type execution struct {
	ID        string     `json:"executionId"`
	Status    string     `json:"status"`
	Command   []string   `json:"command"`
	ExitCode  *int       `json:"exitCode"`
	Error     string     `json:"error"`
	StartedAt wire.Stamp `json:"startedAt"`
	CreatedAt wire.Stamp `json:"createdAt"`
	QueuedAt  wire.Stamp `json:"queuedAt"`
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

// since is when it was asked for, as far as the execution itself tells.
func (e *execution) since() time.Time {
	for _, at := range []wire.Stamp{e.QueuedAt, e.CreatedAt, e.StartedAt} {
		if !at.IsZero() {
			return at.Time
		}
	}
	return time.Time{}
}

// began reports whether it was taken up.
func (e *execution) began() bool {
	return e.Status != "queued" && (e.Status != "cancelled" || !e.StartedAt.IsZero())
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
	var first, last time.Time
	for _, e := range all {
		if !e.StartedAt.IsZero() {
			last = e.StartedAt.Time
			if first.IsZero() {
				first = last
			}
		}
	}
	if first.Before(last) {
		all = slices.Clone(all)
		slices.Reverse(all)
	}
	return all
}

func (p *Provider) queue(ctx context.Context, s reconcile.Sandbox) (queue, error) {
	in, a, err := fetch[struct {
		Executions []execution `json:"executions"`
	}](ctx, p, about(s, "executions"))
	if err == nil && in.Executions == nil {
		err = errors.New("the answer lists no executions")
	}
	return queueOf(in.Executions, a.Date), err
}

// about is a call for what the vendor keeps of a sandbox.
func about(s reconcile.Sandbox, what string) call {
	return call{region: s.Region, path: []string{"sandbox", "sandboxes", s.ID, what},
		query: url.Values{"limit": {"100"}}, Call: wire.Call{What: what}}
}

// Executions are what the sandbox was asked to run and has not finished. What probes left
// behind is not its work, and what was overtaken does not wait.
func (p *Provider) Executions(ctx context.Context, s reconcile.Sandbox) (reconcile.ExecutionsSeen, error) {
	q, err := p.queue(ctx, s)
	if err != nil {
		return reconcile.ExecutionsSeen{}, fmt.Errorf("read executions of sandbox %s of %s: %w", s.ID, p.entry.Name, err)
	}
	out := reconcile.ExecutionsSeen{Queued: len(q.waiting), Running: q.running}
	for _, at := range p.sinces(ctx, s, q) {
		out.QueuedFor = max(out.QueuedFor, q.at.Sub(at))
	}
	return out, nil
}

// sinces are since when each execution has been waiting: as it says itself, else as an event
// of the sandbox does that names it, else since we first saw it.
func (p *Provider) sinces(ctx context.Context, s reconcile.Sandbox, q queue) []time.Time {
	if len(q.waiting) == 0 {
		p.waiting.Delete(s.ID)
		return nil
	}
	seen, _ := p.waiting.Load(s.ID)
	before, _ := seen.(map[string]time.Time)
	told := p.told(ctx, s, q.waiting)
	now := map[string]time.Time{}
	var out []time.Time
	for _, e := range q.waiting {
		at := q.at
		if old, ok := before[e.ID]; ok {
			at = old
		}
		if event, ok := told[e.ID]; ok && event.Before(at) {
			at = event
		}
		if since := e.since(); !since.IsZero() {
			at = since
		}
		now[e.ID] = at
		out = append(out, at)
	}
	p.waiting.Store(s.ID, now)
	return out
}

// An event is one moment of a sandbox's life.
type event struct {
	Type      string         `json:"type"`
	Event     map[string]any `json:"event"`
	CreatedAt wire.Stamp     `json:"createdAt"`
}

func (p *Provider) events(ctx context.Context, s reconcile.Sandbox) ([]event, error) {
	c := about(s, "events")
	c.query.Set("direction", "desc")
	in, _, err := fetch[struct {
		Events []event `json:"events"`
	}](ctx, p, c)
	return in.Events, err
}

// told is when events first name executions that do not tell it themselves. Without events
// nothing is told.
func (p *Provider) told(ctx context.Context, s reconcile.Sandbox, waiting []execution) map[string]time.Time {
	if !slices.ContainsFunc(waiting, func(e execution) bool { return e.since().IsZero() }) {
		return nil
	}
	events, err := p.events(ctx, s)
	if err != nil {
		return nil
	}
	out := map[string]time.Time{}
	for _, e := range events {
		id, _ := e.Event["executionId"].(string)
		if old, ok := out[id]; id != "" && !e.CreatedAt.IsZero() && (!ok || e.CreatedAt.Before(old)) {
			out[id] = e.CreatedAt.Time
		}
	}
	return out
}
