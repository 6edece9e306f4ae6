package platform

import (
	"sync"
	"time"
)

// Clocks are those of the domains: the task database's, the ledger's, each provider's. Each
// is the bubble's clock and what it was shifted by. While the agenda is worked off, all of
// them stand at the moment of the item, so that who looks late finds what happened in time.
type clocks struct {
	mu    sync.Mutex
	at    time.Time // the moment of the item that is carried out; zero: now
	jumps map[string][]jump
}

// A jump shifts a clock from a moment on.
type jump struct {
	at time.Time
	by time.Duration
}

func newClocks() *clocks { return &clocks{jumps: map[string][]jump{}} }

// now is the bubble's time.
func (c *clocks) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.present()
}

func (c *clocks) present() time.Time {
	if !c.at.IsZero() {
		return c.at
	}
	return time.Now()
}

// stand makes all clocks stand at a moment; the zero time lets them go on.
func (c *clocks) stand(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = at
}

// of is what a domain's clock shows now.
func (c *clocks) of(domain string) time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.present().Add(c.offset(domain, c.present()))
}

// then is what a domain's clock showed at a moment of the bubble's time; zero stays zero.
func (c *clocks) then(domain string, at time.Time) time.Time {
	if at.IsZero() {
		return at
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return at.Add(c.offset(domain, at))
}

func (c *clocks) offset(domain string, at time.Time) time.Duration {
	var sum time.Duration
	for _, j := range c.jumps[domain] {
		if !j.at.After(at) {
			sum += j.by
		}
	}
	return sum
}

// shift makes a domain's clock jump.
func (c *clocks) shift(domain string, by time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.jumps[domain] = append(c.jumps[domain], jump{c.present(), by})
}

// steps are the last moments before a domain's clock was set back.
func (c *clocks) steps(domain string) []time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []time.Time
	for _, j := range c.jumps[domain] {
		if j.by < 0 {
			out = append(out, j.at.Add(-1))
		}
	}
	return out
}

// moved is by how much a domain's clock jumped since a moment, both ways added up.
func (c *clocks) moved(domain string, since time.Time) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	var sum time.Duration
	for _, j := range c.jumps[domain] {
		if !j.at.Before(since) {
			sum += j.by.Abs()
		}
	}
	return sum
}
