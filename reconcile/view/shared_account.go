package view

import (
	"slices"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Elsewhere reports whether the row says that its sandbox is at another one of our entries, and
// means another sandbox than this one. Two entries of one kind may see the same account: then they
// show the same sandbox, and who is at work in it is so at both.
func (v *places) Elsewhere(t *reconcile.Task, s *reconcile.Sandbox) bool {
	_, ours := v.P.Providers[t.Provider]
	return ours && t.Provider != s.Provider && !v.mayBeMeant(t, s)
}

// mayBeMeant reports whether a sandbox may be the one that the row names at another entry of its
// account: unless the ledger has seen one there which the row can mean, and which is not this one.
func (v *places) mayBeMeant(t *reconcile.Task, s *reconcile.Sandbox) bool {
	//guard:twin-kind live
	if !slices.Contains(v.sameAccount[s.Provider], t.Provider) {
		return false
	}
	seen, known := v.S.Memory.Sandboxes.Get(reconcile.Ref{Provider: t.Provider, ID: s.ID})
	switch {
	//guard:twin-same harm
	case known:
		return seen.CreatedAt.IsZero() || s.CreatedAt.IsZero() || seen.CreatedAt.Equal(s.CreatedAt)
	//guard:twin-unseen harm
	case t.Sandbox == s.ID:
		return true
	}
	return false
}

// sameAccountOf are the other entries of each one's kind, which may see the same account: one address is
// spelled in many ways, and a kind's halves have several. What is only described may be anything.
func sameAccountOf(entries map[string]reconcile.ProviderPolicy) map[string][]string {
	out := map[string][]string{}
	names := reconcile.SortedKeys(entries)
	for _, name := range names {
		for _, other := range names {
			a, b := entries[name], entries[other]
			if name != other && a.Kind != "" && a.Kind == b.Kind && (a.Kind != "generic" || a.URL == b.URL) {
				out[name] = append(out[name], other)
			}
		}
	}
	return out
}

// rowOf is the row that says what the sandbox is for, of those that were read by key.
func (v *places) rowOf(s *reconcile.Sandbox) (row reconcile.Task, ok bool) {
	row, ok = v.S.Named(s)
	for _, twin := range v.sameAccount[s.Provider] {
		for _, key := range s.Keys() {
			if t, read := v.S.ByKey[reconcile.Ref{Provider: twin, ID: key}]; read && v.mayBeMeant(&t, s) && (!ok ||
				t.Before(&row)) {
				row, ok = t, true
			}
		}
	}
	return row, ok
}

// Shared reports whether two entries of a kind use one id, or one has for a name what the other has
// for an id. Vendors promise never to give out an id twice; where a platform chooses them they may
// nevertheless mean two sandboxes.
func (v *places) Shared(a, b *reconcile.Sandbox) bool {
	kind := v.P.Providers[a.Provider].Kind
	return a.Provider != b.Provider && kind != "" && kind == v.P.Providers[b.Provider].Kind &&
		(a.ID == b.ID || a.ID == b.Name || a.Name == b.ID)
}

// sameName is the task of the sandbox that another entry of its account shows under this one's name:
// two halves of one account, each with an entry of its own, show one sandbox under two ids.
func (v *places) sameName(b *reconcile.SeenSandbox) string {
	if b.Name == "" || b.Name == b.ID {
		return ""
	}
	for _, twin := range v.sameAccount[b.Provider] {
		if seen, known := v.S.Memory.Sandboxes.Get(reconcile.Ref{Provider: twin,
			ID: b.Name}); known && seen.GoneAt.IsZero() && seen.Task != "" {
			return seen.Task
		}
	}
	return ""
}

// heldElsewhere reports whether rows hold the value, and all of them mean another sandbox, at
// another provider.
func (v *places) heldElsewhere(value string, s *reconcile.Sandbox) bool {
	held := false
	for name := range v.P.Providers {
		row, read := v.S.ByKey[reconcile.Ref{Provider: name, ID: value}]
		held = held || read
		if read && !v.Elsewhere(&row, s) {
			return false
		}
	}
	if _, read := v.S.ByKey[reconcile.Ref{Provider: "", ID: value}]; read {
		return false
	}
	for i := range v.S.Tasks {
		if t := &v.S.Tasks[i]; t.Sandbox == value {
			held = true
			if !v.Elsewhere(t, s) {
				return false
			}
		}
	}
	return held
}
