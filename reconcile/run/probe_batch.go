package run

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// The first probe result waits for others to be saved with it: for a moment, and for no more
// than half of those who may be at work, so that many probes never wait for the time.
const (
	collectFor  = 500 * time.Millisecond
	collectMost = 8
)

// A probeBatch saves probe results together: each of them alone would be a transaction, and
// a daemon at rest does little else.
type probeBatch struct {
	send func(context.Context, []reconcile.ProbeResult) error

	mu   sync.Mutex
	open *probePage
}

// A probePage is what is saved at once.
type probePage struct {
	results []reconcile.ProbeResult
	full    chan struct{}
	sent    chan struct{}
	err     error
}

// save returns when the result is in the ledger. Of several results of one sandbox only the
// last of a letter counts.
func (b *probeBatch) save(ctx context.Context, r reconcile.ProbeResult) error {
	l, first := b.put(r)
	if !first {
		<-l.sent
		return l.err
	}
	timer := time.NewTimer(collectFor)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-l.full:
	case <-ctx.Done(): // what was found out is saved all the same
	}
	l.err = b.send(context.WithoutCancel(ctx), b.take(l))
	close(l.sent)
	return l.err
}

// put adds a result to the open letter, and tells who has to send it.
func (b *probeBatch) put(r reconcile.ProbeResult) (l *probePage, first bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.open == nil {
		b.open, first = &probePage{full: make(chan struct{}), sent: make(chan struct{})}, true
	}
	l = b.open
	l.results = append(slices.DeleteFunc(l.results, func(o reconcile.ProbeResult) bool { return o.Ref == r.Ref }), r)
	if len(l.results) == collectMost {
		close(l.full)
		b.open = nil // the next one begins another
	}
	return l, first
}

// take closes the letter. Results are in the order of their sandboxes, so that two processes
// that save at once never wait for each other.
func (b *probeBatch) take(l *probePage) []reconcile.ProbeResult {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.open == l {
		b.open = nil
	}
	slices.SortFunc(l.results, func(x, y reconcile.ProbeResult) int { return reconcile.CompareRefs(x.Ref, y.Ref) })
	return l.results
}
