package peers

import (
	"fmt"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// The constants of OmoiOS, from its orchestrator worker, task queue and idle monitor.
const (
	omoiosStaleEvery   = 15 * time.Second
	omoiosIdleEvery    = 30 * time.Second
	omoiosStale        = 3 * time.Minute // by created_at
	omoiosStaleClaim   = time.Minute     // by created_at
	omoiosHeartbeat    = 2 * time.Minute // a sandbox that was heard this lately is alive
	omoiosStuckRunning = 40 * time.Minute
)

// OmoiOS fails what is assigned 3 minutes after its creation, and ends what is alive and did
// no work for 40 minutes. Nothing of it looks at sandboxes that no row names.
func OmoiOS() Policy {
	return Policy{Name: "OmoiOS", Sweeps: []Sweep{
		{Name: "stale tasks", Every: omoiosStaleEvery, Decide: omoiosStaleTasks},
		{Name: "idle sandboxes", Every: omoiosIdleEvery, Needs: Needs{Resolve: true}, Decide: omoiosIdle},
	}}
}

// omoiosStaleTasks goes by the age of the row, whatever it waited for until it was assigned.
func omoiosStaleTasks(v *View) []Deed {
	var out []Deed
	for _, t := range v.Tasks {
		age := since(t, t.CreatedAt)
		switch {
		case t.Status == "claiming" && age > omoiosStaleClaim:
			out = append(out, Deed{Verb: Requeue, Task: t, Reason: "stuck in claiming"})
		case t.State == reconcile.TaskAssigned && t.Sandbox != "" && age > omoiosStale:
			out = append(out, Deed{Verb: Fail, Task: t, Reason: fmt.Sprintf("stuck in assigned for %s", age)})
		}
	}
	return out
}

// omoiosIdle takes every heartbeat for one that says alive, which is the kinder of its two
// limits: 10 minutes hold for heartbeats that say idle.
func omoiosIdle(v *View) []Deed {
	var out []Deed
	for _, t := range v.Tasks {
		if t.Sandbox == "" || !omoiosIsIdle(t) {
			continue
		}
		if ref, known := v.Refs[t.ID]; known {
			out = append(out, Deed{Verb: End, Ref: ref, Reason: "idle"})
		}
		out = append(out, Deed{Verb: Fail, Task: t, Reason: "sandbox terminated: stuck running"})
	}
	return out
}

func omoiosIsIdle(t reconcile.Task) bool {
	beat := newest(t.Events.Heartbeat, t.HeartbeatAt)
	if beat.IsZero() || since(t, beat) >= omoiosHeartbeat {
		return false // not alive: not its business
	}
	work := omoiosWork(t)
	if work.IsZero() || !t.Events.Finished.Before(work) {
		return false // still coming up, or completed
	}
	return since(t, work) > omoiosStuckRunning
}

// omoiosWork is the newest event that is work: no heartbeat, no start, no waiting.
func omoiosWork(t reconcile.Task) time.Time {
	work := newest(t.Events.Activity, t.ActivityAt)
	if work.Equal(t.Events.Started) || work.Equal(t.Events.Waiting) {
		return time.Time{}
	}
	return work
}
