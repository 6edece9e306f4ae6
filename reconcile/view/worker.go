package view

import "github.com/sandkeeper/sandkeeper/reconcile"

// CalledFor are the open actions, not begun, that the newest pass calls for: their finding
// is open, due, and held by nothing.
func CalledFor(m *reconcile.Memory) map[string]bool {
	due := map[string]bool{}
	for i := range m.Actions {
		a := &m.Actions[i]
		f, open := m.Findings[reconcile.FindingKey{Rule: a.Rule, Subject: a.Subject}]
		//guard:worker-due P7
		due[a.ID] = open && f.Due && len(f.HeldBy) == 0
	}
	return due
}
