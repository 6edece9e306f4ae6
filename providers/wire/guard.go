package wire

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Guard puts the client's turn, waits, circuit and bounds around the calls of a client
// that a vendor or a library brings: its requests wait for the rate, are not made while
// the circuit is open or the provider asked to wait, and no body that it reads is larger
// than limit. Deadlines, credentials and repeats stay that client's own: switch its
// repeats off. A connection that is taken over (101) is left alone.
func (c *Client) Guard(next http.RoundTripper, limit int64) http.RoundTripper {
	return guard{client: c, next: next, limit: limit}
}

type guard struct {
	client *Client
	next   http.RoundTripper
	limit  int64
}

type paidKey struct{}

// Ahead waits for the turn of the first guarded call under the context, before the caller gives
// that call a deadline: waiting for our own rate is not the provider's silence.
func (c *Client) Ahead(ctx context.Context) (context.Context, error) {
	if err := c.admit(ctx, Call{Method: http.MethodGet}); err != nil {
		return ctx, err
	}
	return context.WithValue(ctx, paidKey{}, new(atomic.Bool)), nil
}

// RoundTrip makes one guarded call.
func (g guard) RoundTrip(r *http.Request) (*http.Response, error) {
	k := Call{Method: r.Method}
	if paid, ok := r.Context().Value(paidKey{}).(*atomic.Bool); !ok || paid.Swap(true) {
		if err := g.client.admit(r.Context(), k); err != nil {
			return nil, err
		}
	}
	if err := reconcile.TooLate(r.Context()); err != nil {
		return nil, err // its turn was waited for ahead
	}
	began := time.Now()
	res, err := g.next.RoundTrip(r)
	if err != nil {
		slow := errors.Is(err, context.DeadlineExceeded)
		g.client.tell(strings.ToLower(r.Method), codeOf(Answer{}, slow), time.Since(began))
		return nil, err
	}
	a := Answer{Status: res.StatusCode, Header: res.Header, Date: g.client.date(res.Header)}
	g.client.tell(strings.ToLower(r.Method), codeOf(a, false), time.Since(began))
	switch {
	case a.OK():
		reconcile.NoteClock(r.Context(), saidDate(a.Header), began)
	case a.Status == http.StatusTooManyRequests:
		reconcile.NoteThrottled(r.Context())
	}
	limit := g.limit
	if !a.OK() && a.Status != http.StatusSwitchingProtocols {
		limit = maxWords
		a.Body = keep(res)
	}
	g.client.learn(k, a)
	if seen, ok := r.Context().Value(seenKey{}).(*Seen); ok {
		seen.note(a)
	}
	if res.StatusCode == http.StatusSwitchingProtocols {
		return res, nil
	}
	res.Body = &bounded{ReadCloser: res.Body, left: limit, limit: limit}
	return res, nil
}

// keep reads the words of an error and leaves them for who reads next. What cannot be read is
// cut off.
func keep(res *http.Response) []byte {
	text, _ := io.ReadAll(io.LimitReader(res.Body, maxWords+1))
	res.Body = struct {
		io.Reader
		io.Closer
	}{bytes.NewReader(text), res.Body}
	return text[:min(len(text), maxWords)]
}

// A bounded body ends with an error where it gets too large.
type bounded struct {
	io.ReadCloser
	left, limit int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left < 0 {
		return 0, tooLarge(b.limit)
	}
	if int64(len(p)) > b.left+1 {
		p = p[:b.left+1]
	}
	n, err := b.ReadCloser.Read(p)
	if b.left -= int64(n); b.left < 0 {
		return n - 1, tooLarge(b.limit)
	}
	return n, err
}

type seenKey struct{}

// Seen is what the answers to guarded calls said beside their bodies.
type Seen struct {
	mu    sync.Mutex
	first Answer
	last  Answer
}

// Watch notes what guarded calls under the context are answered.
func Watch(ctx context.Context) (context.Context, *Seen) {
	seen := &Seen{}
	return context.WithValue(ctx, seenKey{}, seen), seen
}

func (s *Seen) note(a Answer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.first.Status == 0 {
		s.first = a
	}
	s.last = a
}

// Date is the provider's clock at the first answer; zero when there was none.
func (s *Seen) Date() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.first.Date
}

// Last is the last answer. It has a body only where it is no success, so that
// [Client.Refuse] tells what a library's error hides, such as a 404 that is a page.
func (s *Seen) Last() Answer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last
}
