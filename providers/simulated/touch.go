package simulated

import "time"

// TouchAt counts as activity in the sandbox at a moment of the world's clock, unless there
// was a newer one: for worlds in which nothing runs by itself and that are brought up to
// their clock when somebody looks.
func (w *World) TouchAt(id string, at time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	b := w.boxes[id]
	ahead := b != nil && b.LastActivityAt.After(w.Now()) // stamped before the clock was set back
	if b == nil || b.Gone || !ahead && !at.After(b.LastActivityAt) {
		return
	}
	b.LastActivityAt = at
}
