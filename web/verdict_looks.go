package web

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// overdueTerminate is when an accepted terminate that is not confirmed is worth a look.
const overdueTerminate = 2 * time.Minute

func noSchema(s *scene) (verdict, bool) {
	return verdict{
		Level: bad, Word: "Not set up",
		Sentence: "The ledger has no schema yet: nothing is being kept in agreement.",
		Next:     "Create it with:", Command: "sandkeeper migrate",
	}, s.Fresh
}

func neverRan(s *scene) (verdict, bool) {
	v := verdict{
		Level: bad, Word: "Never ran",
		Sentence: "No pass was ever complete: nothing is being kept in agreement.",
		Next:     "See whether “sandkeeper run”, or “sandkeeper once” by a CronJob, is started, and what its log says.",
	}
	if len(s.Passes) == 0 {
		return v, s.fresh.Never
	}
	newest := s.Passes[0]
	age := s.Now.Sub(newest.BeganAt)
	switch {
	case newest.Error != "":
		v.Sentence = "No pass was ever complete. The last one: " + sentence(line(newest.Error, mostHead))
	case newest.EndedAt.IsZero() && age < overdue(0):
		v.Level, v.Word, v.Next = busy, "Starting", ""
		v.Sentence = fmt.Sprintf("The first pass began %s ago.", long(age))
	}
	return v, s.fresh.Never
}

func stale(s *scene) (verdict, bool) {
	v := verdict{
		Level: bad, Word: "Not running",
		Sentence: fmt.Sprintf("No complete pass for %s: nothing is being kept in agreement.", long(s.fresh.Age)),
		Next:     "See whether “sandkeeper run”, or the CronJob of “sandkeeper once”, still runs, and what its log says.",
	}
	if s.fresh.Full {
		v.Word = "Full passes missing"
		v.Sentence = fmt.Sprintf(
			"No complete full pass for %s: what only a listing shows, like orphans, is not found.", long(s.fresh.Age))
		v.Next = "The passes below say why the last full one is not complete."
	}
	return v, !s.fresh.ok()
}

func incomplete(s *scene) (verdict, bool) {
	p, ok := lastIncomplete(s.Passes)
	why := line(p.Error, mostHead)
	if why == "" {
		why = "it does not say why"
	}
	return verdict{
		Level: bad, Word: "Not complete",
		Sentence: fmt.Sprintf("The last %s pass was not complete: %s", p.Kind, sentence(why)),
	}, ok
}

// lastIncomplete is the newest pass of a kind, when it ended without being complete. A full
// pass is a quick one too.
func lastIncomplete(newest []reconcile.PassSeen) (reconcile.PassSeen, bool) {
	quickDone := false
	for _, p := range newest {
		switch {
		case p.EndedAt.IsZero(), p.Kind == reconcile.Quick && quickDone:
			continue
		case !p.Complete:
			return p, true
		case p.Kind == reconcile.Full:
			return reconcile.PassSeen{}, false
		}
		quickDone = true
	}
	return reconcile.PassSeen{}, false
}

func frozen(s *scene) (verdict, bool) {
	out := untrusted(s.Sources)
	if len(out) == 0 {
		return verdict{}, false
	}
	v := verdict{
		Level: warn, Word: "Frozen",
		Sentence: fmt.Sprintf("%s is not trusted: %s", capital(sourceWords(out[0].Name)),
			sentence(line(out[0].Reason, mostHead))),
		Next: "What rests on it is held until it is whole again.",
	}
	if len(out) > 1 {
		v.Sentence += fmt.Sprintf(" %s besides %s not trusted.", capital(count(len(out)-1, "source")),
			verb(len(out)-1, "is", "are"))
		v.Next = "What rests on them is held until they are whole again."
	}
	return v, true
}

// untrusted are the sources that hold something. A clock that is not trusted is replaced
// by the ledger's own.
func untrusted(sources []reconcile.SourceSeen) []reconcile.SourceSeen {
	return slices.DeleteFunc(slices.Clone(sources), func(s reconcile.SourceSeen) bool {
		return s.Trusted || strings.HasPrefix(s.Name, "clock:")
	})
}

func tripped(s *scene) (verdict, bool) {
	rules := slices.Sorted(maps.Keys(s.Controls.Breakers))
	if len(rules) == 0 {
		return verdict{}, false
	}
	b := s.Controls.Breakers[rules[0]]
	v := verdict{
		Level: warn, Word: "Breaker open",
		Sentence: fmt.Sprintf("%s would act on %s at once, which is too many: a person has to release them.",
			capital(line(b.Rule, mostName)), count(len(b.Subjects), "subject")),
		Next: "Look at what is held below; if it is right, release it with:", Command: releaseCommand(b),
	}
	if len(rules) > 1 {
		v.Sentence += fmt.Sprintf(" %s more.", capital(count(len(rules)-1, "breaker")))
	}
	return v, true
}

func releaseCommand(b reconcile.Breaker) string {
	return command("sandkeeper release %s --hash %s", b.Rule, b.Hash)
}

func waiting(s *scene) (verdict, bool) {
	n, looking := 0, 0
	for i := range s.Findings {
		f := &s.Findings[i]
		if !f.Due || len(f.HeldBy) == 0 {
			continue
		}
		n++
		if f.HeldBy[0] == string(reconcile.Observe) && len(f.HeldBy) == 1 {
			looking++
		}
	}
	number := count(n, "finding")
	if len(s.Findings) < total(s.FindingsOpen) {
		number = "at least " + number // of those that were read
	}
	if looking == n {
		return verdict{
			Level: warn, Word: "Observing",
			Sentence: fmt.Sprintf("%s would be repaired, but the rules only observe.", capital(number)),
			Next:     "Read them; a rule that is right is armed with “mode: enforce” in the config.",
		}, n > 0
	}
	return verdict{
		Level: warn, Word: "Held",
		Sentence: fmt.Sprintf("%s %s due and held.", capital(number), verb(n, "is", "are")),
		Next:     "What is held, and by what, is below.",
	}, n > 0
}

// personal are the findings that nothing here repairs.
func personal(s *scene) (verdict, bool) {
	n, first := 0, ""
	for i := range s.Findings {
		if s.stateOf(&s.Findings[i]) == reported {
			if n++; n == 1 {
				first = line(s.Findings[i].Reason, mostHead)
			}
		}
	}
	v := verdict{Level: warn, Word: "Needs a person", Sentence: sentence(capital(first))}
	if n > 1 {
		v.Sentence += fmt.Sprintf(" And %s that only a person can settle.", moreFindings(n-1))
	}
	return v, n > 0
}

func moreFindings(n int) string {
	return fmt.Sprintf("%d more %s", n, verb(n, "finding", "findings"))
}

// unconfirmed are terminates that the provider accepted long ago and that nobody has seen done.
func unconfirmed(s *scene) (verdict, bool) {
	n := 0
	var first time.Time
	for i := range s.Open {
		a := &s.Open[i]
		if a.Outcome != reconcile.OutcomeAccepted || s.Now.Sub(a.ActedAt) < overdueTerminate {
			continue
		}
		if n++; first.IsZero() || a.ActedAt.Before(first) {
			first = a.ActedAt
		}
	}
	return verdict{
		Level: warn, Word: "Not confirmed",
		Sentence: fmt.Sprintf("%s %s still there; the provider accepted to end %s %s ago.",
			capital(count(n, "sandbox")), verb(n, "is", "are"), verb(n, "it", "the first"), long(s.Now.Sub(first))),
		Next: "Terminating goes on by itself; ask the provider when it lasts.",
	}, n > 0
}

func repairing(s *scene) (verdict, bool) {
	n := max(s.OpenTotal, len(s.Open))
	return verdict{
		Level: busy, Word: "Repairing",
		Sentence: fmt.Sprintf("%s %s under way.", capital(count(n, "repair step")), verb(n, "is", "are")),
	}, n > 0
}

// watching are suspicions that are not past their thresholds.
func watching(s *scene) (verdict, bool) {
	n := total(s.FindingsOpen)
	return verdict{
		Level: well, Word: "Watching",
		Sentence: fmt.Sprintf("Nothing is due. %s %s being watched. %s", capital(count(n, "suspicion")),
			verb(n, "is", "are"), lastFullPass(s.Overview)),
	}, n > 0
}
