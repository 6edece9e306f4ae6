package daytona

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/sandkeeper/sandkeeper/providers/entry"
)

// The largest answers that are read.
const (
	maxPage  = 16 << 20
	maxOne   = 1 << 20
	maxWords = 64 << 10 // of an answer that is only an error
)

// A client makes single calls: rate, deadline, credential, bounded bodies. What an answer
// means is the caller's to say.
type client struct {
	base         *url.URL
	token        string
	agent        string
	organization string
	timeout      time.Duration
	http         *http.Client
	turn         func(ctx context.Context) error // waits until the rate lets a call through
	circuit      circuit
	gates        [2]gate // of reads and of changes, which the provider limits apart
	now          func() time.Time
	log          *slog.Logger
}

func newClient(base *url.URL, e entry.Entry, o entry.Options) *client {
	if o.Transport == nil {
		o.Transport = transport()
	}
	c := &client{
		base: base, token: e.Token, agent: o.Agent, organization: e.Extra["organization"],
		timeout: e.Timeout, now: o.Now, log: o.Log.With("provider", e.Name),
		turn: o.Turn,
		http: &http.Client{
			Transport:     o.Transport,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}
	if c.turn == nil {
		c.turn = limiter(e.Rate).Wait
	}
	return c
}

// limiter is the rate of this process alone; 0 means no limit.
func limiter(perSecond float64) *rate.Limiter {
	if perSecond <= 0 {
		return rate.NewLimiter(rate.Inf, 1)
	}
	return rate.NewLimiter(rate.Limit(perSecond), max(1, int(perSecond)))
}

// A call is one request to make.
type call struct {
	what    string // doing what of which thing, for the error
	method  string
	url     string
	body    []byte
	max     int64         // largest body of an answer
	timeout time.Duration // 0: the client's
	toolbox bool          // asks the sandbox itself: says nothing of the credential, leaves no mark of activity
}

// An answer is what came back, its body read.
type answer struct {
	status int
	header http.Header
	body   []byte
	date   time.Time
}

// lost is a call that got no answer.
type lost struct {
	err       error
	connected bool // the request was written: it may have been carried out
	slow      bool // our own deadline for the call ended it
}

func (l *lost) Error() string { return l.err.Error() }
func (l *lost) Unwrap() error { return l.err }

// once makes a single attempt. An error means that there was no answer; every status is
// an answer.
func (c *client) once(ctx context.Context, k call) (answer, error) {
	if err := c.admit(ctx, k); err != nil {
		return answer{}, err
	}
	timeout := k.timeout
	if timeout == 0 {
		timeout = c.timeout
	}
	within, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var wrote atomic.Bool
	traced := httptrace.WithClientTrace(within, &httptrace.ClientTrace{
		WroteRequest: func(w httptrace.WroteRequestInfo) { wrote.Store(w.Err == nil) },
	})
	a, err := c.exchange(traced, k)
	if err != nil {
		slow := ctx.Err() == nil && errors.Is(within.Err(), context.DeadlineExceeded)
		if slow {
			err = fmt.Errorf("no answer within %s", timeout)
		}
		return answer{}, &lost{err: c.clean(err), connected: wrote.Load(), slow: slow}
	}
	c.learn(k, a)
	return a, nil
}

// admit waits for the rate and refuses what would be answered with a refusal.
func (c *client) admit(ctx context.Context, k call) error {
	if err := c.circuit.admit(c.now(), k.toolbox); err != nil {
		return err
	}
	if !k.toolbox {
		if err := c.gateOf(k).pass(ctx, c.now()); err != nil {
			return err
		}
	}
	if err := c.turn(ctx); err != nil {
		return &throttled{why: "our own rate limit", err: err}
	}
	return nil
}

func (c *client) exchange(ctx context.Context, k call) (answer, error) {
	req, err := http.NewRequestWithContext(ctx, k.method, k.url, bytes.NewReader(k.body))
	if err != nil {
		return answer{}, err
	}
	c.dress(req, k)
	res, err := c.http.Do(req)
	if err != nil {
		return answer{}, cause(err)
	}
	defer res.Body.Close()
	body, err := readBody(res, k.max)
	if err != nil {
		return answer{}, err
	}
	a := answer{status: res.StatusCode, header: res.Header, body: body}
	if a.date, err = http.ParseTime(res.Header.Get("Date")); err != nil {
		a.date = c.now()
	}
	return a, nil
}

// cause leaves out method and address, which the call's own words say better.
func cause(err error) error {
	var sent *url.Error
	if errors.As(err, &sent) {
		return sent.Err
	}
	return err
}

func (c *client) dress(req *http.Request, k call) {
	req.Header.Set("Authorization", "Bearer "+c.token)
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", c.agent)
	if c.organization != "" {
		req.Header.Set("X-Daytona-Organization-ID", c.organization)
	}
	if k.toolbox {
		req.Header.Set("X-Daytona-Skip-Last-Activity-Update", "true")
	}
	if len(k.body) > 0 {
		req.Header.Set("Content-Type", "application/json")
	}
}

// errLarge is an answer that would be as large the next time.
var errLarge = errors.New("the answer is larger")

// readBody reads at most limit bytes. An error answer is cut, a good one must fit.
func readBody(res *http.Response, limit int64) ([]byte, error) {
	good := res.StatusCode/100 == 2
	if !good {
		limit = maxWords
	}
	var buf bytes.Buffer
	if n := res.ContentLength; n > 0 && n <= limit {
		buf.Grow(int(n) + bytes.MinRead)
	}
	n, err := buf.ReadFrom(io.LimitReader(res.Body, limit+1))
	switch {
	case err != nil && good:
		return nil, fmt.Errorf("read the answer: %w", err)
	case n > limit && good:
		return nil, fmt.Errorf("%w than %d bytes", errLarge, limit)
	}
	return buf.Bytes(), nil
}

// learn keeps what an answer says of the credential and of limits.
func (c *client) learn(k call, a answer) {
	if k.toolbox {
		return
	}
	if a.status == http.StatusUnauthorized {
		if c.circuit.refused(c.now()) {
			c.log.Warn("credential refused", "next_try", c.now().Add(circuitPause))
		}
		return
	}
	if a.status < 500 && a.status != http.StatusTooManyRequests {
		c.circuit.passed()
	}
	if wait, ok := retryAfter(a.header, a.date); ok && (a.status == 429 || a.status == 503) {
		c.gateOf(k).close(c.now().Add(wait))
	}
}

func (c *client) gateOf(k call) *gate {
	if k.method == http.MethodGet {
		return &c.gates[0]
	}
	return &c.gates[1]
}
