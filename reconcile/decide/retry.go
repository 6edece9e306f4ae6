package decide

import (
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// noRetry is asked of a retry that an operator wants, right before the row is set back: it may be only while the row is
// as our own write left it, while nothing of the attempt that failed is left, and while no incident of it holds.
func noRetry(v *view.View, a *reconcile.Action, f *Facts) Ruling {
	t := f.Row
	switch {
	case a.Before == nil:
		return withdraw("nothing is known of the row as our own write left it")
	case t == nil:
		return withdraw("the task has no row any more")
	case reconcile.MarkedBy(t.Error, a.ID):
		return Ruling{Outcome: reconcile.OutcomeDone, Why: "written by an earlier attempt"}
	case !t.State.Terminal():
		return withdraw("the task is alive again: " + text.Clip(t.Status, 60))
	case t.Error != "" && !strings.Contains(t.Error, a.Before.Mark):
		return withdraw("the row has moved since it was marked failed: it is left as it is")
	case !v.Trusted(reconcile.SourceTasks):
		return waitFor(reconcile.HeldFrozen(reconcile.SourceTasks))
	}
	if why := reconcile.RetryWaits(&v.S.Memory, &f.Controls, a); why != "" {
		return wait(why)
	}
	return Ruling{}
}
