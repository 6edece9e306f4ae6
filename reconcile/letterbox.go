package reconcile

import (
	"context"
	"slices"
	"sync"
	"time"
)

// collectFor is how long the first probe result waits for others to be saved with it.
const collectFor = 500 * time.Millisecond

// A letterbox saves probe results together: each of them alone would be a transaction, and
// a daemon at rest does little else.
type letterbox struct {
	send func(context.Context, []ProbeResult) error

	mu   sync.Mutex
	open *letter
}

// A letter is what is saved at once.
type letter struct {
	results []ProbeResult
	sent    chan struct{}
	err     error
}

// save returns when the result is in the ledger. Of several results of one sandbox only the
// last of a letter counts.
func (b *letterbox) save(ctx context.Context, r ProbeResult) error {
	l, first := b.put(r)
	if !first {
		<-l.sent
		return l.err
	}
	_ = pause(ctx, collectFor) // at the end of the context it is sent at once
	l.err = b.send(context.WithoutCancel(ctx), b.take(l))
	close(l.sent)
	return l.err
}

// put adds a result to the open letter, and tells who has to send it.
func (b *letterbox) put(r ProbeResult) (l *letter, first bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.open == nil {
		b.open, first = &letter{sent: make(chan struct{})}, true
	}
	l = b.open
	l.results = append(slices.DeleteFunc(l.results, func(o ProbeResult) bool { return o.Ref == r.Ref }), r)
	return l, first
}

// take closes the letter. Results are in the order of their sandboxes, so that two processes
// that save at once never wait for each other.
func (b *letterbox) take(l *letter) []ProbeResult {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.open = nil
	slices.SortFunc(l.results, func(x, y ProbeResult) int { return compareRefs(x.Ref, y.Ref) })
	return l.results
}
