package view

import (
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// olderBy is by how much updated_at has to run back to count: the clocks of those who write rows differ by less.
const olderBy = 5 * time.Minute

// turned is what became of the rows that were live when the table was believed last.
type turned struct {
	of, lost int
	back     int             // those that are as they were, and older
	tenants  map[string]bool // whose these are
}

// restored says that the table is an older one of itself, as after a backup was restored; none when it is not. What was
// handed out since has no row there, so that its sandbox looks like nobody's. Rows that are gone say nothing alone, for
// platforms delete them, nor do single ones that somebody set back: most rows do it together, and some of them are
// gone. It stays while any of these is gone, for who lives on is soon newer than it was.
func (v assessor) restored() reconcile.Distrust {
	t := v.turned()
	seen := v.S.Memory.Sources[reconcile.SourceTasks]
	//guard:tasks-restored-stays harm
	if !seen.Trusted && seen.Restored() && t.lost > 0 {
		return seen.Reason
	}
	both := t.lost > 0 && t.back > 1
	//guard:tasks-restored-tenants P15
	alone := v.P.Tasks.Tenants && len(t.tenants) < 2
	if both && mostOfThree(tally{t.lost + t.back, t.of}) && !alone {
		return reconcile.TasksRestored(t.lost, t.back, t.of)
	}
	return reconcile.Distrust{}
}

func (v assessor) turned() turned {
	out := turned{tenants: map[string]bool{}}
	clock := v.S.Memory.Sources[reconcile.ClockOf("updated_at")]
	//guard:tasks-restored-clock live
	unsure := v.S.T0.Before(v.setBack) || clock.Name != "" && !clock.Trusted
	for id, kept := range v.S.Memory.Tasks.Kept() {
		if !kept.Live() {
			continue
		}
		out.of++
		switch {
		case v.S.Absent[id]:
			out.lost++
		case !unsure && v.runsBack(id, kept):
			out.back++
			out.tenants[v.Live[id].Tenant] = true
		}
	}
	return out
}

// runsBack reports whether a live row is in the status in which it was, since the same start, and older than it was. A
// time that was ahead of its database's clock said nothing.
func (v assessor) runsBack(id string, kept *reconcile.CompactTask) bool {
	row := v.Live[id]
	if row == nil || row.UpdatedAt.IsZero() {
		return false
	}
	was := kept.Seen()
	//guard:tasks-restored-ahead live
	if was.UpdatedAt.Sub(v.S.Memory.Sources[reconcile.SourceTasks].Clock) > reconcile.Skew {
		return false
	}
	//guard:tasks-restored-moved live
	if row.Status != was.Status || !row.StartedAt.Equal(was.StartedAt) {
		return false
	}
	return was.UpdatedAt.Sub(row.UpdatedAt) > olderBy
}
