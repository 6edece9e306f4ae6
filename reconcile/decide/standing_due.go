package decide

import (
	"maps"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// StandsDue reports whether the judgement of those that were kept is what one of everybody comes to in a quick pass
// that asked for what has changed, although something may come due by it. Counts, freezes and budgets rest on the
// plain rows as well. What one row alone may change is whose a sandbox is: so nothing of what is found may have a
// plain row's name, or its sandbox's. Where a breaker opens, or anything about the fleet as a whole is news, everybody
// is read.
//
// A pass only writes down what it finds. Who carries that out looks again at its subject, and for whoever names it.
func (s *Sieve) StandsDue(j *Judgement) bool {
	if !s.settled(j) {
		return false
	}
	plan := MakePlan(j, 0)
	if len(plan.Withdrawn)+len(plan.Breakers) > 0 {
		return false
	}
	//guard:standing-touched harm
	return !s.touched(j.View.S, j.words())
}

// namedTwice reports whether two rows hold one name of what was looked at, or one of the words. It goes to the last of
// them, and rows that are read alone come in another order than all do.
func namedTwice(s *reconcile.Snapshot, words map[string]bool) bool {
	names := maps.Clone(words)
	for i := range s.Sandboxes {
		sb := &s.Sandboxes[i]
		for _, name := range [...]string{sb.ID, sb.SandboxKey, sb.AltKey} {
			names[name] = true
		}
	}
	held := map[string]bool{"": true}
	for i := range s.Tasks {
		name := s.Tasks[i].Sandbox
		if name != "" && names[name] && held[name] {
			return true
		}
		held[name] = true
	}
	return false
}

// words are all words that what is found may be known by.
func (j *Judgement) words() map[string]bool {
	words := map[string]bool{}
	for i := range j.Decisions {
		d := &j.Decisions[i]
		if len(d.Findings) == 0 {
			continue
		}
		if t := d.Subject.Task; t != nil {
			words[t.ID], words[t.Sandbox] = true, true
		}
		for k := range d.Subject.Boxes {
			b := &d.Subject.Boxes[k]
			was := b.Seen()
			for _, word := range [...]string{b.ID, b.Name, b.Task, b.SandboxKey, b.AltKey, was.ID, was.Name, was.Task} {
				words[word] = true
			}
		}
	}
	return words
}
