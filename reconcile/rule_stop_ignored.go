package reconcile

import "fmt"

// stopIgnored finds a task that a person stopped while its sandbox lives on.
func stopIgnored(v *view, s *Subject) verdict {
	if s.Task == nil || s.Fate != FateEnded || s.Task.State != TaskStopped {
		return verdict{}
	}
	b := s.remaining()
	if b == nil {
		return verdict{}
	}
	after := v.threshold("stop-ignored", s)
	age, by := v.stateAge(s)
	if age < after {
		return verdict{kept: fmt.Sprintf("stopped %s ago, its sandbox has until %s", short(age), short(after))}
	}
	return verdict{
		found: true, due: true, sandbox: b, holds: b.unsure(),
		reason: fmt.Sprintf(
			"task %s was stopped %s ago by %s, its sandbox is still %s",
			s.Task.ID,
			short(age),
			by,
			b.Raw,
		),
		evidence: []Evidence{
			{
				Source: "tasks",
				At:     s.Task.AsOf,
				Fact:   fmt.Sprintf("status %s for %s by %s", s.Task.Status, short(age), by),
			},
			b.seenAs(),
		},
	}
}

// remaining is the first sandbox of an ended task that still has to go. One whose
// terminate is already open does not count: its action follows it to the end.
func (s *Subject) remaining() *Box {
	for i := range s.Boxes {
		b := &s.Boxes[i]
		if b.Here && b.State.Exists() && b.State != SandboxDeleting {
			return b
		}
	}
	return nil
}

// unsure is what holds a step against a sandbox in a state that the adapter does not know.
func (b *Box) unsure() []string {
	if b.State == SandboxUnknown {
		return []string{fmt.Sprintf("unknown state %q", b.Raw)}
	}
	return nil
}

func (b *Box) seenAs() Evidence {
	return Evidence{
		Source: b.Provider,
		At:     b.AsOf,
		Fact:   fmt.Sprintf("sandbox %s is %s, created %s", b.ID, b.Raw, stamp(b.CreatedAt)),
	}
}
