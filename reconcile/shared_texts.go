package reconcile

// ShareTexts lets the row have the texts of what is remembered of its task, where they are the same: a fleet has many,
// and one copy does for both.
func (t *Task) ShareTexts(m *Memory) {
	if seen, known := m.Tasks.Get(t.ID); known {
		t.ID = seen.ID
		oneCopy(seen.Sandbox, &t.Sandbox)
	}
}

// ShareTexts lets the sandbox have the texts of what is remembered of it, as a row does.
func (s *Sandbox) ShareTexts(m *Memory) {
	seen, known := m.Sandboxes.Get(s.Ref)
	if !known {
		return
	}
	s.Ref = seen.Ref
	for _, text := range [...]string{seen.ID, seen.Name, seen.Task} {
		oneCopy(text, &s.Name, &s.Task, &s.SandboxKey, &s.AltKey)
	}
}

// ShareTexts lets what is remembered of a sandbox have the id of the task that is remembered as well.
func (s *SandboxSeen) ShareTexts(m *Memory) {
	if task, known := m.Tasks.Get(s.Task); known {
		s.Task = task.ID
	}
}

// oneCopy lets those texts that are the same be one.
func oneCopy(text string, with ...*string) {
	for _, other := range with {
		if *other == text {
			*other = text
		}
	}
}
