package peers

import (
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// The constants of kortix/suna, from apps/api/src/projects.
const (
	kortixTurnEvery    = 20 * time.Second // rows with a turn in flight
	kortixEvery        = 5 * time.Minute  // all else
	kortixTurnGrant    = 4 * time.Hour    // of each observed start, activity and answer
	kortixIdleGrace    = 15 * time.Minute // after a turn's end
	kortixConfirm      = time.Minute      // between two looks that say stopped, in a turn
	kortixStuckStart   = 30 * time.Minute // provisioning without change
	kortixStuckSession = 15 * time.Minute // active without a sandbox, without change
	kortixOrphanAge    = time.Hour
	kortixSettled      = 5 * time.Minute // a parked row is believed after this
	kortixMostOrphans  = 50
	kortixMostStarts   = 40
	kortixMostSessions = 200
)

// Kortix reconciles rows and sandboxes in both directions, asks the provider about each row
// before it writes, and stops sandboxes instead of deleting them.
func Kortix() Policy {
	return Policy{Name: "kortix/suna", Sweeps: []Sweep{
		{Name: "turns", Every: kortixTurnEvery, Needs: Needs{Look: true}, Decide: kortixTurns},
		{Name: "stuck rows", Every: kortixEvery, Needs: Needs{Look: true}, Decide: kortixStuck},
		{Name: "sandboxes", Every: kortixEvery, Needs: Needs{List: true}, Decide: kortixBoxes},
	}}
}

// kortixTurns asks the provider about the sandbox of each running row.
func kortixTurns(v *View) []Deed {
	var out []Deed
	for _, t := range v.Tasks {
		look, looked := v.Looks[t.ID]
		if t.State == reconcile.TaskRunning && looked && look.Error == "" {
			out = append(out, kortixTurn(v, t, look)...)
		}
	}
	return out
}

func kortixTurn(v *View, t reconcile.Task, look reconcile.Lookup) []Deed {
	seen := "stopped:" + t.ID
	switch state := look.Sandbox.State; {
	case look.Gone || state == reconcile.SandboxEnded:
		return []Deed{{Verb: Fail, Task: t, Reason: "provider reported removed"}}
	case state == reconcile.SandboxFailed:
		return []Deed{{Verb: Fail, Task: t, Reason: "provider reports a terminal state"}}
	case state == reconcile.SandboxStopped || state == reconcile.SandboxDeleting:
		return kortixConfirmed(v, t, seen)
	case state == reconcile.SandboxRunning:
		delete(v.Notes, seen)
		return kortixDeadline(t, look.Sandbox.Ref)
	}
	return nil // suspended: parked there, and comes back; unknown and coming up: proves nothing
}

// kortixConfirmed parks a row when a second look, a minute later, still says stopped.
func kortixConfirmed(v *View, t reconcile.Task, seen string) []Deed {
	first, armed := v.Notes[seen]
	if !armed {
		v.Notes[seen] = v.Now
		return nil
	}
	if v.Now.Sub(first) < kortixConfirm {
		return nil
	}
	delete(v.Notes, seen)
	return []Deed{{Verb: Fail, Task: t, Reason: "provider reports stopped"}}
}

// kortixDeadline is its one rule for sandboxes that run: the deadline is pushed out by
// observed work and pulled in by the end of a turn. A finished turn only stops the sandbox
// there; it makes nothing a failure.
func kortixDeadline(t reconcile.Task, ref reconcile.Ref) []Deed {
	worked := newest(t.StartedAt, t.AssignedAt, t.LastSeen())
	ended := t.Events.Finished
	if !ended.IsZero() && !ended.Before(t.Activity()) {
		if since(t, ended) < kortixIdleGrace {
			return nil
		}
		return []Deed{{Verb: Stop, Ref: ref, Reason: "deadline expired after the turn's end"}}
	}
	if since(t, worked) < kortixTurnGrant {
		return nil
	}
	return []Deed{{Verb: Stop, Ref: ref, Reason: "deadline expired"}, {Verb: Fail, Task: t, Reason: "deadline expired"}}
}

// kortixStuck ends rows that nobody moves: those that never came up, and those without a
// sandbox. Pending rows are left alone: a queue of tasks is nothing that it has.
func kortixStuck(v *View) []Deed {
	var starts, sessions []Deed
	for _, t := range v.Tasks {
		quiet := since(t, newest(t.UpdatedAt, t.CreatedAt))
		switch {
		case t.State == reconcile.TaskPending || t.State == reconcile.TaskUnknown:
		case t.Sandbox == "":
			if since(t, newest(t.UpdatedAt, t.CreatedAt, t.LastSeen())) > kortixStuckSession {
				sessions = append(sessions, Deed{Verb: Fail, Task: t, Reason: "active without a sandbox"})
			}
		case t.State == reconcile.TaskAssigned && quiet >= kortixStuckStart && kortixOff(v.Looks[t.ID]):
			starts = append(starts, Deed{Verb: Fail, Task: t, Reason: "provisioning stalled"})
		}
	}
	return append(starts[:min(len(starts), kortixMostStarts)], sessions[:min(len(sessions), kortixMostSessions)]...)
}

// kortixOff reports whether the provider says for certain that the sandbox does not run.
func kortixOff(look reconcile.Lookup) bool {
	return look.Gone || look.Sandbox.State == reconcile.SandboxStopped || look.Sandbox.State == reconcile.SandboxEnded
}
