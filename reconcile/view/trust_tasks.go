package view

import (
	"maps"
	"slices"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// assessTasks: a wrong, emptied or restored database loses rows that were live a moment
// ago; a standby may lag; an empty table proves nothing about anybody's sandboxes.
func (v assessor) assessTasks() {
	if v.P.Tasks.None {
		return
	}
	before := v.countRows()
	lost := v.settle(reconcile.SourceTasks, doubt{before, mostOfThree, lostRows, false})
	//guard:tasks-emptied-stays harm
	if lost.None() && v.lostBefore() && most(before.sum()) {
		lost = lostRows(before.sum())
	}
	all, restored, why := before.sum(), v.restored(), reconcile.Distrust{}
	switch {
	//guard:tasks-standby P3
	case v.S.Clock.Standby:
		why = reconcile.Said("the task database is a standby: it may lag behind; point tasks.database at the primary")
	//guard:tasks-lost P3
	case !lost.None() && !v.accepted(reconcile.SourceTasks):
		why = lost
	//guard:tasks-restored P3
	case !restored.None() && !v.accepted(reconcile.SourceTasks):
		why = restored
	//guard:tasks-empty P3
	case v.S.Clock.Empty && (len(v.S.Sandboxes) > 0 || all.of > 0 || v.Fleet() > 0):
		why = reconcile.TasksEmpty()
	}
	v.trust(reconcile.SourceTasks, why)
	v.keepClock()
}

// countRows counts the rows that were live when the table was believed last, against them those that are not there.
func (v assessor) countRows() tallies {
	before, of, run := tallies{}, "", tally{} // those that come one after the other are mostly of one tenant
	for id, kept := range v.S.Memory.Tasks.Kept() {
		if !kept.Live() {
			continue
		}
		if tenant := kept.Tenant(); tenant != of && run.of > 0 {
			before[of], run = before[of].plus(run), tally{}
		}
		of, run = kept.Tenant(), run.plus(tally{truth(v.S.Absent[id]), 1})
	}
	if run.of > 0 {
		before[of] = before[of].plus(run)
	}
	maps.DeleteFunc(before, func(tenant string, _ tally) bool {
		return v.accepted(reconcile.OfTenant(reconcile.SourceTasks, tenant))
	})
	return before
}

// lostBefore reports whether the table had lost rows, or all, in an earlier pass. Such a one is believed again when
// most of the rows are back, however few they are: a new row says nothing of those.
func (v assessor) lostBefore() bool {
	seen := v.S.Memory.Sources[reconcile.SourceTasks]
	return !seen.Trusted && seen.LostRows()
}

// believeTasks ends the doubt that rows are lost when nothing is left that it protects: each sandbox of ours that
// exists is explained by a row, and there is one. Who deletes a task's row at its end, and its sandbox with it, so
// needs no operator.
func (v assessor) believeTasks(subs []reconcile.Subject) {
	seen := v.Sources[reconcile.SourceTasks]
	if v.S.Kind != reconcile.Full || v.S.Clock.Empty || !v.lostBefore() || seen.Trusted || !seen.LostRows() {
		return
	}
	links := v.CountLinks(subs)
	//guard:tasks-explained harm
	if links.linked == 0 || links.Loose > 0 || !v.listsAll() {
		return
	}
	v.believe(reconcile.SourceTasks)
	v.keepClock()
}

// keepClock notes what the task database's clock tells while it is believed.
func (v assessor) keepClock() {
	if seen := v.Sources[reconcile.SourceTasks]; seen.Trusted && !v.S.T0.IsZero() {
		seen.Clock, seen.SetBack = v.S.T0, v.setBack
		v.Sources[reconcile.SourceTasks] = seen
	}
}

// listsAll reports whether every provider's listing is believed and shows all that the ledger knows there.
func (v assessor) listsAll() bool {
	return !slices.ContainsFunc(v.P.ProviderNames(), func(name string) bool {
		missing, _, _ := MissingFrom(v.S, name)
		there := slices.ContainsFunc(missing, func(ref reconcile.Ref) bool {
			look, looked := v.S.Lookups[ref]
			return !looked || !look.Gone
		})
		return there || !v.counted(name)
	})
}

// mostOfThree is a doubt that at least three share, and most.
func mostOfThree(t tally) bool { return t.against >= 3 && most(t) }

// most is a doubt that most share.
func most(t tally) bool { return t.against*2 > t.of }

func lostRows(t tally) reconcile.Distrust { return reconcile.TasksLost(t.against, t.of) }
