package view

import (
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// The bounds of one pass's look-ups, so that a mass failure cannot turn a pass into a
// flood of calls. What is not looked at now is looked at by a later pass.
const (
	LooksPerPass = 300
	MissingLooks = 50
	Lookers      = 8
)

// Rotated begins at another place each second, so that items which never settle do not
// starve the others.
func Rotated[T any](list []T, now time.Time) []T {
	if len(list) == 0 {
		return nil
	}
	from := int(uint64(now.Unix()) % uint64(len(list)))
	return append(slices.Clone(list[from:]), list[:from]...)
}

// QuickLooks are the sandboxes that a quick pass gets by id: those of tasks that left the
// live set, those that fail their probes, and those whose executions wait.
func QuickLooks(s *reconcile.Snapshot) []reconcile.Ref {
	var refs []reconcile.Ref
	for ref, seen := range s.Memory.Sandboxes.All() {
		if !seen.GoneAt.IsZero() {
			continue
		}
		row, left := s.Rows[seen.Task]
		probes := s.Memory.Probes[ref]
		if left && row.State.Terminal() || len(probes.Failures) > 0 || probes.Queues() {
			refs = append(refs, ref)
		}
	}
	reconcile.SortRefs(refs)
	return refs[:min(len(refs), LooksPerPass)]
}
