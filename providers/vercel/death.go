package vercel

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// A stop is how a session ended.
type stop struct {
	ID          string `json:"id"`
	Status      string `json:"status"`
	Project     string `json:"projectId"`
	RequestedAt stamp  `json:"requestedStopAt"`
	StoppedAt   stamp  `json:"stoppedAt"`
	AbortedAt   stamp  `json:"abortedAt"`
	SavedAt     stamp  `json:"snapshottedAt"`
}

// Death is what the session's own record says of its end, for as long as there is one. It tells no reason: only
// whether somebody asked for the stop.
func (p *Provider) Death(ctx context.Context, id string) (reconcile.Death, error) {
	return p.base.Death(ctx, id, func(ctx context.Context) (reconcile.Death, error) {
		if !strings.HasPrefix(id, "sbx_") {
			return reconcile.Death{}, wire.NoRecord("it is no session")
		}
		var in struct {
			Session stop `json:"session"`
		}
		a, err := p.client.Get(ctx, wire.Call{What: "get session", URL: p.at(nil, "sessions", id)}, &in)
		switch v := &in.Session; {
		case err != nil && a.Status == http.StatusGone:
			return reconcile.Death{}, errors.New(text.Clip(err.Error(), 200))
		case err != nil:
			return reconcile.Death{}, err
		case v.ID != id || v.Project != "" && v.Project != p.project:
			return reconcile.Death{}, errors.New("the answer is another session")
		}
		return in.Session.death(a.Date)
	})
}

func (v *stop) death(asOf time.Time) (reconcile.Death, error) {
	at := max(v.StoppedAt, v.AbortedAt).time()
	if !over(v.Status) || at.IsZero() {
		return reconcile.Death{}, wire.NoRecord("the session's record tells no end")
	}
	why := v.Status + ", and nobody asked for it"
	switch {
	case v.RequestedAt > 0:
		why = v.Status + " on request"
	case v.SavedAt > 0: // whether somebody asked for the snapshot, or its stop took it, is not told
		why = v.Status + ", with a snapshot"
	}
	return reconcile.Death{At: at, AsOf: asOf, Reason: why, Incarnation: v.ID, Record: "session record"}, nil
}
