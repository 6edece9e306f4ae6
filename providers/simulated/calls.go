package simulated

import (
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// What a call of a client can meet besides faults.
var (
	ErrGone = errors.New("no such thing")                    // not there, or hidden
	ErrBusy = errors.New("sandbox state change in progress") // another change is under way
)

// A Refused call breaks a rule of the provider.
type Refused struct{ Words string }

func (r *Refused) Error() string { return r.Words }

// Look is what a get by id, or by name, answers.
func (w *World) Look(idOrName string) (Sandbox, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	b := w.find(idOrName)
	if old := w.boxes[idOrName]; b == nil && old != nil && old.Gone && w.o.StaysOnRecord {
		b = old
	}
	if b == nil {
		return Sandbox{}, ErrGone
	}
	return b.Sandbox, nil
}

// find tries ids first and names after, as providers do.
func (w *ground) find(idOrName string) *box {
	if b := w.boxes[idOrName]; b != nil {
		w.settle(b)
		if b.alive() {
			return b
		}
	}
	for _, b := range w.order {
		if b.Name != idOrName {
			continue
		}
		w.settle(b)
		if b.alive() {
			return b
		}
	}
	return nil
}

// Create makes a sandbox as a client's call does: creating first, running later.
func (w *World) Create(s Sandbox) (Sandbox, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.o.Now()
	if err := w.room(); err != nil {
		return Sandbox{}, err
	}
	if s.Template != "" {
		if err := w.useTemplate(s.Template, now); err != nil {
			return Sandbox{}, err
		}
	}
	s.State, s.CreatedAt, s.UpdatedAt, s.LastActivityAt = reconcile.SandboxCreating, now, now, now
	s.next, s.due = reconcile.SandboxRunning, now.Add(w.o.StartAfter)
	s = w.put(s)
	w.settle(w.boxes[s.ID])
	return w.boxes[s.ID].Sandbox, nil
}

func (w *ground) room() error {
	used := w.used()
	if used.CPU+1 > w.o.Limits.CPU {
		return &Refused{fmt.Sprintf("Total CPU limit exceeded. Maximum allowed: %g", w.o.Limits.CPU)}
	}
	if used.DiskGiB+3 > w.o.Limits.DiskGiB {
		return &Refused{fmt.Sprintf("Total disk limit exceeded. Maximum allowed: %gGiB", w.o.Limits.DiskGiB)}
	}
	return nil
}

// Destroy accepts a delete. What it accepts is renamed, and gone only later; one that
// failed is only hidden.
func (w *World) Destroy(idOrName string) (Sandbox, error) {
	return w.act(idOrName, func(b *box, now time.Time) error {
		if b.Refuse != "" {
			return &Refused{b.Refuse}
		}
		if b.Doomed {
			return nil
		}
		w.doom(b, now)
		return nil
	})
}

func (w *ground) doom(b *box, now time.Time) {
	w.alter(b, func(s *Sandbox) {
		s.Doomed, s.doomedAt, s.UpdatedAt = true, now, now
		s.Name = fmt.Sprintf("DESTROYED_%s_%d", s.Name, now.UnixMilli())
	})
}

// stopping is the provider's word for a sandbox on its way to be stopped.
const stopping = "stopping"

// Halt stops a running sandbox. One that is ephemeral is deleted by it.
func (w *World) Halt(idOrName string) (Sandbox, error) {
	return w.act(idOrName, func(b *box, now time.Time) error {
		if b.State != reconcile.SandboxRunning && b.State != reconcile.SandboxSuspended {
			return &Refused{"Sandbox is not started"}
		}
		if b.Ephemeral {
			w.doom(b, now)
			return nil
		}
		w.begin(b, stopping, change{to: reconcile.SandboxStopped, at: now, after: w.o.StopAfter})
		return nil
	})
}

// Start starts a sandbox that is stopped or suspended.
func (w *World) Start(idOrName string) (Sandbox, error) {
	return w.act(idOrName, func(b *box, now time.Time) error {
		if b.State != reconcile.SandboxStopped && b.State != reconcile.SandboxSuspended {
			return &Refused{"Sandbox is not in valid state"}
		}
		w.begin(b, "starting", change{to: reconcile.SandboxRunning, at: now, after: w.o.StartAfter})
		w.settle(b)
		return nil
	})
}

type change struct {
	to    reconcile.SandboxState
	at    time.Time
	after time.Duration
}

func (w *ground) begin(b *box, raw string, c change) {
	w.alter(b, func(s *Sandbox) {
		s.State, s.Raw = reconcile.SandboxCreating, raw
		if c.to == reconcile.SandboxStopped {
			s.State = reconcile.SandboxStopped
		}
		s.next, s.due = c.to, c.at.Add(c.after)
		s.UpdatedAt, s.LastActivityAt = c.at, c.at
	})
	w.settle(b)
}

// Relabel replaces all labels of a sandbox.
func (w *World) Relabel(idOrName string, labels map[string]string) (Sandbox, error) {
	return w.act(idOrName, func(b *box, now time.Time) error {
		w.alter(b, func(s *Sandbox) { s.Labels, s.UpdatedAt = maps.Clone(labels), now })
		return nil
	})
}

// Touch counts as activity in the sandbox.
func (w *World) Touch(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if b := w.boxes[id]; b != nil {
		w.settle(b)
		b.LastActivityAt = w.o.Now()
	}
}

func (w *ground) act(idOrName string, do func(*box, time.Time) error) (Sandbox, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	b := w.find(idOrName)
	if b == nil {
		return Sandbox{}, ErrGone
	}
	if b.Busy() {
		return b.Sandbox, ErrBusy
	}
	err := do(b, w.o.Now())
	return b.Sandbox, err
}
