package worldtest

import "github.com/sandkeeper/sandkeeper/reconcile"

// RecallAgain is a recall of somebody who reads everything each time, and tells what has changed since the last one;
// anew where nothing of that is gone on from. The memory becomes what is recalled.
func RecallAgain(last *reconcile.Recalled, m *reconcile.Memory, anew bool) *reconcile.Recalled {
	before := last
	if anew {
		before = &reconcile.Recalled{}
	}
	next := before.Next(last.Turn + 1)
	for _, seen := range m.Tasks.All() {
		next.PutTask(seen)
	}
	for id, was := range before.Tasks.Kept() {
		if !m.Tasks.Has(id) {
			next.DropTask(was.Place())
		}
	}
	for ref, seen := range m.Sandboxes.All() {
		if probes, probed := m.Probes[ref]; probed {
			next.PutSandbox(seen, &probes)
		} else {
			next.PutSandbox(seen, nil)
		}
	}
	for ref, was := range before.Sandboxes.Kept() {
		if !m.Sandboxes.Has(ref) {
			next.DropSandbox(was.Place())
		}
	}
	next.Into(m)
	return next
}
