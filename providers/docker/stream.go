package docker

import (
	"context"
	"encoding/json"
	"net/url"
	"strconv"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/wire"
)

// streamLasts is after how long the engine ends a stream of events, so that one that hangs is noticed.
const streamLasts = 5 * time.Minute

// ends are the engine's words, and Podman's, for what may be the end of a container.
var ends = map[string]bool{"die": true, "died": true, "destroy": true, "remove": true}

// Stream tells of our containers that end, by the engine's events. The engine drops what is not taken at once, and
// tells nothing of what was while nobody listened.
func (p *Provider) Stream(ctx context.Context, opened func(), ended func(id string)) error {
	c, err := p.ready(ctx)
	if err != nil {
		return err
	}
	filters := map[string][]string{"type": {"container"}}
	for key, value := range p.entry.Owns.Labels {
		filters["label"] = append(filters["label"], key+"="+value)
	}
	text, _ := json.Marshal(filters) // texts always encode
	query := url.Values{"filters": {string(text)},
		"until": {strconv.FormatInt(p.base.Now().Add(streamLasts).Unix(), 10)}}
	err = p.client.Stream(ctx, wire.Call{What: "stream events",
		URL: p.client.At("v"+c.ClientVersion(), "events") + "?" + query.Encode()}, opened, func(line []byte) error {
		var e event
		if err := json.Unmarshal(line, &e); err != nil {
			return err
		}
		if ends[e.Action] && checkID(e.Actor.ID) == nil {
			ended(e.Actor.ID)
		}
		return nil
	})
	if wire.StreamEnded(err) {
		return nil
	}
	return p.noted(err)
}
