package view

import "github.com/sandkeeper/sandkeeper/reconcile"

// LeftWords say that a sandbox of the subject does not run and is left; "" when none is.
func (v *places) LeftWords(s *reconcile.Subject) string {
	for i := range s.Boxes {
		if b := &s.Boxes[i]; b.Here && v.P.IsLeft(b.Sandbox) {
			state := reconcile.FirstOf(b.Raw, string(b.State))
			return "its sandbox " + b.ID + " is " + state + ": what does not run is left (at_rest: keep)"
		}
	}
	return ""
}
