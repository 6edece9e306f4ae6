package telemetry

import (
	"context"
	"errors"
	"log/slog"
	"sync"
)

// A report says in the log when sending begins to fail, and when it works again: once each.
type report struct {
	log *slog.Logger // that is not sent itself

	mu     sync.Mutex
	failed map[string]bool // by signal
}

func (r *report) note(signal string, err error) {
	if errors.Is(err, context.Canceled) {
		return // our own end
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case err != nil && !r.failed[signal]:
		r.log.Warn("telemetry not sent, what waits is dropped when it is too much", "signal", signal, "err", err)
	case err == nil && r.failed[signal]:
		r.log.Info("telemetry is sent again", "signal", signal)
	}
	r.failed[signal] = err != nil
}
