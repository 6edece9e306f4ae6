package wire

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A Call is one request to make.
type Call struct {
	What    string // doing what of which thing, for the log
	Method  string
	URL     string // whole: see [Client.At]
	Body    []byte
	Type    string            // of the body; "" means JSON
	Accept  string            // "" means JSON
	Max     int64             // largest body of an answer; 0 means MaxOne
	Timeout time.Duration     // 0: the client's
	Inside  bool              // asks the sandbox itself: says nothing of the credential, nor of the account's limits
	Header  map[string]string // further ones of this call alone
}

// An Answer is what came back, its body read.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
	Date   time.Time // the provider's now; our own where it does not say
}

// OK reports whether it is a success.
func (a Answer) OK() bool { return a.Status/100 == 2 }

// Lost is a call that got no answer.
type Lost struct {
	Err       error
	Connected bool // the request was written: it may have been carried out
	Slow      bool // our own deadline for the call ended it
}

func (l *Lost) Error() string { return l.Err.Error() }
func (l *Lost) Unwrap() error { return l.Err }

// Once makes a single attempt. An error means that there was no answer; every status is an
// answer.
func (c *Client) Once(ctx context.Context, k Call) (Answer, error) {
	if err := c.hosts.may(k.URL); err != nil {
		return Answer{}, err
	}
	if err := c.admit(ctx, k); err != nil {
		return Answer{}, err
	}
	timeout := k.Timeout
	if timeout == 0 {
		timeout = c.timeout
	}
	within, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var wrote atomic.Bool
	traced := httptrace.WithClientTrace(within, &httptrace.ClientTrace{
		WroteRequest: func(w httptrace.WroteRequestInfo) { wrote.Store(w.Err == nil) },
	})
	began := time.Now()
	a, err := c.exchange(traced, k)
	slow := err != nil && ctx.Err() == nil && errors.Is(within.Err(), context.DeadlineExceeded)
	c.tell(k.What, codeOf(a, slow), time.Since(began))
	if err != nil {
		if slow {
			err = fmt.Errorf("no answer within %s", timeout)
			c.heard(k, false)
		}
		return Answer{}, &Lost{Err: c.clean(err), Connected: wrote.Load(), Slow: slow}
	}
	c.heard(k, true)
	c.learn(k, a)
	switch {
	case k.Inside:
	case a.OK():
		reconcile.NoteClock(ctx, saidDate(a.Header), began)
	case a.Status == http.StatusTooManyRequests:
		reconcile.NoteThrottled(ctx)
	}
	return a, nil
}

// codeOf is an answer in a word: its status, or why there was none.
func codeOf(a Answer, slow bool) string {
	switch {
	case a.Status != 0:
		return strconv.Itoa(a.Status)
	case slow:
		return "timeout"
	}
	return "error"
}

// heard notes whether the provider still answers. What goes on inside a sandbox says nothing
// of that.
func (c *Client) heard(k Call, answered bool) {
	if !k.Inside {
		c.silent.Store(!answered)
	}
}

// admit waits for the rate and refuses what would be answered with a refusal.
func (c *Client) admit(ctx context.Context, k Call) error {
	if err := c.circuit.admit(c.now(), k.Inside); err != nil {
		return err
	}
	if !k.Inside {
		if err := c.gateOf(k).pass(ctx, c.now()); err != nil {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err // the caller's patience ended before it was the rate's turn to wait
	}
	if err := c.turn(ctx); err != nil {
		return &throttled{why: "our own rate limit", err: err}
	}
	return reconcile.TooLate(ctx)
}

func (c *Client) exchange(ctx context.Context, k Call) (Answer, error) {
	req, err := http.NewRequestWithContext(ctx, k.Method, k.URL, bytes.NewReader(k.Body))
	if err != nil {
		return Answer{}, err
	}
	c.authorize(req, k)
	res, err := c.http.Do(req)
	if err != nil {
		return Answer{}, Cause(err)
	}
	defer res.Body.Close()
	limit := k.Max
	if limit == 0 {
		limit = MaxOne
	}
	body, err := c.readBody(ctx, res, limit)
	if err != nil {
		return Answer{}, err
	}
	return Answer{Status: res.StatusCode, Header: res.Header, Body: body, Date: c.date(res.Header)}, nil
}

// date is the provider's clock where it says it, else our own.
func (c *Client) date(h http.Header) time.Time {
	if date := saidDate(h); !date.IsZero() {
		return date
	}
	return c.now()
}

// saidDate is the time that an answer says; zero when it says none that can be read.
func saidDate(h http.Header) time.Time {
	date, _ := http.ParseTime(h.Get("Date"))
	return date
}

// Cause leaves out method and address, which the call's own words say better, and says what
// fixes it.
func Cause(err error) error {
	var sent *url.Error
	if errors.As(err, &sent) {
		return advised(sent.Err)
	}
	return advised(err)
}

func (c *Client) authorize(req *http.Request, k Call) {
	req.Header.Set("Accept", first(k.Accept, "application/json"))
	req.Header.Set("User-Agent", c.agent)
	if len(k.Body) > 0 {
		req.Header.Set("Content-Type", first(k.Type, "application/json"))
	}
	for name, value := range k.Header {
		req.Header.Set(name, value)
	}
	c.dialect.Authorize(req, k)
}

// learn keeps what an answer says of the credential and of limits.
func (c *Client) learn(k Call, a Answer) {
	if k.Inside {
		return
	}
	c.leftover(a.Header)
	if a.Status == http.StatusUnauthorized || c.dialect.Refused != nil && c.dialect.Refused(a) {
		if c.circuit.refused(c.now()) {
			c.log.Warn("credential refused", "next_try", c.now().Add(CircuitPause))
		}
		return
	}
	if a.Status < 500 && a.Status != http.StatusTooManyRequests {
		c.circuit.passed()
	}
	if a.Status != http.StatusTooManyRequests && a.Status != http.StatusServiceUnavailable {
		return
	}
	if wait, ok := c.asked(a); ok {
		c.gateOf(k).close(c.now().Add(min(wait, longestOpen)))
	}
}

func (c *Client) gateOf(k Call) *gate {
	if k.Method == http.MethodGet || k.Method == http.MethodHead {
		return &c.gates[0]
	}
	return &c.gates[1]
}
