package docker

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/moby/moby/client"

	"github.com/sandkeeper/sandkeeper/providers/entry"
	"github.com/sandkeeper/sandkeeper/providers/wire"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// The largest answers that are read. A listing comes in one piece.
const (
	maxList = 32 << 20
	maxOne  = 8 << 20
)

// An engine is the way to one engine: its own client, behind the guard of ours.
type engine struct {
	guarded *wire.Client
	timeout time.Duration
	options []client.Opt
	client  atomic.Pointer[client.Client] // nil until the engine told which version it speaks
}

func newEngine(e entry.Entry, o entry.Options) (*engine, error) {
	at, err := parseAddress(e)
	if err != nil {
		return nil, err
	}
	if o.Transport == nil {
		o.Transport = at.transport()
	}
	plain := e
	plain.URL = at.base
	headers := map[string]string{}
	if e.Token != "" {
		headers["Authorization"] = "Bearer " + e.Token
	}
	c, err := wire.New(plain, o, wire.Dialect{URL: at.base, Dress: func(r *http.Request, _ wire.Call) {
		for name, value := range headers {
			r.Header.Set(name, value)
		}
	}})
	if err != nil {
		return nil, err
	}
	scheme, _, _ := strings.Cut(at.base, ":")
	guarded := &http.Client{CheckRedirect: client.CheckRedirect, Transport: c.Guard(o.Transport, maxOne)}
	out := &engine{guarded: c, timeout: e.Timeout, options: []client.Opt{client.WithHost(at.host),
		client.WithHTTPClient(guarded), client.WithScheme(scheme), client.WithUserAgent(o.Agent),
		client.WithHTTPHeaders(headers)}}
	if out.timeout <= 0 {
		out.timeout = 10 * time.Second
	}
	if _, err := client.New(out.options...); err != nil {
		return nil, fmt.Errorf("url %s: %w", at.host, err)
	}
	return out, nil
}

// errLate is a call that was not answered in time.
var errLate = errors.New("no answer")

// An asking is one call of the engine's client.
type asking func(ctx context.Context, c *client.Client) error

// ask makes one call, within the time-out, and tells what its answer means.
func (e *engine) ask(ctx context.Context, call asking) (wire.Answer, error) {
	within, cancel := context.WithTimeout(ctx, e.timeout)
	defer cancel()
	c, a, err := e.connect(within)
	if err == nil {
		watched, seen := wire.Watch(within)
		err = call(watched, c)
		a = seen.Last()
	}
	if err == nil {
		return a, nil
	}
	if ctx.Err() == nil && errors.Is(within.Err(), context.DeadlineExceeded) {
		return wire.Answer{}, fmt.Errorf("%w within %s", errLate, e.timeout)
	}
	return a, e.noted(c, e.meaning(a, err))
}

// noted forgets the client of a version that the engine does not speak any more.
func (e *engine) noted(c *client.Client, err error) error {
	if outdated(err) {
		e.client.CompareAndSwap(c, nil)
	}
	return err
}

// ready is the client for calls of our own, which need the version in their address.
func (e *engine) ready(ctx context.Context) (*client.Client, error) {
	within, cancel := context.WithTimeout(ctx, e.timeout)
	defer cancel()
	c, a, err := e.connect(within)
	if err != nil {
		return nil, e.meaning(a, err)
	}
	return c, nil
}

// connect is the client, once the engine told which version of its API it speaks. Without
// that the client would guess, and every call would fail at an older engine.
func (e *engine) connect(ctx context.Context) (*client.Client, wire.Answer, error) {
	if c := e.client.Load(); c != nil {
		return c, wire.Answer{}, nil
	}
	c, err := client.New(e.options...)
	if err != nil {
		return nil, wire.Answer{}, err
	}
	watched, seen := wire.Watch(ctx)
	told, err := c.Ping(watched, client.PingOptions{NegotiateAPIVersion: true})
	if err == nil && told.APIVersion == "" {
		err = fmt.Errorf("%w: it does not tell a version", wire.ErrNotAPI)
	}
	if err != nil {
		return nil, seen.Last(), err
	}
	e.client.Store(c)
	return c, wire.Answer{}, nil
}

// absences are the words that say that a thing is not there; "page not found" says that the
// address is wrong. Podman has other words around them.
var absences = []string{"no such container", "no such image", "no such exec"}

// meaning tells what an error of the engine's client means, by the answer that it came from.
func (e *engine) meaning(a wire.Answer, err error) error {
	if a.Status == 0 || a.OK() {
		if errors.Is(err, os.ErrPermission) {
			return fmt.Errorf("%w: %w", reconcile.ErrUnauthorized, err)
		}
		return err
	}
	words := strings.TrimPrefix(err.Error(), "Error response from daemon: ")
	r := &wire.Refusal{Status: a.Status, Words: wire.Clip(e.guarded.Redact(words), 300)}
	switch {
	case a.Status == http.StatusUnauthorized, a.Status == http.StatusForbidden:
		r.Kind = reconcile.ErrUnauthorized
	case a.Status == http.StatusTooManyRequests:
		r.Kind = reconcile.ErrThrottled
	case a.Status == http.StatusNotFound && wire.IsJSON(a.Header) && says(words, absences...):
		r.Kind = reconcile.ErrNotFound
	}
	return r
}

// outdated reports whether the engine refuses the version that was agreed on.
func outdated(err error) bool {
	var r *wire.Refusal
	return errors.As(err, &r) && r.Status == http.StatusBadRequest && says(r.Words, "client version")
}

// says reports whether a text has one of the words, in whatever case.
func says(text string, words ...string) bool {
	text = strings.ToLower(text)
	for _, word := range words {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}
