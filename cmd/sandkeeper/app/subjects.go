package app

import (
	"context"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// LastSubjects is how many tasks and sandboxes the largest of the newest passes was about; 0 where there was none, or
// they cannot be read.
func (a *App) LastSubjects(ctx context.Context) (most int) {
	const newest = 5 // quick passes, which count no sandboxes, may lie between full ones
	passes, err := a.Ledger.LastPasses(ctx, newest)
	if err != nil {
		return 0
	}
	for _, p := range passes {
		n := 0
		for text, count := range p.Counts {
			if what := reconcile.ParseCount(text).What; what == reconcile.CountTasks || what == reconcile.CountSandboxes {
				n += count
			}
		}
		most = max(most, n)
	}
	return most
}
