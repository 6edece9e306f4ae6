package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/web/api"
)

const (
	eventsAtOnce = 200              // that are read of the ledger with one query
	streamFor    = 10 * time.Minute // then who listens shows again who he is: a token may have been revoked
)

// A listening is one program that hears what happens.
type listening struct {
	w      http.ResponseWriter
	at     reconcile.RecordPlace // what it has heard
	only   string                // types begin so
	source string                // of the events
}

// events is a stream of what happens, as CloudEvents, from a place on or from now on.
func (s *streams) events(w http.ResponseWriter, r *http.Request) {
	if !wantsStream(r) {
		problem(w, api.Problem{Status: http.StatusNotAcceptable, Detail: "ask with Accept: text/event-stream"})
		return
	}
	l, err := s.listen(w, r)
	if err != nil {
		s.failed(w, r, err)
		return
	}
	heard, leave, ok := s.herald.join() //nolint:contextcheck // what asks the ledger outlives the page that began it
	if !ok {
		w.Header().Set("Retry-After", "5")
		problem(w, api.Problem{Status: http.StatusServiceUnavailable, Detail: "too many listen; ask again"})
		return
	}
	defer leave()
	beginStream(w, r)
	ctx, cancel := context.WithTimeout(r.Context(), streamFor)
	defer cancel()
	s.tellEvents(ctx, l, heard)
}

// listen is who asks, and from where on.
func (s *streams) listen(w http.ResponseWriter, r *http.Request) (*listening, error) {
	if err := checkQuery(r); err != nil {
		return nil, err
	}
	if s.Records == nil {
		return nil, errLedger
	}
	now, err := s.documents.overview(r.Context())
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(r.Context(), patience)
	defer cancel()
	end, err := s.Records.RecordEnd(ctx)
	l := &listening{w: w, at: end, only: r.URL.Query().Get("type"),
		source: "/sandkeeper/" + url.PathEscape(now.Overview.Installation)}
	if id := r.Header.Get("Last-Event-ID"); id != "" && err == nil {
		l.at, err = parsePlace(id)
		if err == nil && l.at.Beyond(end) {
			err = wrong("Last-Event-ID is of another ledger: nothing here has gone so far; ask without one")
		}
	}
	return l, err
}

// tellEvents writes what happens until who listens has left, or has to show again who he is.
func (s *streams) tellEvents(ctx context.Context, l *listening, heard <-chan struct{}) {
	beat := time.NewTicker(beatEvery)
	defer beat.Stop()
	lines := "retry: 2000\n: here\n\n"
	for {
		if err := sendLine(http.NewResponseController(l.w), l.w, lines); err != nil {
			return // it has left
		}
		news, err := s.news(ctx, l)
		if err != nil && ctx.Err() == nil {
			s.Log.WarnContext(ctx, "events without the ledger", "err", err)
		}
		if news != "" {
			lines = news
			continue // until nothing is left
		}
		select {
		case <-ctx.Done():
			return
		case <-ending(ctx):
			return
		case <-heard:
			lines = ""
		case <-beat.C: // also reads what could not be read a moment ago
			lines = ": here\n\n"
		}
	}
}

// news are the events after what was heard, as they are written; "" when there are none. Who chose a type hears of the
// place at least, so that it need not begin before all that it left out.
func (s *streams) news(ctx context.Context, l *listening) (string, error) {
	found, err := s.recorded.after(ctx, s.Records, l.at)
	if err != nil || len(found) == 0 {
		return "", err
	}
	var out bytes.Buffer
	for i := range found {
		l.at = found[i].Place
		e := api.CloudEventOf(&found[i], l.source)
		if !strings.HasPrefix(e.Type, l.only) {
			continue
		}
		body, err := json.Marshal(e)
		if err != nil {
			return "", fmt.Errorf("write event %s: %w", e.ID, err)
		}
		fmt.Fprintf(&out, "id: %s\ndata: %s\n\n", placeID(l.at), escaped(body))
	}
	if out.Len() == 0 {
		return ": here\n\n", nil
	}
	return out.String(), nil
}

// placeID is a place as a program hands it back.
func placeID(p reconcile.RecordPlace) string {
	return fmt.Sprintf("%d.%d.%d", p.Link, p.Within, p.Pass)
}

func parsePlace(id string) (reconcile.RecordPlace, error) {
	var n [3]int64
	parts := strings.Split(id, ".")
	whole := len(parts) == len(n)
	for i := 0; whole && i < len(n); i++ {
		var err error
		n[i], err = strconv.ParseInt(parts[i], 10, 64)
		whole = err == nil && n[i] >= 0
	}
	if !whole {
		return reconcile.RecordPlace{}, wrong("Last-Event-ID %q is none that was given out; ask without one",
			text.Clip(id, 60))
	}
	return reconcile.RecordPlace{Link: n[0], Within: n[1], Pass: n[2]}, nil
}

// recordedOnce reads for all who listen at the same place with one query.
type recordedOnce struct{ calls singleflight.Group }

func (o *recordedOnce) after(ctx context.Context, from Records, p reconcile.RecordPlace) (
	[]reconcile.RecordEvent, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("no answer within %s", patience))
	defer cancel()
	// Who asked first may leave: the others still wait for the answer.
	answer := o.calls.DoChan(placeID(p), func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
		defer cancel()
		return from.RecordAfter(ctx, p, eventsAtOnce)
	})
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case a := <-answer:
		found, _ := a.Val.([]reconcile.RecordEvent)
		return found, a.Err
	}
}
