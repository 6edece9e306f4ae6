package daytona

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"time"
)

// attempts is how often a read is tried.
const attempts = 4

// read makes a GET and repeats it while that may help: a limit, a gateway without its
// server, a lost connection. The last answer is returned whatever it is.
func (c *client) read(ctx context.Context, k call) (answer, error) {
	k.method = http.MethodGet
	for try := 1; ; try++ {
		a, err := c.once(ctx, k)
		if try == attempts || !again(a, err) || ctx.Err() != nil {
			return a, err
		}
		c.log.DebugContext(ctx, "reading again", "what", k.what, "try", try, "status", a.status, "err", err)
		if wait := c.pause(try, a); sleep(ctx, wait, "wait to try again") != nil {
			return a, err
		}
	}
}

// again reports whether a read that went so may go better the next time.
func again(a answer, err error) bool {
	if err != nil {
		var gone *lost
		return errors.As(err, &gone) && !errors.Is(err, errLarge)
	}
	switch a.status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// pause is how long to wait before the next try: what the provider asks for, else a
// growing time with jitter.
func (c *client) pause(try int, a answer) time.Duration {
	if wait, ok := retryAfter(a.header, a.date); ok {
		return wait
	}
	backoff := min(200*time.Millisecond<<(try-1), 10*time.Second)
	return backoff/2 + rand.N(backoff/2)
}

// conflictPatience bounds how long a change is tried while another one is under way. A
// transition may take minutes; the ledger tries again later, so that one busy sandbox does
// not hold up a run.
const conflictPatience = 3 * time.Second

// change makes a call that changes something. Only a plain "busy" (409) or "too often"
// (429) is repeated: both mean that nothing was done. What got no answer may have been
// done, so that the caller must look.
func (c *client) change(ctx context.Context, k call) (answer, error) {
	patience, cancel := context.WithTimeout(ctx, conflictPatience)
	defer cancel()
	for try := 1; ; try++ {
		a, err := c.once(ctx, k) // each call has its own time; patience is for the repeats
		if err != nil || a.status != http.StatusConflict && a.status != http.StatusTooManyRequests {
			return a, err
		}
		if sleep(patience, c.pause(try+1, a), "wait to try again") != nil {
			return a, nil
		}
	}
}
