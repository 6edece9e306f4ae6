package protocol

import (
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// MostOverdue is how long a terminate may take to be confirmed before it is overdue.
const MostOverdue = 2 * time.Minute

// Newest are the newest complete passes of each kind. A full pass counts as a quick one
// too. A kind that never completed is absent.
func Newest(passes []reconcile.PassSeen) map[reconcile.PassKind]reconcile.PassSeen {
	return newest(passes, func(p reconcile.PassSeen) bool { return p.Complete })
}

// Counts are what the newest passes that ended counted, complete or not: tasks by the
// newest of any kind, and all the rest by the newest full one, because a quick pass lists
// no provider. What these did not measure is absent, though an older pass did.
func Counts(passes []reconcile.PassSeen) map[string]int {
	ended := newest(passes, func(p reconcile.PassSeen) bool { return !p.EndedAt.IsZero() })
	counts := map[string]int{}
	for key, n := range ended[reconcile.Quick].Counts {
		if tasksKey(key) {
			counts[key] = n
		}
	}
	for key, n := range ended[reconcile.Full].Counts {
		if !tasksKey(key) {
			counts[key] = n
		}
	}
	return counts
}

func tasksKey(key string) bool { return reconcile.ParseCount(key).What == reconcile.CountTasks }

func newest(passes []reconcile.PassSeen, wanted func(reconcile.PassSeen) bool,
) map[reconcile.PassKind]reconcile.PassSeen {
	found := map[reconcile.PassKind]reconcile.PassSeen{}
	for _, p := range passes {
		if !wanted(p) {
			continue
		}
		for _, kind := range []reconcile.PassKind{p.Kind, reconcile.Quick} {
			if p.ID >= found[kind].ID {
				found[kind] = p
			}
		}
	}
	return found
}
