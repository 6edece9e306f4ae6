package wire

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// attempts is how often a read is tried.
const attempts = 4

// Read makes a GET, or another call that only asks, and repeats it while that may help: a limit, a gateway without its
// server, a lost connection. The last answer is returned whatever it is. The waits together
// are no longer than one may be: passes of all kinds wait for this one. For the same reason a
// provider that has fallen silent is asked once, until it answers something.
func (c *Client) Read(ctx context.Context, k Call) (Answer, error) {
	k.Method = first(k.Method, http.MethodGet)
	silent := c.silent.Load()
	for try, waited := 1, time.Duration(0); ; try++ {
		a, err := c.Once(ctx, k)
		if try == attempts || !retryable(a, err) || ctx.Err() != nil || silent && c.silent.Load() {
			return a, err
		}
		c.log.DebugContext(ctx, "reading again", "what", k.What, "try", try, "status", a.Status, "err", err)
		wait := c.pause(try, a)
		if waited += wait; waited > longestWait || sleep(ctx, wait, "wait to try again") != nil {
			return a, err
		}
	}
}

// Get reads a thing: [Client.Read], then [Client.Decode] into v.
func (c *Client) Get(ctx context.Context, k Call, v any) (Answer, error) {
	a, err := c.Read(ctx, k)
	if err != nil {
		return a, err
	}
	return a, c.Decode(a, v)
}

// retryable reports whether a read that went so may go better the next time.
func retryable(a Answer, err error) bool {
	if err != nil {
		var gone *Lost
		return errors.As(err, &gone) && !errors.Is(err, ErrLarge)
	}
	switch a.Status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// pause is how long to wait before the next try: what the provider asks for, else a
// growing time with jitter.
func (c *Client) pause(try int, a Answer) time.Duration {
	if wait, ok := c.asked(a); ok {
		return wait
	}
	backoff := min(200*time.Millisecond<<(try-1), 10*time.Second)
	return backoff/2 + rand.N(backoff/2)
}

// conflictTimeout bounds how long a change is tried while another one is under way. A
// transition may take minutes; the ledger tries again later, so that one busy sandbox does
// not hold up a run.
const conflictTimeout = 3 * time.Second

// Ask is [Client.Once], then [Client.Decode] into v; nil: the answer only has to be one of the
// API, or none at all in a 204. It is for what somebody waits for, and for changes of which even
// a "busy" is news.
func (c *Client) Ask(ctx context.Context, k Call, v any) (Answer, error) {
	k.Method = first(k.Method, http.MethodGet)
	a, err := c.Once(ctx, k)
	return c.into(a, err, v)
}

// Alter is [Client.Change], then [Client.Decode] into v; nil: as with [Client.Ask].
func (c *Client) Alter(ctx context.Context, k Call, v any) (Answer, error) {
	a, err := c.Change(ctx, k)
	return c.into(a, err, v)
}

func (c *Client) into(a Answer, err error, v any) (Answer, error) {
	switch {
	case err != nil, v == nil && a.Status == http.StatusNoContent:
		return a, err
	case v == nil:
		return a, c.readable(a)
	}
	return a, c.Decode(a, v)
}

// Unchanged tells what the answer to a change means that is no success: the sandbox is gone,
// a transition is under way so that nothing was done and it may work later, or the provider
// refuses for good, by one of the statuses that the vendor means it by. Of any other, and of
// none, nobody knows whether it was carried out.
func Unchanged(a Answer, err error, refused ...int) (reconcile.Termination, error) {
	switch {
	case errors.Is(err, reconcile.ErrNotFound):
		return reconcile.TerminateGone, nil
	case a.Status == http.StatusConflict:
		return "", Held(err)
	case slices.Contains(refused, a.Status):
		return reconcile.TerminateRefused, err
	}
	return "", err
}

// Unstarted is the error of a change that brings a sandbox back. A conflict means that
// nothing was done, and it may work later.
func Unstarted(a Answer, err error) error {
	if err != nil && a.Status == http.StatusConflict {
		return Held(err)
	}
	return err
}

// Change makes a call that changes something. Only a plain "busy" (409) or "too often"
// (429) is repeated: both mean that nothing was done. What got no answer may have been
// done, so that the caller must look. Where a 409 means something else, use [Client.Once].
func (c *Client) Change(ctx context.Context, k Call) (Answer, error) {
	patience, cancel := context.WithTimeout(ctx, conflictTimeout)
	defer cancel()
	for try := 1; ; try++ {
		a, err := c.Once(ctx, k) // each call has its own time; patience is for the repeats
		if err != nil || a.Status != http.StatusConflict && a.Status != http.StatusTooManyRequests {
			return a, err
		}
		if sleep(patience, c.pause(try+1, a), "wait to try again") != nil {
			return a, nil
		}
	}
}
