package view

import (
	"slices"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// What is asked of a view before a row is read, a sandbox is looked up, or an action is done.

// Blind reports whether a provider where the task's sandbox may be cannot be asked for it,
// neither by id nor by link.
func (v *places) Blind(t *reconcile.Task) bool {
	return slices.ContainsFunc(v.P.Candidates(t), func(name string) bool {
		p := v.P.Providers[name]
		return !p.LinkTask && (!p.SandboxIsID || t.Sandbox == "")
	})
}

// Fresh reports whether what the ledger has may stand for listings of now: the last one of
// every provider was whole, and not longer ago than verdicts may rest on.
func (v *places) Fresh() bool {
	for _, name := range v.P.ProviderNames() {
		if !v.Listed(name) {
			return false
		}
	}
	return true
}

// MaybeAnothers reports whether a sandbox may be another environment's that shares the account:
// nothing here has ever known the task that it names. That the row of another one names it makes that no more
// known: its label may have come with another environment's name.
func (v *places) MaybeAnothers(sb *reconcile.Sandbox, users ...reconcile.Task) bool {
	known := v.S.Memory.Tasks.Has(sb.Task)
	named := sb.Task != "" || sb.BadLink
	used := slices.ContainsFunc(users, func(t reconcile.Task) bool {
		//guard:asked-shared-named P1
		return sb.BadLink || t.ID == sb.Task
	})
	return named && !known && !used && !v.P.Tasks.None && !v.P.Providers[sb.Provider].Exclusive
}

// LookRefs are the sandboxes of a subject to be got by id.
func (v *places) LookRefs(s *reconcile.Subject) []reconcile.Ref {
	var refs []reconcile.Ref
	for _, b := range s.Boxes {
		if !b.Here && !b.Gone || b.Here && b.State == reconcile.SandboxDeleting {
			refs = append(refs, b.Ref)
		}
		// One that was gone and is listed again: the listing may be of long ago.
		again := b.Here && b.Known && !b.Seen().GoneAt.IsZero() && s.Task != nil
		if b.Here && s.LinkState == reconcile.LinkUnnamed || again || v.unrecorded(&b) {
			refs = append(refs, b.Ref)
		}
	}
	if s.Task == nil || s.Task.Sandbox == "" {
		return refs
	}
	for _, provider := range v.P.Candidates(s.Task) {
		ref := reconcile.Ref{Provider: provider, ID: s.Task.Sandbox}
		here := s.HasBox(func(b *reconcile.SeenSandbox) bool {
			return b.Here && (b.Ref == ref || b.Provider != provider && b.CalledBy(s.Task.Sandbox))
		})
		if v.P.Providers[provider].SandboxIsID && !here && !v.anothers(s.Task, provider) && !slices.Contains(refs, ref) {
			refs = append(refs, ref)
		}
	}
	return refs
}

// anothers reports whether the id that the row holds is known to be another provider's: this one need
// not be asked for it, which may be down, or refuse what is no id of its own.
func (v *places) anothers(t *reconcile.Task, provider string) bool {
	if v.has(t, provider) {
		return false
	}
	return slices.ContainsFunc(v.P.Candidates(t), func(other string) bool {
		return v.P.Providers[other].SandboxIsID && v.has(t, other)
	})
}

// has reports whether the provider shows the sandbox that the row names by its id, or did, as the
// task's own.
func (v *places) has(t *reconcile.Task, provider string) bool {
	ref := reconcile.Ref{Provider: provider, ID: t.Sandbox}
	at, listed := v.S.Place(ref)
	seen, known := v.S.Memory.Sandboxes.Get(ref)
	return known && seen.Task == t.ID || listed && (v.S.Sandboxes[at].Task == "" || v.S.Sandboxes[at].Task == t.ID)
}

// Mine settles whether a sandbox is this installation's and the task's own.
func (v *places) Mine(b *reconcile.SeenSandbox, task string, users map[reconcile.Ref]*reconcile.Task) bool {
	NewProver(v.S, v.P).Settle(b.Own())
	b.Owned = b.Owned || v.P.Providers[b.Provider].ByRow(b.Sandbox)
	user := v.TaskOf(b, users)
	return b.Owned && (user == "" || user == task)
}
