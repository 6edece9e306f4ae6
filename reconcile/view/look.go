package view

import (
	"cmp"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// The bounds of one pass's look-ups, so that a mass failure cannot turn a pass into a
// flood of calls. What is not looked at now is looked at by a later pass.
const (
	LooksPerPass = 300
	MissingLooks = 50
	Lookers      = 8
)

// Rotated begins at another place each second, so that items which never settle do not
// starve the others.
func Rotated[T any](list []T, now time.Time) []T {
	if len(list) == 0 {
		return nil
	}
	from := int(uint64(now.Unix()) % uint64(len(list)))
	return append(slices.Clone(list[from:]), list[:from]...)
}

// sightedMost is how many a quick pass sights again. More wait for the full one: a breaker has to see at once all that
// is due.
const sightedMost = 10

// SightAgain are the sandboxes that a full pass found something of which a quick one may sight again: nothing holds
// it, and the interval between two sightings is over. None where they are many. Besides, those that wait their turn.
func SightAgain(s *reconcile.Snapshot, p *reconcile.Policy) (refs []reconcile.Ref) {
	if s.Kind != reconcile.Quick {
		return nil
	}
	for key, f := range s.Memory.Findings {
		apart := s.Memory.Now.Sub(f.SightedAt) >= p.Rules[key.Rule].Apart
		if reconcile.RuleNamed(key.Rule).SightedAgain && p.Judges(key.Rule) && !f.Due && len(f.HeldBy) == 0 && apart {
			refs = append(refs, reconcile.Ref{Provider: f.Provider, ID: f.Sandbox})
		}
	}
	//guard:sighted-many P7
	if len(refs) > sightedMost {
		refs = nil
	}
	again := func(f *reconcile.Finding) bool { return reconcile.RuleNamed(f.Rule).SightedAgain }
	for _, f := range nextInTurn(s, p, again) {
		refs = append(refs, reconcile.Ref{Provider: f.Provider, ID: f.Sandbox})
	}
	reconcile.SortRefs(refs)
	return refs
}

// nextInTurn are those of the findings that wait for nothing but a place in the budget of a pass, the oldest first and
// no more than a quick pass looks at: they need not wait for the next full one, whose breaker has seen all of them.
func nextInTurn(s *reconcile.Snapshot, p *reconcile.Policy, of func(*reconcile.Finding) bool,
) (next []reconcile.Finding) {
	if s.Memory.Spent.Hour >= p.Limits.PerHour {
		return nil
	}
	for _, f := range s.Memory.Findings {
		waits := f.Due && len(f.HeldBy) == 1 && f.HeldBy[0].Kind == reconcile.HeldBudget
		if waits && p.Judges(f.Rule) && of(&f) {
			next = append(next, f)
		}
	}
	slices.SortFunc(next, func(a, b reconcile.Finding) int {
		return cmp.Or(a.FirstSeen.Compare(b.FirstSeen), cmp.Compare(a.Subject, b.Subject))
	})
	return next[:min(len(next), sightedMost)]
}

// SightedAgain reports whether a rule that needs a full pass may judge the subject now: this is one, or what one found
// is still open, and the sandbox was looked at.
func (v *View) SightedAgain(rule string, s *reconcile.Subject) bool {
	if v.S.Kind == reconcile.Full {
		return true
	}
	_, open := v.S.Memory.Findings[reconcile.FindingKey{Rule: rule, Subject: s.ID}]
	if !open || !reconcile.RuleNamed(rule).SightedAgain || len(s.Boxes) != 1 {
		return false
	}
	look, looked := v.S.Lookups[s.Boxes[0].Ref]
	return looked && !look.Gone && look.Error == ""
}

// Relabelled are the sandboxes that are shown as another task's than the live one whose they were.
func Relabelled(s *reconcile.Snapshot, live map[string]bool) (shown []reconcile.Sandbox) {
	for i := range s.Sandboxes {
		sb := &s.Sandboxes[i]
		seen := s.Memory.Sandboxes.Of(sb.Ref)
		if sb.Task != "" && sb.Task != seen.Task && live[seen.Task] && !seen.Another(sb, s.Memory.Now) {
			shown = append(shown, *sb)
		}
	}
	return shown
}

// Unconfirmed are the listed sandboxes that the ledger does not know and that nothing but their label gives to a task,
// where a task is what makes them ours: a listing may show one with the label of another.
func Unconfirmed(s *reconcile.Snapshot, p *reconcile.Policy) (refs []reconcile.Ref) {
	var names map[string]string // by task, what its row names
	for i := range s.Sandboxes {
		sb := &s.Sandboxes[i]
		if sb.Task == "" || !p.Providers[sb.Provider].ByRow(sb) || s.Memory.Sandboxes.Has(sb.Ref) {
			continue
		}
		if names == nil {
			names = make(map[string]string, len(s.Tasks))
			for j := range s.Tasks {
				names[s.Tasks[j].ID] = s.Tasks[j].Sandbox
			}
		}
		if !sb.CalledBy(names[sb.Task]) {
			refs = append(refs, sb.Ref)
		}
	}
	return refs
}

// QuickLooks are the sandboxes that a quick pass gets by id: those of tasks that left the
// live set, those that fail their probes, those whose executions wait, and of those that a provider gave a reason to
// look at the ones that are known.
func QuickLooks(s *reconcile.Snapshot) []reconcile.Ref {
	var refs []reconcile.Ref
	boxes := s.OtherSandboxes() // nothing is open about the others, and their tasks are live
	for id := range s.Rows {
		if was, known := s.Memory.Tasks.At(id); known && s.Plain.Has(was) {
			boxes = s.Memory.Sandboxes.Kept()
		}
	}
	for ref, kept := range boxes {
		if kept.Gone() {
			continue
		}
		row, left := s.Rows[kept.Task()]
		probes := s.Memory.Probes[ref]
		if left && row.State.Terminal() || len(probes.Failures) > 0 || probes.Queues() ||
			slices.Contains(s.Pushed, ref) {
			refs = append(refs, ref)
		}
	}
	reconcile.SortRefs(refs)
	return refs[:min(len(refs), LooksPerPass)]
}
