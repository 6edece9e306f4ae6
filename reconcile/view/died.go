package view

import (
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Died is the provider's own record of the end of a sandbox, nil where there is none that says something of the
// task's present state. The record is of one run: it counts only of what is seen to be over as well, and if that
// run cannot be of the time before the sandbox came back, or before the task was handed out. Each is as old as its
// own clock says.
func (v *View) Died(s *reconcile.Subject, b *reconcile.SeenSandbox) *reconcile.Death {
	d := v.S.Lookups[b.Ref].Death
	over := b.Lost() || b.Here && b.State == reconcile.SandboxFailed
	if d == nil || d.At.IsZero() || d.AsOf.IsZero() || !over || !b.Known {
		return nil
	}
	state, _ := v.StateAge(s)
	switch ago := d.Ago(); {
	//guard:died-clock harm
	case !v.believesClock(b.Ref), ago < -reconcile.ProviderSkew:
	//guard:died-made harm
	case d.At.Before(b.Seen().CreatedAt.Add(-reconcile.Skew)):
	//guard:died-resumed harm
	case !b.Seen().ResumedAt.IsZero() && ago > v.Since(b.Seen().ResumedAt):
	//guard:died-earlier harm
	case ago > state:
	default:
		return d
	}
	return nil
}

// DiedAll are the records of the end of each sandbox that the task has in its present state; none when one of them
// has no such record, or there is no sandbox at all.
func (v *View) DiedAll(s *reconcile.Subject) (all []*reconcile.Death) {
	for i := range s.Boxes {
		b := &s.Boxes[i]
		if v.Past(s, b) {
			continue
		}
		d := v.Died(s, b)
		//guard:died-all harm
		if d == nil {
			return nil
		}
		all = append(all, d)
	}
	return all
}

// MayComeBack reports whether what is on record is no more than the end of one run, and too young to be the end of the
// task's sandbox: its provider's sandboxes go on in a later run under the same name, as a client of theirs brings them
// back by itself at its next command. Who holds the name of one has all of its runs.
func (v *View) MayComeBack(s *reconcile.Subject, within time.Duration) bool {
	return s.HasBox(func(b *reconcile.SeenSandbox) bool {
		d := v.Died(s, b)
		//guard:died-comes-back harm
		return d != nil && v.P.Providers[b.Provider].NamesLast && d.Ago() < within
	})
}

// DeathWords are the records of the end of a task's sandboxes, as a reason and as evidence.
func (v *View) DeathWords(s *reconcile.Subject) (words string, evidence []reconcile.Evidence) {
	for i := range s.Boxes {
		b := &s.Boxes[i]
		d := v.Died(s, b)
		if d == nil {
			continue
		}
		words = reconcile.Joined(words, d.String())
		fact := reconcile.FirstOf(d.Record, "record") + " of " + b.ID + ": " + d.String()
		if d.Incarnation != "" {
			fact += ", run " + d.Incarnation
		}
		evidence = append(evidence, reconcile.Evidence{Source: b.Provider, At: d.At, Fact: fact})
	}
	return words, evidence
}

// Unrecorded reports whether a listing showed a sandbox of the task to be over, and its provider was not asked yet
// what it has on record of that.
func (v *View) Unrecorded(s *reconcile.Subject) bool { return s.HasBox(v.unrecorded) }

func (v *places) unrecorded(b *reconcile.SeenSandbox) bool {
	_, looked := v.S.Lookups[b.Ref]
	return b.Here && b.Lost() && !looked && b.Seen().Task != "" && v.P.Providers[b.Provider].Records
}
