package decide

import "github.com/sandkeeper/sandkeeper/reconcile"

// Heir is the task whose sandbox had this one's name before.
func (v *View) Heir(b *reconcile.Box) string {
	known := v.heirs
	if known == nil { // a look at one thing
		known = v.S.Memory.Heirs()
	}
	return known[reconcile.Ref{Provider: b.Provider, ID: b.Name}]
}

// snapshotHeirs are those of the ledger, and those that direct looks at what rows hold tell of.
func snapshotHeirs(s *reconcile.Snapshot) reconcile.Heirs {
	out, rows := s.Memory.Heirs(), map[string]string{}
	for i := range s.Tasks {
		rows[s.Tasks[i].Sandbox] = s.Tasks[i].ID
	}
	for ref, look := range s.Looks {
		s.Memory.Bequeath(out, reconcile.Ref{Provider: ref.Provider, ID: look.Sandbox.Name}, rows[ref.ID])
	}
	for task, find := range s.Finds {
		for i := range find.Sandboxes {
			s.Memory.Bequeath(out, reconcile.Ref{Provider: find.Sandboxes[i].Provider, ID: find.Sandboxes[i].Name}, task)
		}
	}
	return out
}
