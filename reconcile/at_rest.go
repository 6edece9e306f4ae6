package reconcile

// isLeft reports whether the sandbox does not run and is left as it is: at many platforms what is
// stopped or paused is the normal state of what a user goes on with tomorrow, with all files in it.
func (v *view) isLeft(b *Box) bool { return v.p.isLeft(&b.Sandbox) }

func (p *Policy) isLeft(sb *Sandbox) bool {
	return sb.State.atRest() && !p.Providers[sb.Provider].EndsAtRest
}

// leftWords say that a sandbox of the subject does not run and is left; "" when none is.
func (v *view) leftWords(s *Subject) string {
	for i := range s.Boxes {
		if b := &s.Boxes[i]; b.Here && v.isLeft(b) {
			state := firstOf(b.Raw, string(b.State))
			return "its sandbox " + b.ID + " is " + state + ": what does not run is left (at_rest: keep)"
		}
	}
	return ""
}
