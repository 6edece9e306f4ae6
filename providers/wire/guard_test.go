package wire_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/providers/wire/wiretest"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// foreign is a client that somebody else made, behind the guard of ours.
func foreign(t *testing.T, d *double, limit int64) *http.Client {
	t.Helper()
	return &http.Client{Transport: over(t, d).Guard(wiretest.Transport(d), limit)}
}

func get(ctx context.Context, c *http.Client) (string, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://lab.test/x", nil)
	if err != nil {
		return "", err
	}
	res, err := c.Do(r)
	if err != nil {
		return "", err
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	return string(body), err
}

func TestGuardBounds(t *testing.T) {
	for name, test := range map[string]struct {
		status, size int
		large        bool
		read         int
	}{
		"an answer that fits":             {200, 100, false, 100},
		"an answer that is too large":     {200, 101, true, 100},
		"an answer that is far larger":    {200, 100_000, true, 100},
		"an error has a bound of its own": {500, 200, false, 200},
		"a large error":                   {500, 100_000, true, 64 << 10},
	} {
		d := &double{answer: func(_ int, w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(test.status)
			_, _ = io.WriteString(w, strings.Repeat("x", test.size))
		}}
		body, err := get(t.Context(), foreign(t, d, 100))
		if errors.Is(err, wire.ErrLarge) != test.large || err != nil && !test.large || len(body) != test.read {
			t.Errorf("%s: read %d bytes, %v; want %d, too large %t", name, len(body), err, test.read, test.large)
		}
	}
}

// A refused credential and a wait hold a foreign client back as they do ours.
func TestGuardHoldsBack(t *testing.T) {
	for name, test := range map[string]struct {
		status int
		want   error
	}{
		"a refused credential": {401, reconcile.ErrUnauthorized}, "a limit": {429, reconcile.ErrThrottled},
	} {
		d := &double{answer: func(_ int, w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "120")
			w.WriteHeader(test.status)
		}}
		c := foreign(t, d, 100)
		if _, err := get(t.Context(), c); err != nil {
			t.Errorf("%s: the answer itself = %v, want it passed on", name, err)
		}
		for range 3 {
			if _, err := get(t.Context(), c); !errors.Is(err, test.want) || d.calls.Load() != 1 {
				t.Errorf("%s: a further call = %v after %d calls, want %v after 1", name, err, d.calls.Load(), test.want)
			}
		}
	}
}

func TestGuardTakesTurns(t *testing.T) {
	full := errors.New("the line is full")
	d := &double{answer: func(_ int, w http.ResponseWriter, _ *http.Request) {}}
	c := over(t, d, func(_ *entry.Entry, o *entry.Options, _ *wire.Dialect) {
		o.Turn = func(context.Context) error { return full }
	})
	_, err := get(t.Context(), &http.Client{Transport: c.Guard(wiretest.Transport(d), 100)})
	if !errors.Is(err, full) || !errors.Is(err, reconcile.ErrThrottled) || d.calls.Load() != 0 {
		t.Errorf("a call without a turn = %v after %d calls, want throttled after none", err, d.calls.Load())
	}
}

// Who waited for the turn of a call before its deadline begins does not wait twice, and what the
// call makes besides waits for itself.
func TestGuardTakesATurnAhead(t *testing.T) {
	turns := 0
	d := &double{answer: func(_ int, w http.ResponseWriter, _ *http.Request) {}}
	c := over(t, d, func(_ *entry.Entry, o *entry.Options, _ *wire.Dialect) {
		o.Turn = func(context.Context) error { turns++; return nil }
	})
	ctx, err := c.Ahead(t.Context())
	if err != nil || turns != 1 {
		t.Fatalf("Ahead = %v after %d turns, want none after 1", err, turns)
	}
	for _, want := range []int{1, 2} {
		_, err := get(ctx, &http.Client{Transport: c.Guard(wiretest.Transport(d), 100)})
		if err != nil || turns != want {
			t.Errorf("a call = %v after %d turns, want none after %d", err, turns, want)
		}
	}
}

func TestWatch(t *testing.T) {
	d := &double{answer: func(call int, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Date", time.Date(2026, 1, call, 0, 0, 0, 0, time.UTC).Format(http.TimeFormat))
		w.Header().Set("Content-Type", "text/html")
		w.WriteHeader(http.StatusNotFound)
	}}
	c := foreign(t, d, 100)
	ctx, seen := wire.Watch(t.Context())
	if !seen.Date().IsZero() || seen.Last().Status != 0 {
		t.Errorf("before a call: %s, %+v; want nothing", seen.Date(), seen.Last())
	}
	for range 2 {
		if _, err := get(ctx, c); err != nil {
			t.Fatal(err)
		}
	}
	if last := seen.Last(); seen.Date().Day() != 1 || last.Status != 404 || wire.IsJSON(last.Header) || last.Date.Day() != 2 {
		t.Errorf("seen %s and at last %+v, want the first answer's date and the last answer", seen.Date(), last)
	}
}

// An error's words stay for the library that reads next, and for who asks what they mean.
func TestWatchKeepsTheWords(t *testing.T) {
	const words = `{"message":"it is not here"}`
	for name, test := range map[string]struct {
		status     int
		body, kept string
	}{
		"an error":       {404, words, words},
		"a success":      {200, words, ""},
		"a large error":  {500, strings.Repeat("x", 80<<10), strings.Repeat("x", 64<<10)},
		"an empty error": {502, "", ""},
	} {
		d := &double{answer: func(_ int, w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(test.status)
			_, _ = io.WriteString(w, test.body)
		}}
		ctx, seen := wire.Watch(t.Context())
		text, err := get(ctx, foreign(t, d, 100))
		if got := string(seen.Last().Body); got != test.kept || err != nil && len(test.body) < 64<<10 || err == nil && text != test.body {
			t.Errorf("%s: kept %d bytes, read %q, %v; want %d kept and all of it read", name, len(got), text, err, len(test.kept))
		}
	}
}

// What is small on the wire and large when unpacked is bounded as it is unpacked.
func TestPackedBodies(t *testing.T) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write(bytes.Repeat([]byte(" "), 8<<20))
	_ = w.Close()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write(packed.Bytes())
	}))
	defer server.Close()
	c, err := wire.New(entry.Entry{URL: server.URL}, entry.Options{}, wire.Dialect{})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Once(t.Context(), wire.Call{Method: http.MethodGet, URL: server.URL})
	if !errors.Is(err, wire.ErrLarge) || packed.Len() > wire.MaxOne {
		t.Errorf("%d bytes that unpack to 8 MiB = %v, want it refused for its size", packed.Len(), err)
	}
	if _, err := get(t.Context(), &http.Client{Transport: atServer{c.Guard(wire.Transport(), 1<<20), server.URL}}); !errors.Is(err, wire.ErrLarge) {
		t.Errorf("the same through the guard = %v, want it refused for its size", err)
	}
}

// atServer sends every request to a server.
type atServer struct {
	next http.RoundTripper
	url  string
}

func (a atServer) RoundTrip(r *http.Request) (*http.Response, error) {
	to, err := http.NewRequestWithContext(r.Context(), r.Method, a.url, nil)
	if err != nil {
		return nil, err
	}
	return a.next.RoundTrip(to)
}
