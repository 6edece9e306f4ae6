package simulated

import (
	"fmt"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Pause suspends a running sandbox at once, as providers do that keep its memory. Start
// brings it back.
func (w *World) Pause(idOrName string) (Sandbox, error) {
	return w.act(idOrName, func(b *box, now time.Time) error {
		if b.State != reconcile.SandboxRunning {
			return &Refused{"Sandbox is not running"}
		}
		w.enter(b, reconcile.SandboxSuspended, now)
		return nil
	})
}

// FreshID is an id of the world's form that no sandbox has or will have.
func (w *World) FreshID() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.made++
	return w.newID()
}

// newID is the id of the sandbox that is made now.
func (w *ground) newID() string {
	if w.o.IDs != nil {
		return w.o.IDs(w.made)
	}
	return fmt.Sprintf("%08x-%04x-4000-8000-%012x", w.rng.Uint32(), w.made>>16&0xffff, w.made)
}
