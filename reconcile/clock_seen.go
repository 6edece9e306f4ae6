package reconcile

import (
	"context"
	"sync"
	"time"
)

// A ClockSeen is what a provider's answers said of its clock.
type ClockSeen struct {
	// Off is by how much it was ahead of our own when an answer was received, less than 0: behind; of several answers
	// that of the one that was the furthest off.
	Off      time.Duration
	Unsaid   bool // an answer told no time that can be read
	Measured bool // there was an answer
}

// Believed reports whether what the provider says of times is believed.
func (c ClockSeen) Believed() bool { return !c.Unsaid && max(c.Off, -c.Off) <= ProviderSkew }

// joined is what two answers said together.
func (c ClockSeen) joined(o ClockSeen) ClockSeen {
	if max(c.Off, -c.Off) > max(o.Off, -o.Off) {
		o.Off = c.Off
	}
	return ClockSeen{o.Off, c.Unsaid || o.Unsaid, c.Measured || o.Measured}
}

// Clocks are those of all providers, as each answer of a pass and of what it does said them. One answer that is off
// is enough: a clock that jumps between two is believed of neither. Nil, it notes nothing and knows of none.
type Clocks struct {
	mu    sync.Mutex
	seen  map[string]ClockSeen
	calls map[string]Calls
}

// Calls are how often a provider was asked.
type Calls struct {
	Answered  int
	Throttled int // of all, those that it answered with "too many requests"
}

// Calls are those that the provider has answered so far, under a context of [Clocks.Watch].
func (c *Clocks) Calls(provider string) Calls {
	if c == nil {
		return Calls{}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.calls[provider]
}

// called counts an answer.
func (c *Clocks) called(provider string, throttled int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.calls == nil {
		c.calls = map[string]Calls{}
	}
	n := c.calls[provider]
	c.calls[provider] = Calls{n.Answered + 1, n.Throttled + throttled}
}

// Of is what the answers of a provider said so far.
func (c *Clocks) Of(provider string) ClockSeen {
	if c == nil {
		return ClockSeen{}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.seen[provider]
}

// Note keeps what an answer of a provider said.
func (c *Clocks) Note(provider string, seen ClockSeen) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen == nil {
		c.seen = map[string]ClockSeen{}
	}
	c.seen[provider] = c.seen[provider].joined(seen)
}

type clockKey struct{}

// A watching is who notes the answers of a provider.
type watching struct {
	by       *Clocks
	provider string
}

// Watch lets what a provider answers under the context be noted.
func (c *Clocks) Watch(ctx context.Context, provider string) context.Context {
	if c == nil {
		return ctx
	}
	return context.WithValue(ctx, clockKey{}, watching{c, provider})
}

// NoteThrottled tells who watches that a provider answered that there were too many requests.
func NoteThrottled(ctx context.Context) {
	if w, watched := ctx.Value(clockKey{}).(watching); watched {
		w.by.called(w.provider, 1)
	}
}

// NoteClock tells who watches of an answer that was just received: the time that it says, zero when it says none
// that can be read, and when it was asked for. Providers tell whole seconds.
func NoteClock(ctx context.Context, said, asked time.Time) {
	w, watched := ctx.Value(clockKey{}).(watching)
	if !watched {
		return
	}
	w.by.called(w.provider, 0)
	seen := ClockSeen{Measured: true, Unsaid: said.IsZero()}
	switch received := time.Now(); {
	case seen.Unsaid:
	case said.After(received):
		seen.Off = min(said.Sub(received), mostOff)
	case said.Add(time.Second).Before(asked):
		seen.Off = max(said.Add(time.Second).Sub(asked), -mostOff)
	}
	w.by.Note(w.provider, seen)
}

// mostOff is as far as a clock can be told to be off.
const mostOff = 36_500 * 24 * time.Hour
