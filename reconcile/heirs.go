package reconcile

// heirs are tasks by the names that their sandboxes had, at each provider. Where names last, a
// later sandbox of the name goes on with the task's work.
type heirs map[Ref]string

// heir is the task whose sandbox had this one's name before.
func (v *view) heir(b *Box) string {
	known := v.heirs
	if known == nil { // a look at one thing
		known = v.s.Memory.heirs()
	}
	return known[Ref{b.Provider, b.Name}]
}

// heirs are those whose sandboxes the ledger saw.
func (m *Memory) heirs() heirs {
	out := heirs{}
	for ref, seen := range m.Sandboxes {
		m.bequeath(out, Ref{ref.Provider, seen.Name}, seen.Task)
	}
	return out
}

// heirs are those of the ledger, and those that direct looks at what rows hold tell of.
func (s *Snapshot) heirs() heirs {
	out, rows := s.Memory.heirs(), map[string]string{}
	for i := range s.Tasks {
		rows[s.Tasks[i].Sandbox] = s.Tasks[i].ID
	}
	for ref, look := range s.Looks {
		s.Memory.bequeath(out, Ref{ref.Provider, look.Sandbox.Name}, rows[ref.ID])
	}
	for task, find := range s.Finds {
		for i := range find.Sandboxes {
			s.Memory.bequeath(out, Ref{find.Sandboxes[i].Provider, find.Sandboxes[i].Name}, task)
		}
	}
	return out
}

// bequeath gives a name to a task, unless another one has it that comes before: a live one, or
// the one with the smaller id, so that the order of a map decides nothing.
func (m *Memory) bequeath(to heirs, name Ref, task string) {
	other := to[name]
	lives, otherLives := m.Tasks[task].Live, m.Tasks[other].Live
	if task == "" || name.ID == "" || other != "" && (otherLives && !lives || lives == otherLives && other < task) {
		return
	}
	to[name] = task
}
