package view

import "github.com/sandkeeper/sandkeeper/reconcile"

// OnlyRemembered reports whether nothing but the ledger's memory links a sandbox to the task. A label that was shown
// once may have been another's.
func (v *View) OnlyRemembered(s *reconcile.Subject, b *reconcile.SeenSandbox) bool {
	return s.Task != nil && b != nil && b.Here && v.Unlabelled(b, s.Task.ID) && !b.CalledBy(s.Task.Sandbox)
}

// Strange reports whether a sandbox is only remembered as the task's, and is not proven ours either: it may have been
// shown once with the labels of another, and may be anybody's.
func (v *View) Strange(s *reconcile.Subject, b *reconcile.SeenSandbox) bool {
	return v.OnlyRemembered(s, b) && !b.Ours()
}

// Unlabelled reports whether a sandbox of a provider where each says itself whose it is says nothing, and the task
// never had it by its name.
func (v *View) Unlabelled(b *reconcile.SeenSandbox, task string) bool {
	return v.P.Providers[b.Provider].LinkTask && b.Task == "" && !b.CalledBy(v.S.Memory.Tasks.Of(task).Named) &&
		!v.isHeir(b, task)
}

// isHeir reports whether another sandbox of its name was the task's. What it was taken for itself proves nothing.
func (v *View) isHeir(b *reconcile.SeenSandbox, task string) bool {
	if !b.StableName || v.Successor(b) != task {
		return false
	}
	for ref, seen := range v.S.Memory.Sandboxes.All() {
		if ref != b.Ref && ref.Provider == b.Provider && seen.Name == b.Name && seen.Task == task {
			return true
		}
	}
	return false
}
