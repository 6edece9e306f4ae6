package e2b

import (
	"context"
	"slices"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A lifecycle is one event of a sandbox's life.
type lifecycle struct {
	Type string     `json:"type"`
	At   wire.Stamp `json:"timestamp"`
	Of   string     `json:"sandboxId"`
	Run  string     `json:"sandboxExecutionId"` // another one after each resume
	Data *struct {
		Reason string `json:"kill_reason"`
	} `json:"eventData"` // nil in older ones
}

// turning are the events that begin or end a run.
var turning = []string{"created", "resumed", "paused", "killed"}

// Death is the event killed, unless the sandbox was resumed since. A machine that crashed, a lost node and the delete
// of a paused sandbox leave no event. Only the vendor itself is asked, as for [Provider.Logs].
func (p *Provider) Death(ctx context.Context, id string) (reconcile.Death, error) {
	return p.base.Death(ctx, id, func(ctx context.Context) (reconcile.Death, error) {
		if !slices.Contains(vendors, p.domain) {
			return reconcile.Death{}, wire.NoRecord("only the vendor's own cloud has events")
		}
		var in []lifecycle
		a, err := p.client.Get(ctx, wire.Call{What: "events", URL: p.client.At("events", "sandboxes", id) + "?limit=100"}, &in)
		if err != nil {
			return reconcile.Death{}, err
		}
		d, err := killed(in, id)
		d.AsOf = a.Date
		return d, err
	})
}

func killed(events []lifecycle, id string) (reconcile.Death, error) {
	const prefix = "sandbox.lifecycle."
	var last lifecycle
	for _, e := range events {
		turns := slices.ContainsFunc(turning, func(kind string) bool { return e.Type == prefix+kind })
		if turns && e.Of == id && (e.At.After(last.At.Time) || last.Type == "") {
			last = e
		}
	}
	if last.Type != prefix+"killed" {
		return reconcile.Death{}, wire.NoRecord("its newest event is no end")
	}
	why := "killed"
	if last.Data != nil && last.Data.Reason != "" {
		why = "killed: " + last.Data.Reason
	}
	return reconcile.Death{At: last.At.Time, Reason: why, Incarnation: last.Run, Record: "lifecycle event"}, nil
}
