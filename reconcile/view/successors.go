package view

import "github.com/sandkeeper/sandkeeper/reconcile"

// Successor is the task whose sandbox had this one's name before.
func (v *places) Successor(b *reconcile.SeenSandbox) string {
	known := v.Successors
	if known == nil { // a look at one thing
		known = v.S.Memory.Successors()
	}
	return known[reconcile.Ref{Provider: b.Provider, ID: b.Name}]
}

// snapshotSuccessors are those of the ledger, and those that direct looks at what rows hold tell of.
func snapshotSuccessors(s *reconcile.Snapshot) reconcile.Successors {
	out, rows := s.Memory.Successors(), map[string]string{}
	for i := range s.Tasks {
		rows[s.Tasks[i].Sandbox] = s.Tasks[i].ID
	}
	for ref, look := range s.Lookups {
		s.Memory.RecordName(out, reconcile.Ref{Provider: ref.Provider, ID: look.Sandbox.Name}, rows[ref.ID])
	}
	for task, find := range s.Finds {
		for i := range find.Sandboxes {
			s.Memory.RecordName(out, reconcile.Ref{Provider: find.Sandboxes[i].Provider, ID: find.Sandboxes[i].Name}, task)
		}
	}
	return out
}
