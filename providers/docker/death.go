package docker

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strconv"
	"time"

	"github.com/moby/moby/api/types/container"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// remembers is how far back events are asked for. An engine keeps the last 256 of all containers, in memory.
const remembers = 24 * time.Hour

// Death is what a container that is still there says of its end; of one that was removed, what the engine's last events
// do. An engine that was restarted, or was busy meanwhile, has forgotten them: each of our own probes is three events.
func (p *Provider) Death(ctx context.Context, id string) (reconcile.Death, error) {
	return p.base.Death(ctx, id, func(ctx context.Context) (reconcile.Death, error) {
		if err := checkID(id); err != nil {
			return reconcile.Death{}, err
		}
		c, a, err := p.inspect(ctx, id)
		switch {
		case errors.Is(err, reconcile.ErrNotFound):
			return p.lastWord(ctx, id, a.Date)
		case err != nil:
			return reconcile.Death{}, err
		}
		return endOf(cmp.Or(c.State, &container.State{}), a.Date)
	})
}

func endOf(s *container.State, asOf time.Time) (reconcile.Death, error) {
	at, state := stamp(s.FinishedAt), states[string(s.Status)]
	over := state == reconcile.SandboxStopped || state == reconcile.SandboxFailed
	if !over || at.IsZero() || at.Before(stamp(s.StartedAt)) {
		return reconcile.Death{}, wire.NoRecord("the container's state tells no end")
	}
	return reconcile.Death{At: at, AsOf: asOf, Reason: cmp.Or(why(s), fmt.Sprintf("exit %d", s.ExitCode)),
		Incarnation: s.StartedAt, Record: "container state"}, nil
}

// An event is one of the engine's: of its fields those that are used.
type event struct {
	Type   string `json:"Type"`
	Action string `json:"Action"`
	Actor  struct {
		ID         string            `json:"ID"`
		Attributes map[string]string `json:"Attributes"`
	} `json:"Actor"`
	Nano int64 `json:"timeNano"`
}

// lastWord reads the events of a container that is gone. A stream that has an end is asked for: up to the engine's own
// now.
func (p *Provider) lastWord(ctx context.Context, id string, asOf time.Time) (reconcile.Death, error) {
	c, err := p.ready(ctx)
	if err != nil {
		return reconcile.Death{}, err
	}
	if asOf.IsZero() {
		asOf = p.base.Now()
	}
	filters, _ := json.Marshal(map[string][]string{"container": {id}, "type": {"container"}}) // texts always encode
	query := url.Values{"since": {strconv.FormatInt(asOf.Add(-remembers).Unix(), 10)},
		"until": {strconv.FormatInt(asOf.Unix(), 10)}, "filters": {string(filters)}}
	a, err := p.client.Read(ctx, wire.Call{What: "events", Max: maxOne,
		URL: p.client.At("v"+c.ClientVersion(), "events") + "?" + query.Encode()})
	if err == nil {
		err = p.client.Readable(a)
	}
	if err != nil {
		return reconcile.Death{}, p.noted(err)
	}
	return died(json.NewDecoder(bytes.NewReader(a.Body)), id, a.Date)
}

// died is the last end among the events, unless the container was started again.
func died(in *json.Decoder, id string, asOf time.Time) (d reconcile.Death, err error) {
	oom := false
	for {
		var e event
		switch err := in.Decode(&e); {
		case errors.Is(err, io.EOF) && d.At.IsZero():
			return d, wire.NoRecord("the engine's events tell no end of it")
		case errors.Is(err, io.EOF):
			return d, nil
		case err != nil:
			return d, fmt.Errorf("read the events: %w", err)
		case e.Actor.ID != id || e.Type != "container":
			continue
		}
		switch e.Action {
		case "start":
			d, oom = reconcile.Death{}, false
		case "oom":
			oom = true
		case "die", "died":
			why := "exit " + cmp.Or(e.Actor.Attributes["exitCode"], "code not told")
			if oom {
				why = "out of memory, " + why
			}
			d = reconcile.Death{At: time.Unix(0, e.Nano).UTC(), AsOf: asOf, Reason: why, Record: "engine's event"}
		}
	}
}
