package view

import "github.com/sandkeeper/sandkeeper/reconcile"

// OwnNamed are the sandboxes that labels show to be a task's own, by the name that they have at their provider.
type OwnNamed map[ownName][]string

type ownName struct{ provider, name, task string }

// OwnNamed are those that the ledger remembers, and that this pass lists where it lists all: no single listing, which
// may be mixed up, makes a sandbox someone's.
func (v *places) OwnNamed() OwnNamed {
	own := OwnNamed{}
	for ref, kept := range v.S.Memory.Sandboxes.Kept() {
		if kept.Task() == "" || kept.Gone() || !v.labelsAlone(ref.Provider) {
			continue
		}
		//guard:own-named-unlisted harm
		if v.S.Kind == reconcile.Full && !v.S.Lists(ref) {
			continue
		}
		if seen := kept.Seen(); seen.State.Active() && seen.Name != "" {
			at := ownName{ref.Provider, seen.Name, seen.Task}
			own[at] = append(own[at], ref.ID)
		}
	}
	return own
}

// labelsAlone reports whether a sandbox's label is all that links it at the provider, so that what is remembered of its
// task was read there; and whether nobody who works inside may have written it to another tenant's harm.
func (v *places) labelsAlone(provider string) bool {
	//guard:own-named-tenants harm
	return v.P.Providers[provider].LinkTask && !v.P.Providers[provider].NamesLast && !v.P.Tasks.Tenants
}

// MeansItsOwn reports whether a row that holds a sandbox's name, and not its id, means another one of that name: its
// task's own, which works by its label. Where all are called alike, after their template, the name tells nobody apart.
// Without such a one the row may mean any of them.
func (v *places) MeansItsOwn(own OwnNamed, t *reconcile.Task, b *reconcile.Sandbox) bool {
	//guard:own-named-by-id harm
	if len(b.Keys()) > 0 || t.Sandbox != b.Name || t.Sandbox == b.ID || b.Task == t.ID {
		return false
	}
	for _, id := range own[ownName{b.Provider, t.Sandbox, t.ID}] {
		if ref := (reconcile.Ref{Provider: b.Provider, ID: id}); ref != b.Ref && v.worksAs(ref, t) {
			return true
		}
	}
	return false
}

// worksAs reports whether nothing speaks against a sandbox that is remembered as the task's: no terminate is open,
// and neither a look nor the listing of this pass shows it otherwise.
func (v *places) worksAs(ref reconcile.Ref, t *reconcile.Task) bool {
	//guard:own-named-ending harm
	if v.Ending[ref] {
		return false
	}
	works := func(sb *reconcile.Sandbox) bool {
		return sb.State.Active() && sb.Task == t.ID && sb.Name == t.Sandbox && sb.Ours()
	}
	//guard:own-named-looked harm
	if look, looked := v.S.Lookups[ref]; looked && (look.Gone || look.Error != "" || !works(&look.Sandbox)) {
		return false
	}
	at, listed := v.S.Place(ref)
	//guard:own-named-listed harm
	return !listed || works(&v.S.Sandboxes[at])
}
