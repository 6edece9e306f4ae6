package view

import "github.com/sandkeeper/sandkeeper/reconcile"

// IsLeft reports whether the sandbox does not run and is left as it is: at many platforms what is
// stopped or paused is the normal state of what a user goes on with tomorrow, with all files in it.
func (v *signs) IsLeft(b *reconcile.SeenSandbox) bool { return v.P.IsLeft(b.Sandbox) }

// LeftWords say that a sandbox of the subject does not run and is left; "" when none is.
func (v *places) LeftWords(s *reconcile.Subject) string {
	for i := range s.Boxes {
		if b := &s.Boxes[i]; b.Here && v.IsLeft(b) {
			state := reconcile.FirstOf(b.Raw, string(b.State))
			return "its sandbox " + b.ID + " is " + state + ": what does not run is left (at_rest: keep)"
		}
	}
	return ""
}
