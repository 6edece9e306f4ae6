package reconcile

import "testing"

// TestRemembered: what is handed out as a copy is one, what is not known is nothing, and a box of it is never nil.
func TestRemembered(t *testing.T) {
	ref := Ref{"daytona", "s1"}
	m := &Memory{Sandboxes: RememberedOf(map[Ref]SandboxSeen{ref: {Ref: ref, Task: "t1"}})}
	seen, known := m.Sandboxes.Get(ref)
	seen.Task = "spoiled"
	for _, each := range m.Sandboxes.All() {
		each.Task = "spoiled"
	}
	if got := m.Sandboxes.Of(ref); !known || got.Task != "t1" || m.Sandboxes.Len() != 1 {
		t.Errorf("known %t, task %q of %d, want t1 of 1", known, got.Task, m.Sandboxes.Len())
	}
	b, other := Box(&Sandbox{Ref: ref}), Box(&Sandbox{Ref: Ref{"daytona", "s2"}})
	b.Remember(m)
	other.Remember(m)
	if !b.Known || b.Seen().Task != "t1" || other.Known || other.Seen() != (SandboxSeen{}) || b.Probes == nil {
		t.Errorf("boxes %+v and %+v, want one of t1 and one of nothing", b, other)
	}
	if b.Forget(); b.Known || b.Seen().Task != "" || !m.Sandboxes.Has(ref) {
		t.Errorf("box %+v, want it forgotten, and the memory as it was", b)
	}
	listed := b.Sandbox
	if b.Own().State = SandboxFailed; listed.State == SandboxFailed || b.State != SandboxFailed {
		t.Errorf("the listing says %q, the box %q: want its own to be written to", listed.State, b.State)
	}
}
