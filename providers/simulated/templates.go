package simulated

import (
	"fmt"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A Template is a snapshot that sandboxes are made from.
type Template struct {
	ID, Name              string
	State                 reconcile.TemplateState // "" without Raw means active
	Raw, Error            string                  // Raw "" means the usual word for State
	General               bool                    // the provider's own: never deactivated
	CreatedAt, LastUsedAt time.Time

	due time.Time // when a building one becomes active; zero: never by itself
}

// UnusedFor is how long a template may be unused before it is deactivated.
const UnusedFor = 14 * 24 * time.Hour

// PutTemplate places a template into the world.
func (w *World) PutTemplate(t Template) Template {
	w.mu.Lock()
	defer w.mu.Unlock()
	if t.ID == "" {
		t.ID = fmt.Sprintf("template-%d", len(w.templates)+1)
	}
	if t.State == "" && t.Raw == "" {
		t.State = reconcile.TemplateActive
	}
	if t.CreatedAt.IsZero() {
		t.CreatedAt = w.o.Now()
	}
	w.templates[t.Name] = &t
	return t
}

// TemplateOf is what reading a template by name or id answers.
func (w *World) TemplateOf(nameOrID string) (Template, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if t := w.template(nameOrID); t != nil {
		return *t, nil
	}
	return Template{}, ErrGone
}

// Templates are all templates, in no order.
func (w *World) Templates() []Template {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []Template
	for name := range w.templates {
		out = append(out, *w.template(name))
	}
	return out
}

func (w *ground) template(nameOrID string) *Template {
	t := w.templates[nameOrID]
	for _, other := range w.templates {
		if t == nil && other.ID == nameOrID {
			t = other
		}
	}
	if t == nil {
		return nil
	}
	now := w.o.Now()
	if t.State == reconcile.TemplateBuilding && !t.due.IsZero() && !now.Before(t.due) {
		t.State, t.Raw, t.due, t.LastUsedAt = reconcile.TemplateActive, "", time.Time{}, now
	}
	if t.State == reconcile.TemplateActive && !t.General && now.Sub(t.usedAt()) >= UnusedFor {
		t.State, t.Raw = reconcile.TemplateInactive, ""
	}
	return t
}

func (t *Template) usedAt() time.Time {
	if t.LastUsedAt.After(t.CreatedAt) {
		return t.LastUsedAt
	}
	return t.CreatedAt
}

// RemoveTemplate deletes a template by the test's own hand.
func (w *World) RemoveTemplate(name string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.templates, name)
}

// ActivateTemplate pulls an inactive template again. It is active only later.
func (w *World) ActivateTemplate(nameOrID string) (Template, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	t := w.template(nameOrID)
	switch {
	case t == nil:
		return Template{}, ErrGone
	case t.State == reconcile.TemplateActive:
		return *t, &Refused{"Snapshot " + t.Name + " is already active"}
	case t.State != reconcile.TemplateInactive:
		return *t, &Refused{"Snapshot " + t.Name + " cannot be activated"}
	}
	t.State, t.Raw, t.due = reconcile.TemplateBuilding, "pending", w.o.Now().Add(w.o.ActivateAfter)
	return *t, nil
}

func (w *ground) useTemplate(name string, now time.Time) error {
	t := w.template(name)
	if t == nil {
		return &Refused{fmt.Sprintf("Snapshot %s not found. Did you add it through the Daytona Dashboard?", name)}
	}
	if t.State != reconcile.TemplateActive {
		return &Refused{fmt.Sprintf("Snapshot %s is %s", name, t.State)}
	}
	t.LastUsedAt = now
	return nil
}

// Account is what is used of the account's limits, and the limits.
func (w *World) Account() (used, limits Limits) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.settleAll()
	return w.used(), w.o.Limits
}

// SetLimits changes the account's limits by the test's own hand. Zero means 1000.
func (w *World) SetLimits(l Limits) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.o.Limits = l.orMany()
}

// used counts a stopped sandbox with its disk only, and a failed one not at all.
func (w *ground) used() Limits {
	var sum Limits
	for _, b := range w.order {
		if b.Gone || b.Doomed {
			continue
		}
		switch b.State {
		case reconcile.SandboxRunning, reconcile.SandboxCreating:
			sum.CPU++
			sum.MemoryGiB++
			sum.DiskGiB += 3
		case reconcile.SandboxStopped, reconcile.SandboxSuspended:
			sum.DiskGiB += 3
		}
	}
	return sum
}
