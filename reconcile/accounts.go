package reconcile

import "slices"

// elsewhere reports whether the row says that its sandbox is at another one of our entries, and
// means another sandbox than this one. Two entries of one kind may see the same account: then they
// show the same sandbox, and who is at work in it is so at both.
func (v *view) elsewhere(t *Task, s *Sandbox) bool {
	_, ours := v.p.Providers[t.Provider]
	return ours && t.Provider != s.Provider && !v.mayBeMeant(t, s)
}

// mayBeMeant reports whether a sandbox may be the one that the row names at another entry of its
// kind: unless the ledger has seen one there which the row can mean, and which is not this one.
func (v *view) mayBeMeant(t *Task, s *Sandbox) bool {
	//guard:twin-kind live an id that two vendors happen to use would keep a sandbox for ever
	if here := v.p.Providers[s.Provider].Kind; here == "" || here != v.p.Providers[t.Provider].Kind {
		return false
	}
	seen, known := v.s.Memory.Sandboxes[Ref{t.Provider, s.ID}]
	switch {
	//guard:twin-same harm a sandbox that is seen through two entries would be ended by the one that the row does not name
	case known:
		return seen.CreatedAt.IsZero() || s.CreatedAt.IsZero() || seen.CreatedAt.Equal(s.CreatedAt)
	//guard:twin-unseen harm what the row names would be ended where the other entry has not shown it yet, or never will
	case t.Sandbox == s.ID:
		return true
	}
	return false
}

// shared reports whether two entries of a kind use one id, or one has for a name what the other has
// for an id. Vendors promise never to give out an id twice; where a platform chooses them they may
// nevertheless mean two sandboxes.
func (v *view) shared(a, b *Sandbox) bool {
	kind := v.p.Providers[a.Provider].Kind
	return a.Provider != b.Provider && kind != "" && kind == v.p.Providers[b.Provider].Kind &&
		(a.ID == b.ID || a.ID == b.Name || a.Name == b.ID)
}

// namesake is the task of the sandbox that another entry of its kind shows under this one's name: two
// halves of one account, each with an entry of its own, show one sandbox under two ids.
func (v *view) namesake(b *Box) string {
	kind := v.p.Providers[b.Provider].Kind
	if kind == "" || b.Name == "" || b.Name == b.ID {
		return ""
	}
	for _, name := range v.p.providerNames() {
		if name == b.Provider || v.p.Providers[name].Kind != kind {
			continue
		}
		if seen, known := v.s.Memory.Sandboxes[Ref{name, b.Name}]; known && seen.GoneAt.IsZero() && seen.Task != "" {
			return seen.Task
		}
	}
	return ""
}

// heldElsewhere reports whether a row holds the value, and means a sandbox at another provider.
func (v *view) heldElsewhere(value string, s *Sandbox) bool {
	if row, read := v.s.ByKey[value]; read {
		return v.elsewhere(&row, s)
	}
	at := slices.IndexFunc(v.s.Tasks, func(t Task) bool { return t.Sandbox == value })
	return at >= 0 && v.elsewhere(&v.s.Tasks[at], s)
}
