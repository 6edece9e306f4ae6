package reconcile

import "context"

// A Queue spreads what a pass left to do over all processes. A kick is only a hint at what
// stands in the ledger: losing or repeating one harms nothing.
type Queue interface {
	Kick(ctx context.Context, work Work) error
}

// Work is what a pass left to do.
type Work struct {
	Remedies []string // ids of remedies with an open action
	Probes   []Ref    // sandboxes to be probed; their budget is reserved already
}

// Empty reports whether there is nothing to do.
func (w Work) Empty() bool { return len(w.Remedies)+len(w.Probes) == 0 }
