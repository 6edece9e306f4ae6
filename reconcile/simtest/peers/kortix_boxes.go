package peers

import "github.com/sandkeeper/sandkeeper/reconcile"

// kortixBoxes stops sandboxes that no row keeps, and those whose row says that they are off.
func kortixBoxes(v *View) []Deed {
	var orphans, parked []Deed
	for _, b := range v.Boxes {
		if b.State != reconcile.SandboxRunning {
			continue
		}
		rows := kortixRows(v, b)
		old := !b.CreatedAt.IsZero() && b.AsOf.Sub(b.CreatedAt) >= kortixOrphanAge
		switch {
		case len(rows) == 0 && old:
			orphans = append(orphans, Deed{Verb: Stop, Ref: b.Ref, Reason: "no row refers to it"})
		case len(rows) == 1 && kortixParked(rows[0]) && kortixIdle(rows[0], b):
			parked = append(parked, Deed{Verb: Stop, Ref: b.Ref, Task: rows[0], Reason: "its row is parked",
				Still: kortixParked})
		}
	}
	return append(orphans[:min(len(orphans), kortixMostOrphans)], parked...)
}

func kortixRows(v *View, b reconcile.Sandbox) []reconcile.Task {
	var out []reconcile.Task
	for _, t := range v.Rows {
		if names(t, b) {
			out = append(out, t)
		}
	}
	return out
}

// kortixParked reports whether the row says for long enough that its sandbox is off: at once
// settled where a person stopped it, after the idle grace where its turn ended.
func kortixParked(t reconcile.Task) bool {
	if !t.KeepAliveUntil.IsZero() && t.KeepAliveUntil.After(t.AsOf) {
		return false
	}
	quiet := since(t, newest(t.UpdatedAt, t.LastSeen()))
	switch t.State {
	case reconcile.TaskStopped:
		return quiet > kortixSettled
	case reconcile.TaskCompleted, reconcile.TaskFailed:
		return quiet > kortixIdleGrace
	}
	return false
}

// kortixIdle reports whether nobody used the sandbox of an ended turn within the idle grace:
// there, people's own traffic puts the deadline off.
func kortixIdle(t reconcile.Task, b reconcile.Sandbox) bool {
	return t.State == reconcile.TaskStopped || b.LastActivityAt.IsZero() ||
		b.AsOf.Sub(b.LastActivityAt) > kortixIdleGrace
}
