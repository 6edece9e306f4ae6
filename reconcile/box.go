package reconcile

// A SeenSandbox is one sandbox of a subject, as seen now and as remembered. What it points at is the snapshot's: a
// fleet has many, and most are what they were. [Box] makes one, so that nothing of it is ever nil.
type SeenSandbox struct {
	*Sandbox                 // not to be written to, but for one's [SeenSandbox.Own]
	Was      *CompactSandbox // what the ledger remembers, see [SeenSandbox.Seen]; nil when it has not seen it before
	Probes   *ProbeSeen      // zero when it was never probed
	Known    bool            // the ledger has seen it before
	Here     bool            // listed, found or got in this pass
	Gone     bool            // a direct look said that it is gone
}

// nothingProbed is of what was never probed. Nobody writes to it.
var nothingProbed = &ProbeSeen{}

// Seen is what the ledger remembers of it; zero when it has not seen it before.
func (b *SeenSandbox) Seen() SandboxSeen { return b.Was.Seen() }

// Box is a sandbox of which nothing is remembered.
func Box(s *Sandbox) SeenSandbox {
	return SeenSandbox{Sandbox: s, Probes: nothingProbed}
}

// RememberedBox is a sandbox of which only the ledger tells.
func RememberedBox(was *CompactSandbox) SeenSandbox {
	seen := was.Seen()
	b := Box(&Sandbox{Ref: seen.Ref, Name: seen.Name, Template: seen.Template})
	b.Was, b.Known = was, true
	return b
}

// Remember adds what the ledger knows of it.
func (b *SeenSandbox) Remember(m *Memory) { b.Was, b.Known = m.Sandboxes.At(b.Ref) }

// Forget takes away what the ledger knows of it: that was another one's.
func (b *SeenSandbox) Forget() { b.Was, b.Known = nil, false }

// Own makes what is seen of it the box's own, to be written to.
func (b *SeenSandbox) Own() *Sandbox {
	own := *b.Sandbox
	b.Sandbox = &own
	return b.Sandbox
}

// Alive reports whether work may be going on in the box, or may go on again.
func (b *SeenSandbox) Alive() bool {
	if !b.Here {
		return false
	}
	switch b.State {
	case SandboxStopped, SandboxEnded, SandboxFailed, SandboxDeleting:
		return false
	}
	return true
}

// Lost reports whether the box is proven to be gone or terminal: its processes are no
// more. Paused, archived and suspended are not lost.
func (b *SeenSandbox) Lost() bool {
	return b.Gone || b.Here && (b.State == SandboxStopped || b.State == SandboxEnded)
}

// BoxedSubject is a sandbox without a task.
func BoxedSubject(b SeenSandbox, state LinkState) Subject {
	return Subject{ID: BoxSubject(b.Ref), Boxes: []SeenSandbox{b}, LinkState: state}
}
