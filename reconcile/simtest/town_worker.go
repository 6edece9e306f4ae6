package simtest

import "github.com/sandkeeper/sandkeeper/reconcile"

// The commands that a config may ask for workers with: one that looks for what this platform runs,
// and one with a typing mistake, which finds nobody.
const (
	workerCommand = "pgrep-worker"
	wrongCommand  = "pgrep-wroker"
)

// WorkerExit is what a command that looks for the worker of a sandbox exits with.
func (t *Town) WorkerExit(ref reconcile.Ref, command string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.advance()
	b := t.boxes[ref]
	if command == workerCommand && b.there() && b.worker != nil && b.worker.ended.IsZero() {
		return 0
	}
	return 1
}
