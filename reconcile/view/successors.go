package view

import (
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Successors are tasks by the names that their sandboxes had, at each provider. Where names last, a
// later sandbox of the name goes on with the task's work.
type Successors map[reconcile.Ref]string

// successorsOf are those whose sandboxes the ledger saw.
func successorsOf(m *reconcile.Memory) Successors {
	out := Successors{}
	for ref, seen := range m.Sandboxes.Each() {
		out.record(m, reconcile.Ref{Provider: ref.Provider, ID: seen.Name}, seen.Task)
	}
	return out
}

// record gives a name to a task, unless another one has it that comes before: a live one, or
// the one with the smaller id, so that the order of a map decides nothing.
func (s Successors) record(m *reconcile.Memory, name reconcile.Ref, task string) {
	other := s[name]
	lives, otherLives := m.Tasks.Of(task).Live, m.Tasks.Of(other).Live
	if task == "" || name.ID == "" || other != "" && (otherLives && !lives || lives == otherLives && other < task) {
		return
	}
	s[name] = task
}

// Successor is the task whose sandbox had this one's name before.
func (v *places) Successor(b *reconcile.SeenSandbox) string {
	known := v.Successors
	if known == nil { // a look at one thing
		known = successorsOf(&v.S.Memory)
	}
	return known[reconcile.Ref{Provider: b.Provider, ID: b.Name}]
}

// SharesName is another live task whose sandbox had this one's name, where names last; "" for none. Which of the two
// goes on in it nobody can tell.
func (v *places) SharesName(b *reconcile.SeenSandbox, task string) (other string) {
	if !b.StableName {
		return ""
	}
	for ref, seen := range v.S.Memory.Sandboxes.Each() {
		if ref.Provider == b.Provider && seen.Name == b.Name && seen.Task != task && v.S.Memory.Tasks.Of(seen.Task).Live &&
			(other == "" || seen.Task < other) {
			other = seen.Task
		}
	}
	return other
}

// FormersOf are the ids of the sandboxes that the ledger remembers of this one's name, where names last: a row that
// names one of them may mean this one by now.
func (v *places) FormersOf(b *reconcile.SeenSandbox) (ids []string) {
	if !b.StableName || b.Name == "" {
		return nil
	}
	for ref, seen := range v.S.Memory.Sandboxes.Each() {
		if ref.Provider == b.Provider && seen.Name == b.Name && ref != b.Ref {
			ids = append(ids, ref.ID)
		}
	}
	slices.Sort(ids)
	return ids
}

// snapshotSuccessors are those of the ledger, and those that rows tell of, which hold the id of what the ledger
// remembers or a direct look showed.
func snapshotSuccessors(s *reconcile.Snapshot) Successors {
	out, rows := successorsOf(&s.Memory), map[string]string{}
	for i := range s.Tasks {
		rows[s.Tasks[i].Sandbox] = s.Tasks[i].ID
	}
	for ref, seen := range s.Memory.Sandboxes.All() {
		//guard:heir-of-row harm
		out.record(&s.Memory, reconcile.Ref{Provider: ref.Provider, ID: seen.Name}, rows[ref.ID])
	}
	for ref, look := range s.Lookups {
		out.record(&s.Memory, reconcile.Ref{Provider: ref.Provider, ID: look.Sandbox.Name}, rows[ref.ID])
	}
	for task, find := range s.Finds {
		for i := range find.Sandboxes {
			out.record(&s.Memory, reconcile.Ref{Provider: find.Sandboxes[i].Provider, ID: find.Sandboxes[i].Name}, task)
		}
	}
	return out
}

// ShownWithin is by how much a listing may be behind at a provider that does not say it: what is made is shown by then.
// About 2.5 s were measured at Daytona; more would let each task whose sandbox went away wait for as long.
const ShownWithin = 30 * time.Second

// Renewed reports whether a sandbox that is over may have had later ones of its name, of which no direct look at it
// tells. Only listings show them, and the newest may have ended a moment before the first that shows none.
func (v *places) Renewed(b *reconcile.SeenSandbox) bool {
	p := v.P.Providers[b.Provider]
	//guard:renewed-ended harm
	over := b.Gone || b.Here && b.State == reconcile.SandboxEnded
	return p.NamesLast && p.SandboxIsID && over
}

// MayGoOn reports whether a sandbox that is over may have a later one of its name, which goes on with the work of
// its task, while the row holds the id of the former. Only a listing that was made later shows it.
func (v *places) MayGoOn(s *reconcile.Subject, b *reconcile.SeenSandbox) bool {
	if !v.Renewed(b) {
		return false
	}
	over := b.Seen().GoneAt
	//guard:heir-unknown live
	if !b.Known { // only a look at what the row names shows it: it was over when a pass first missed it
		over = v.S.Memory.Findings[reconcile.FindingKey{Rule: "sandbox-missing", Subject: s.ID}].FirstSeen
	}
	//guard:heir-shown harm
	return over.IsZero() || v.unlistedSince(b.Provider, over) || v.heirShown(s, b)
}

// unlistedSince reports whether no listing stands that shows what came by a moment.
func (v *places) unlistedSince(provider string, moment time.Time) bool {
	listed := v.Now
	if v.S.Kind != reconcile.Full {
		listed = v.S.Memory.Sources[reconcile.ListingOf(provider)].LastTrusted
	}
	//guard:heir-indexed harm
	behind := max(ShownWithin, v.P.Providers[provider].IndexLag)
	return listed.Sub(moment) < behind
}

// MayHaveLater reports whether the sandbox that the row names may have a later one of its name that goes on with the
// work, where nobody knows that name: it ended before any pass saw it, and its id alone is in the row. Each that came
// about since the task's present state began, not long after the sandbox was missed, and that nothing gives to another
// task, may be it.
func (v *places) MayHaveLater(s *reconcile.Subject) bool {
	//guard:later-unnamed-known live
	if s.HasBox(func(b *reconcile.SeenSandbox) bool { return b.Known && b.ID == s.Task.Sandbox }) {
		return false // it is known, at whichever provider, and so is its name
	}
	return slices.ContainsFunc(v.P.Candidates(s.Task), func(provider string) bool {
		p, ref := v.P.Providers[provider], reconcile.Ref{Provider: provider, ID: s.Task.Sandbox}
		if !p.NamesLast || !p.SandboxIsID || !v.S.Lookups[ref].Gone || v.S.Memory.Sandboxes.Has(ref) {
			return false
		}
		missed := v.missedSince(s)
		//guard:later-unnamed-listed harm
		early := missed.IsZero() || v.unlistedSince(provider, missed)
		//guard:later-unnamed-quick harm
		unlisted := p.GoesOnUnnamed() && v.S.Kind == reconcile.Quick && len(v.S.Listings) == 0
		//guard:later-unnamed-shown harm
		return early || unlisted || v.strayAt(s, provider, missed)
	})
}

// FormerGoesOn reports whether the row names a sandbox that is gone and that the ledger knows as another task's, whose
// name lasts: a later one of that name may be where its work goes on.
func (v *places) FormerGoesOn(s *reconcile.Subject) bool {
	return slices.ContainsFunc(v.P.Candidates(s.Task), func(provider string) bool {
		ref := reconcile.Ref{Provider: provider, ID: s.Task.Sandbox}
		seen, known := v.S.Memory.Sandboxes.Get(ref)
		if !known || seen.Task == s.Task.ID || !v.S.Lookups[ref].Gone {
			return false
		}
		b := reconcile.RememberedBox(seen.Compact())
		b.Gone = true
		return v.MayGoOn(s, &b)
	})
}

// missedSince is since when the task's sandbox is missed, by the ledger's clock; zero where it was not before. Its
// worker that spoke later worked in one all the same.
func (v *places) missedSince(s *reconcile.Subject) time.Time {
	missed := v.S.Memory.Findings[reconcile.FindingKey{Rule: "sandbox-missing", Subject: s.ID}].FirstSeen
	sign := v.Sign(s.Task)
	//guard:later-unnamed-spoke harm
	if spoke := v.Now.Add(-s.Task.AsOf.Sub(sign)); !sign.IsZero() && !missed.IsZero() && spoke.After(missed) {
		return spoke
	}
	return missed
}

// strayAt reports whether the provider has a sandbox that nothing gives to another task, and that is not older than
// the task's present state, as the ledger saw both. A row may get an id that is over, a while after a listing showed
// the later one; what came a whole listing after its sandbox was missed did not go on with its work.
func (v *places) strayAt(s *reconcile.Subject, provider string, missed time.Time) bool {
	last := missed.Add(v.P.Full + max(ShownWithin, v.P.Providers[provider].IndexLag))
	for ref, seen := range v.S.Memory.Sandboxes.Each() {
		//guard:later-unnamed-older live
		older := s.Known && v.earlierThan(seen.FirstSeen, s.Seen().Since.Add(-v.P.Full))
		//guard:later-unnamed-late live
		late := seen.FirstSeen.After(last)
		own := v.S.Memory.Tasks.Of(seen.Task)
		//guard:later-unnamed-own live
		if own.Named == ref.ID || own.Sandbox == ref.ID {
			continue
		}
		named := ref.Provider == provider && seen.Name != ""
		if seen.GoneAt.IsZero() && named && !older && !late && !v.givenElsewhere(s, ref, seen.Task) {
			return true
		}
	}
	//guard:later-unnamed-foreign harm
	if slices.ContainsFunc(v.S.Strays, func(sb reconcile.Sandbox) bool {
		return sb.Provider == provider && sb.Name != "" && v.mayBeLater(s, &sb, last)
	}) {
		return true
	}
	//guard:later-unnamed-new harm
	return !v.Now.After(last) && slices.ContainsFunc(v.S.Sandboxes, func(sb reconcile.Sandbox) bool {
		return sb.Provider == provider && sb.Name != "" && sb.State.Exists() && !v.S.Memory.Sandboxes.Has(sb.Ref) &&
			!v.givenElsewhere(s, sb.Ref, sb.Task)
	})
}

// mayBeLater reports whether a sandbox that nothing shows to be ours came since the row was made, and not after a
// moment, as its own clock says.
func (v *places) mayBeLater(s *reconcile.Subject, sb *reconcile.Sandbox, last time.Time) bool {
	if sb.Task != "" && sb.Task != s.Task.ID || sb.Spare || sb.Canary {
		return false
	}
	//guard:later-unnamed-foreign-older live
	if NoProof(v.S, s.Task, sb) == reconcile.OlderThanRow {
		return false
	}
	age, late := sb.AsOf.Sub(sb.CreatedAt), v.Since(last)
	//guard:later-unnamed-foreign-late live
	return sb.CreatedAt.IsZero() || age+reconcile.ProviderSkew >= late
}

// givenElsewhere reports whether a sandbox is for something else than the task: its label names another live one, a row
// holds its id, or the config says so.
func (v *places) givenElsewhere(s *reconcile.Subject, ref reconcile.Ref, task string) bool {
	//guard:later-unnamed-labelled live
	if task != "" && task != s.Task.ID && v.Live[task] != nil {
		return true
	}
	if at, listed := v.S.Place(ref); listed {
		if sb := &v.S.Sandboxes[at]; sb.Spare || sb.Canary || sb.Excepted {
			return true
		}
	}
	return slices.ContainsFunc(v.S.Tasks, func(t reconcile.Task) bool { return t.Sandbox == ref.ID })
}

// heirShown reports whether another sandbox has the name of one that is gone, and no live row holds its id. Where
// tasks share a name it may stand with another of them, and one that this very pass lists is in no ledger yet. One that
// stands with the task is judged by itself: where it is over too, it goes on with nothing.
func (v *places) heirShown(s *reconcile.Subject, b *reconcile.SeenSandbox) bool {
	called := reconcile.FirstOf(b.Seen().Name, b.Name)
	heir := func(ref reconcile.Ref, name string) bool {
		//guard:heir-own live
		if s.HasBox(func(o *reconcile.SeenSandbox) bool { return o.Ref == ref && o.Here }) {
			return false
		}
		return ref != b.Ref && ref.Provider == b.Provider && name == called &&
			!slices.ContainsFunc(v.S.Tasks, func(t reconcile.Task) bool { return t.Sandbox == ref.ID })
	}
	for ref, seen := range v.S.Memory.Sandboxes.Each() {
		if seen.GoneAt.IsZero() && heir(ref, seen.Name) {
			return true
		}
	}
	//guard:heir-listed harm
	return slices.ContainsFunc(v.S.Sandboxes, func(sb reconcile.Sandbox) bool {
		//guard:heir-listed-gone live
		if v.S.Lookups[sb.Ref].Gone && !v.S.Memory.Sandboxes.Of(sb.Ref).GoneAt.IsZero() {
			return false // it ended, as the ledger has it and a direct look says: a list may show that for long
		}
		return sb.State.Exists() && sb.Name != "" && heir(sb.Ref, sb.Name)
	})
}
