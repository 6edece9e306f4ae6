package serve

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/pb33f/libopenapi"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/web"
	"github.com/sandkeeper/sandkeeper/web/webtest"
)

// A heardEvent is one of a stream, as a program reads it.
type heardEvent struct{ id, data string }

// listened asks for events and reads so many of them.
func listened(t *testing.T, address, query, last string, most int) (all []heardEvent) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+address+"/api/v1/events"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "text/event-stream")
	if last != "" {
		r.Header.Set("Last-Event-ID", last)
	}
	answer, err := (&http.Transport{}).RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != 200 || answer.Header.Get("Content-Type") != "text/event-stream" {
		t.Fatalf("events are answered with %d, %v", answer.StatusCode, answer.Header)
	}
	lines := bufio.NewScanner(answer.Body)
	for len(all) < most && lines.Scan() {
		if id, is := strings.CutPrefix(lines.Text(), "id: "); is {
			lines.Scan()
			all = append(all, heardEvent{id, strings.TrimPrefix(lines.Text(), "data: ")})
		}
	}
	if lines.Err() != nil {
		t.Fatal(lines.Err())
	}
	return all
}

// TestEvents: who goes on from an event hears what followed it, each as a CloudEvent on one line, and no other type than
// he chose.
func TestEvents(t *testing.T) {
	o := options()
	o.Ledger, o.Records = &moving{Ledger: webtest.Ledger{World: webtest.World{Overview: webtest.Healthy()}}}, recorded{}
	r := serve(t, New(o), "")
	defer r.end(t)
	ids := []string{"1.1.2", "2.1.2", "2.1.3"}
	types := []string{"sandkeeper.finding.opened", "sandkeeper.action", "sandkeeper.pass.ended"}
	for name, c := range map[string]struct {
		query, last string
		from, to    int
	}{
		"from the beginning":  {"", "0.0.0", 0, 3},
		"after the first":     {"", "1.1.2", 1, 3},
		"after the last line": {"", "2.1.2", 2, 3},
		"findings alone":      {"?type=sandkeeper.finding", "0.0.0", 0, 1},
		"passes alone":        {"?type=sandkeeper.pass", "0.0.0", 2, 3},
	} {
		t.Run(name, func(t *testing.T) {
			var gotIDs, gotTypes []string
			for _, e := range listened(t, r.address, c.query, c.last, c.to-c.from) {
				var event struct {
					SpecVersion, ID, Source, Type, DataContentType string
					Time                                           time.Time
				}
				if err := json.Unmarshal([]byte(e.data), &event); err != nil || event.SpecVersion != "1.0" || event.ID == "" ||
					!strings.HasPrefix(event.Source, "/sandkeeper/") || event.Time.IsZero() || event.DataContentType != "application/json" {
					t.Errorf("no CloudEvent: %v: %s", err, e.data)
				}
				if strings.ContainsAny(e.data, "\u202e\x1b\u200b") {
					t.Errorf("what is not to be seen is sent: %q", e.data)
				}
				gotIDs, gotTypes = append(gotIDs, e.id), append(gotTypes, event.Type)
			}
			if diff := cmp.Diff([][]string{ids[c.from:c.to], types[c.from:c.to]}, [][]string{gotIDs, gotTypes}); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// TestEventsAreRefused: a place that is none, or of another ledger, is told and not taken for the end.
func TestEventsAreRefused(t *testing.T) {
	well := programs(web.Reading{Overview: webtest.Healthy()}, recorded{})
	down := programs(web.Reading{Err: context.DeadlineExceeded}, recorded{err: errors.New("connection refused")})
	for name, c := range map[string]struct {
		h          http.Handler
		path, last string
		accept     string
		want       int
	}{
		"no place":         {well, "", "yesterday", "text/event-stream", 400},
		"below all":        {well, "", "-1.0.0", "text/event-stream", 400},
		"too few":          {well, "", "1.1", "text/event-stream", 400},
		"another ledger":   {well, "", "9.1.2", "text/event-stream", 400},
		"a pass to come":   {well, "", "1.1.9", "text/event-stream", 400},
		"misspelt":         {well, "?kind=x", "", "text/event-stream", 400},
		"no stream":        {well, "", "", "application/json", 406},
		"without a ledger": {down, "", "", "text/event-stream", 503},
	} {
		w := ask(c.h, "GET", "/api/v1/events"+c.path, "Accept", c.accept, "Last-Event-ID", c.last)
		if w.Code != c.want || w.Header().Get("Content-Type") != "application/problem+json" {
			t.Errorf("%s: %d, want %d: %s", name, w.Code, c.want, w.Body)
		}
	}
}

// A growing record gets longer when it is told to, and counts how often it is read.
type growing struct {
	recorded
	mu    sync.Mutex
	lines int64
	read  int
	down  bool
}

func (g *growing) RecordEnd(context.Context) (reconcile.RecordPlace, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return reconcile.RecordPlace{Link: g.lines}, nil
}

func (g *growing) RecordAfter(_ context.Context, p reconcile.RecordPlace, _ int) (found []reconcile.RecordEvent, _ error) {
	time.Sleep(time.Millisecond) // a database takes its time
	g.mu.Lock()
	defer g.mu.Unlock()
	g.read++
	if g.down {
		return nil, errors.New("connection refused")
	}
	for p.Link < g.lines {
		p.Link++
		found = append(found, reconcile.RecordEvent{Place: p, Number: p.Link, TimelineEvent: reconcile.TimelineEvent{At: noon, Kind: "action"}})
	}
	return found, nil
}

func (g *growing) grow(m *moving, to string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.lines++
	m.move(to)
}

func (g *growing) count() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.read
}

// TestEventsOfMany: a hundred programs hear of each change within a second, with a query or two for all of them; what
// could not be read comes later; and all are sent away after a time, to show again who they are.
func TestEventsOfMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o, record, ledger := options(), &growing{}, &moving{}
		ledger.World = webtest.World{Overview: webtest.Healthy()}
		o.Ledger, o.Records = ledger, record
		h := New(o)
		var answers [100]*httptest.ResponseRecorder
		var all sync.WaitGroup
		began := time.Now()
		for i := range answers {
			all.Go(func() { answers[i] = ask(h, "GET", "/api/v1/events", "Accept", "text/event-stream") })
		}
		time.Sleep(100 * time.Millisecond)
		before := record.count()
		for _, to := range []string{"a", "b", "c"} {
			record.grow(ledger, to)
			time.Sleep(time.Second)
		}
		if n := record.count() - before; n > 12 {
			t.Errorf("three changes were read %d times for a hundred programs", n)
		}
		record.mu.Lock()
		record.down = true
		record.mu.Unlock()
		record.grow(ledger, "d")
		time.Sleep(time.Second)
		record.mu.Lock()
		record.down = false
		record.mu.Unlock()
		all.Wait()
		if took := time.Since(began); took < streamFor || took > streamFor+time.Second {
			t.Errorf("streams end after %s", took)
		}
		time.Sleep(time.Second) // what nobody waits for any more ends
		for _, w := range answers {
			if n := strings.Count(w.Body.String(), "\ndata: "); n != 4 {
				t.Fatalf("a program heard %d of 4 events: %s", n, w.Body)
			}
		}
	})
}

// TestEventsAreDescribed: the document says what each event of the stream is.
func TestEventsAreDescribed(t *testing.T) {
	doc, err := libopenapi.NewDocument(openAPIText)
	if err != nil {
		t.Fatal(err)
	}
	model, err := doc.BuildV3Model()
	if err != nil {
		t.Fatal(err)
	}
	schema := model.Model.Components.Schemas.GetOrZero("CloudEvent")
	if schema == nil || !slices.Contains(schema.Schema().Required, "specversion") {
		t.Error("the document does not describe a CloudEvent")
	}
}
