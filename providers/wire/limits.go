package wire

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// CircuitPause is how long a refused credential is not tried again. Failed logins are
// limited for a whole address, so a janitor with a revoked key could block its neighbours.
const CircuitPause = 5 * time.Minute

// A circuit keeps a refused credential from being sent again and again.
type circuit struct {
	mu    sync.Mutex
	since time.Time // of the first refusal; zero while closed
	next  time.Time // when one call may try again
}

// admit refuses a call while the circuit is open. One control-plane call in each pause is
// let through to try; a sandbox's own answer would prove nothing.
func (c *circuit) admit(now time.Time, inside bool) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.since.IsZero() {
		return nil
	}
	if now.Before(c.next) || inside {
		return fmt.Errorf("not calling: %w since %s, next try at %s", reconcile.ErrUnauthorized,
			text.Time(c.since), text.Time(c.next))
	}
	c.next = now.Add(CircuitPause)
	return nil
}

// refused opens the circuit and reports whether it was closed.
func (c *circuit) refused(now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	opened := c.since.IsZero()
	if opened {
		c.since = now
	}
	c.next = now.Add(CircuitPause)
	return opened
}

func (c *circuit) passed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.since, c.next = time.Time{}, time.Time{}
}

// longestOpen is how long a gate is shut at most before a call may try again. A gateway that
// is set up badly asks to wait for a day, and nobody would be looked at for that day.
const longestOpen = CircuitPause

// A gate holds calls back until the moment that the provider named.
type gate struct {
	mu    sync.Mutex
	until time.Time
}

func (g *gate) close(until time.Time) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if until.After(g.until) {
		g.until = until
	}
}

// pass waits until the gate opens, or says at once that it opens too late.
func (g *gate) pass(ctx context.Context, now time.Time) error {
	g.mu.Lock()
	wait := g.until.Sub(now)
	g.mu.Unlock()
	if wait <= 0 {
		return nil
	}
	return sleep(ctx, wait, "the provider asked to wait")
}

// throttled says that nothing could be learned because of a limit.
type throttled struct {
	why string
	err error
}

func (t *throttled) Error() string   { return t.why + ": " + t.err.Error() }
func (t *throttled) Unwrap() []error { return []error{reconcile.ErrThrottled, t.err} }

// longestWait bounds a single wait, also where the caller has no deadline.
const longestWait = 30 * time.Second

// sleep waits, unless that would outlast the context or what is sensible.
func sleep(ctx context.Context, wait time.Duration, why string) error {
	deadline, limited := ctx.Deadline()
	if wait > longestWait || limited && time.Until(deadline) <= wait {
		return &throttled{why: why, err: fmt.Errorf("%s is too long", text.Duration(wait))}
	}
	if err := reconcile.Sleep(ctx, wait); err != nil {
		return fmt.Errorf("%s: %w", why, err)
	}
	return nil
}
