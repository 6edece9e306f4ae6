package simulated

import (
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A Sandbox is one sandbox of the world. The zero value, once put, is a healthy running
// one.
type Sandbox struct {
	ID, Name string
	State    reconcile.SandboxState
	Raw      string // the provider's word; "" means the usual one for State; alone, a word that nobody knows
	Doomed   bool   // a delete was accepted
	Gone     bool

	Template, Region string
	Size             reconcile.Size
	Labels           map[string]string // replaced as a whole, never changed in place
	Error            string

	CreatedAt, UpdatedAt, LastActivityAt time.Time
	ExpiresAt                            time.Time // the provider ends it then; zero: never

	Exec, Files Trouble           // what a command, and a file listing, meet inside
	Disk        map[string]string // files by path; the usual folders exist always
	Log         string
	Usage       reconcile.Resources
	Queued      []time.Time // executions that wait, by when they were asked for
	Running     int         // executions that run
	WorkerGone  bool        // the task's worker ended, while all else goes on: pgrep finds none

	// What the provider has on record of its end: when, why, and who asked. Nothing where the time is zero, as after
	// a crash that nobody noticed.
	EndedAt           time.Time
	EndedFor, EndedBy string

	Stuck  bool   // its transitions begin and never end
	Locked bool   // every change is refused as busy
	Refuse string // a delete is refused in these words

	Ephemeral   bool // a stop deletes it
	NoContainer bool // the record says running, and no container is behind it

	doomedAt time.Time
	next     reconcile.SandboxState // where the transition under way leads; "" when none
	due      time.Time
	seenAt   time.Time // since when this version is true
}

// Trouble is what stands in the way of a call into a sandbox.
type Trouble string

// The troubles of a sandbox, and those that the world finds by itself.
const (
	Healthy Trouble = ""
	Dead    Trouble = "dead"    // its daemon is gone: a gateway error
	Hung    Trouble = "hung"    // accepts the call and never answers
	Lost    Trouble = "lost"    // the container behind the record vanished
	NoFork  Trouble = "no fork" // cannot start a process
	NoPath  Trouble = "no path" // no such path

	TimedOut   Trouble = "timed out"   // the command outlasted its time-out
	NotRunning Trouble = "not running" // no address to call
	Unknown    Trouble = "unknown"     // no such sandbox
)

// Busy reports whether a transition is under way that a change would collide with.
func (s Sandbox) Busy() bool { return s.Locked || s.next != "" && !s.Stuck }

// Hidden reports whether the provider hides the sandbox: a delete of a failed one removes
// it from sight only.
func (s Sandbox) Hidden() bool { return s.Doomed && s.State == reconcile.SandboxFailed }

// alive reports whether the sandbox is there for a get.
func (s Sandbox) alive() bool { return !s.Gone && !s.Hidden() }

// settleAll brings every sandbox up to the clock, and forgets those that are long gone.
func (w *ground) settleAll() {
	kept := w.order[:0]
	for _, b := range w.order {
		w.settle(b)
		if b.Gone && w.o.Steady().Sub(b.seenAt) > 24*time.Hour {
			delete(w.boxes, b.ID)
			continue
		}
		kept = append(kept, b)
	}
	clear(w.order[len(kept):])
	w.order = kept
}

// settle brings one sandbox up to the clock.
func (w *ground) settle(b *box) {
	now := w.o.Now()
	if b.Gone {
		return
	}
	if !b.ExpiresAt.IsZero() && !now.Before(b.ExpiresAt) && !b.Doomed {
		w.alter(b, func(s *Sandbox) { s.Doomed, s.doomedAt = true, s.ExpiresAt })
	}
	if b.Doomed && b.State != reconcile.SandboxFailed {
		w.fade(b, now)
		return
	}
	if b.next != "" && !b.Stuck && !now.Before(b.due) {
		w.enter(b, b.next, b.due)
	}
	idle := now.Sub(b.LastActivityAt)
	if w.o.StopIdle > 0 && b.State == reconcile.SandboxRunning && idle >= w.o.StopIdle {
		w.enter(b, reconcile.SandboxStopped, b.LastActivityAt.Add(w.o.StopIdle))
	}
}

// fade carries on a delete: accepted, destroying, gone.
func (w *ground) fade(b *box, now time.Time) {
	since := now.Sub(b.doomedAt)
	if since >= w.o.DeleteAfter && !b.Stuck {
		w.alter(b, func(s *Sandbox) {
			s.Gone, s.State, s.Raw = true, reconcile.SandboxEnded, ""
			s.record(s.doomedAt.Add(w.o.DeleteAfter), "request")
		})
		return
	}
	if since >= w.o.DeleteAfter/2 && b.State != reconcile.SandboxDeleting {
		w.alter(b, func(s *Sandbox) {
			s.State, s.Raw, s.next = reconcile.SandboxDeleting, "", ""
			s.UpdatedAt = now
		})
	}
}

// enter ends a transition. A change of state counts as activity.
func (w *ground) enter(b *box, state reconcile.SandboxState, at time.Time) {
	w.alter(b, func(s *Sandbox) {
		s.State, s.Raw, s.next = state, "", ""
		s.UpdatedAt, s.LastActivityAt = at, at
		if state == reconcile.SandboxStopped {
			s.record(at, "request")
		} else {
			s.EndedAt, s.EndedFor, s.EndedBy = time.Time{}, "", "" // of another run
		}
	})
}

// record notes an end, unless one is on record already.
func (s *Sandbox) record(at time.Time, why string) {
	if s.EndedAt.IsZero() {
		s.EndedAt, s.EndedFor = at, why
	}
}

// Died is what the provider has on record of the end of a sandbox's newest run.
func (w *World) Died(id string) (Sandbox, error) {
	s, there := w.Sandbox(id)
	over := s.Gone || s.State == reconcile.SandboxStopped || s.State == reconcile.SandboxEnded ||
		s.State == reconcile.SandboxFailed
	if !there || !over || s.EndedAt.IsZero() {
		return s, ErrGone
	}
	return s, nil
}

// FormerName is the name without what a delete made of it.
func (s Sandbox) FormerName() string {
	rest, renamed := strings.CutPrefix(s.Name, "DESTROYED_")
	if at := strings.LastIndexByte(rest, '_'); renamed && at >= 0 && s.Doomed {
		return rest[:at]
	}
	return s.Name
}
