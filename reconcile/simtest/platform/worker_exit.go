package platform

import (
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/simtest/history"
)

// WorkerExit is what a command that looks for the worker of a sandbox exits with.
func (t *Platform) WorkerExit(ref reconcile.Ref, command string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.advance()
	b := t.boxes[ref]
	if command == history.WorkerCommand && b.there() && b.worker != nil && b.worker.ended.IsZero() {
		return 0
	}
	return 1
}
