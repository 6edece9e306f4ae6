package rules

import (
	"fmt"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// sandboxMissing finds a live task whose sandbox the ledger has seen, or whose row names one, and
// whose sandbox is gone or terminal. Paused, archived and suspended are neither. A sign of life
// inside the heartbeat limit vetoes it. A task that nobody has ever seen with a sandbox may need none:
// subflows, runs that are started by hand, agents within the platform itself.
func sandboxMissing(v *view.View, s *reconcile.Subject) Result {
	t := s.Task
	if t == nil || s.LinkState != reconcile.LinkLive || t.State == reconcile.TaskPending || !t.State.Live() {
		return apart(v, s, "assigned and running tasks are")
	}
	started := v.Started(s)
	had := s.HasBox(func(b *reconcile.SeenSandbox) bool {
		return b.Here && !b.Known || b.Known && !v.Past(s, b) && (started || atItsTime(v, s, b))
	})
	//guard:missing-never-had harm
	if !had && !namesOne(v, s) {
		return neverHad(v, s.Task)
	}
	if s.HasBox(func(b *reconcile.SeenSandbox) bool {
		return b.Here && !b.Lost() && b.State != reconcile.SandboxDeleting && !v.Strange(s, b)
	}) {
		return no(v, func() string { return v.State(s) })
	}
	if s.HasBox(func(b *reconcile.SeenSandbox) bool { return b.Here && b.State == reconcile.SandboxDeleting }) {
		return Result{NeedsLookup: v.CanLook(t), Suspect: v.State(s)} // a list may show for long what is gone
	}
	grace := After(v, "sandbox-missing", s)
	//guard:missing-alive P14
	if age, alive := v.Alive(t); alive {
		successor := v.Successors != nil && v.CanLook(t)
		kept := fmt.Sprintf("no sandbox was found, but its worker was last seen %s ago", text.Duration(age))
		// In time for that look to be the first of two when the limit is over.
		usual := reconcile.RuleNamed("sandbox-missing").Default.After
		soon := age > v.Limit-usual && v.CanLook(t) && Unseen(v, s)
		//guard:missing-heir harm
		return Result{NeedsLookup: successor || soon, Suspect: kept}
	}
	//guard:missing-grace P3
	if age, by := v.StateAge(s); age-max(t.AsOf.Sub(v.S.T0), 0) < grace {
		return Result{Suspect: fmt.Sprintf("no sandbox yet, %s for %s by %s", t.Status, text.Duration(age), by)}
	}
	//guard:missing-named-too harm
	if other := startsBeside(v, s); other != nil {
		return Result{Suspect: fmt.Sprintf("its row names %s, as that of task %s does: nothing tells yet whether its own "+
			"ever came", text.Clip(t.Sandbox, 60), text.Clip(other.ID, 60))}
	}
	where, ok := v.Locate(s)
	//guard:missing-looked harm
	if !ok {
		return Result{NeedsLookup: v.CanLook(t), Suspect: where}
	}
	// What was missed until now does not count: a later one of its name may have been at work all the while.
	//guard:missing-goes-on harm
	if s.HasBox(func(b *reconcile.SeenSandbox) bool { return b.Known && v.MayGoOn(s, b) }) {
		return Result{Suspect: "sandbox is gone: " + where +
			"; a later one of its name may go on, which the next listing tells"}
	}
	cause, because := "", []reconcile.Evidence(nil)
	if !v.Started(s) { // an unusable template explains a start that failed, not a sandbox that ran
		cause, because = v.Cause(s)
	}
	told, record := v.DeathWords(s)
	//guard:missing-record-goes-on P5
	settled := !s.HasBox(v.Renewed) && (onRecord(v, s, grace) || inNeither(v, s, grace) || lookedTwice(v, s, grace))
	return Result{
		Found: true, Due: settled, Holds: missingHolds(v, s, had), NeedsLookup: v.Unrecorded(s),
		Sightings: max(v.P.Rules["sandbox-missing"].Looks, 1), Since: lostFor(v, s),
		//guard:missing-was-there P5
		Anew:   wasThere(v, s),
		Reason: reconcile.Joined(missed(v, s)+where, told, reconcile.LifeLine(t), cause),
		Evidence: slices.Concat([]reconcile.Evidence{
			{Source: "providers", At: v.Now, Fact: where},
			{Source: "tasks", At: t.AsOf, Fact: "status " + t.Status + ", " + reconcile.LifeLine(t)},
		}, record, because),
	}
}

// missingHolds are what speaks against it that the sandbox is gone, or that it was the task's; had is whether one of
// this attempt is known.
func missingHolds(v *view.View, s *reconcile.Subject, had bool) (holds reconcile.HeldBy) {
	t := s.Task
	// One that is known to be gone may be of an earlier attempt, unless the row names it by its id: a name comes again,
	// and where no listing shows it on its way out, as right before the act, nobody knows what a row would call it by.
	named := s.HasBox(func(b *reconcile.SeenSandbox) bool {
		//guard:missing-named live
		byID := v.P.Providers[b.Provider].SandboxIsID
		return byID && b.Known && v.Vouched(s, b)
	})
	//guard:missing-clock harm
	if !named {
		holds = v.HidesWhatIsNew(s)
	}
	//guard:missing-pipeline harm
	if !named {
		holds = append(holds, allSilent(v, t)...)
	}
	holds = append(holds, strangers(v, s)...)
	//guard:missing-goes-on-unnamed harm
	if v.MayHaveLater(s) || s.HasBox(func(b *reconcile.SeenSandbox) bool { return !b.Known && v.MayGoOn(s, b) }) {
		holds = append(holds, reconcile.Held{Kind: reconcile.HeldUnlooked,
			Reason: "sandbox ended before any pass saw its name, by which a later one may go on with the work"})
	}
	//guard:missing-former-goes-on harm
	if !had && v.FormerGoesOn(s) {
		holds = append(holds, reconcile.Held{Kind: reconcile.HeldUnlooked,
			Reason: "sandbox that its row names was another task's before, and a later one of its name may go on with the work"})
	}
	//guard:missing-searched P3
	if !had && onlySearched(v, t) {
		holds = append(holds, reconcile.Held{Kind: reconcile.HeldUnlooked,
			Reason: "sandbox was only searched for: the next listing tells whether it is there"})
	}
	//guard:missing-unshown harm
	if !had && unshown(v, s) {
		holds = append(holds, reconcile.Held{Kind: reconcile.HeldUnlooked,
			Reason: "sandbox was not listed while its worker was heard, as none is that lost its labels, and is only " +
				"searched for"})
	}
	return holds
}

// startsBeside is another task whose row names what this one's does, which was handed out so lately that its own
// sandbox may still come; nil where there is none.
func startsBeside(v *view.View, s *reconcile.Subject) *reconcile.Task {
	age, _ := v.StateAge(s)
	if s.Task.State != reconcile.TaskAssigned || age >= After(v, "assigned-stale", s) {
		return nil
	}
	return v.NamingToo(s.Task)
}

// neverHad is what is said of a task of which nobody knows that it ever had a sandbox. Where only rows prove whose one
// is, what passes saw of it is not remembered while its provider's clock is not believed.
func neverHad(v *view.View, t *reconcile.Task) Result {
	for _, provider := range v.P.Candidates(t) {
		clock := reconcile.ProviderClockOf(provider)
		if t.Sandbox != "" && v.P.Providers[provider].Referenced && !v.Trusted(clock) {
			return Result{Suspect: "no sandbox of it is on record, nor would one be that there was: " + clock +
				" is not trusted, so that no row proves one to be its own"}
		}
	}
	return healthyResult("no sandbox of it was ever seen, and its row names none that was: it may need none")
}

// onlySearched reports whether nothing but a search by link says that what the row names is not there: this pass lists
// nothing, and it is no id that could be got. A search may leave out what is there, as a listing may; both seldom do.
func onlySearched(v *view.View, t *reconcile.Task) bool {
	return v.S.Kind != reconcile.Full && !slices.ContainsFunc(v.P.Candidates(t), func(provider string) bool {
		return v.S.Lookups[reconcile.Ref{Provider: provider, ID: t.Sandbox}].Gone
	})
}

// searchedLeast is for how long nothing but searches by name may say that a sandbox is gone that no listing ever
// showed. Whatever makes them leave out what is there is over by then, or seen.
const searchedLeast = time.Hour

// unshown reports whether listings that were believed left out the sandbox of the task while its worker was at work in
// it, so that only a search by its name can tell of it: it may have lost its labels. A get by its id tells as well.
func unshown(v *view.View, s *reconcile.Subject) bool {
	t := s.Task
	if found := openMissing(v, s).FirstSeen; !found.IsZero() && v.Since(found) >= searchedLeast {
		return false
	}
	return !slices.ContainsFunc(v.P.Candidates(t), func(provider string) bool {
		return v.S.Lookups[reconcile.Ref{Provider: provider, ID: t.Sandbox}].Gone || !listedAtWork(v, s, provider)
	})
}

// listedAtWork reports whether a provider was listed, and believed, between the ledger's first sight of the task's
// present state and its worker's newest sign of life. A listing is known to have been made when trust in them began,
// and then in each full pass.
func listedAtWork(v *view.View, s *reconcile.Subject, provider string) bool {
	source, known := v.S.Memory.Sources[reconcile.ListingOf(provider)]
	heard := s.Known && s.Seen().Status == s.Task.Status && !s.Task.LastSeen().IsZero()
	//guard:missing-unshown-label harm
	if p := v.P.Providers[provider]; !known || !source.Trusted || !heard || p.Referenced && p.LinkSandbox {
		return false // what rows name, and prove to be ours, shows without labels, and may not be remembered
	}
	began := v.Since(s.Seen().Since)
	shown := began - max(v.P.Providers[provider].IndexLag, view.ShownWithin) // from then on listings had to show it
	quiet, listed := s.Task.AsOf.Sub(s.Task.LastSeen()), v.Since(source.Since)
	if listed < shown {
		return listed > quiet
	}
	return shown-quiet > 2*v.P.Full
}

// latest is how late a pipeline of events may be and still be waited for.
const latest = 10 * time.Minute

// allSilent holds what only a search did not find, as it would not where a label was lost, while nobody else is heard
// either: the worker's sign of life, which speaks against it, may be on its way. Where nobody is heard for longer,
// nobody is there to speak.
func allSilent(v *view.View, t *reconcile.Task) reconcile.HeldBy {
	quiet := t.AsOf.Sub(v.Newest)
	if t.LastSeen().IsZero() || silentFor(v, t) > v.Limit || quiet > latest {
		return nil
	}
	held := reconcile.HeldFrozen(reconcile.SourceEvents)
	held.Reason = fmt.Sprintf("no worker was heard for %s", text.Duration(quiet))
	return reconcile.HeldBy{held}
}

// missed says what is missed: a sandbox that is there and lost its labels is not gone.
func missed(v *view.View, s *reconcile.Subject) string {
	if len(strangers(v, s)) > 0 {
		return "no sandbox is linked with it: "
	}
	return "sandbox is gone: "
}

// strangers hold what is missed while a sandbox is there that the ledger alone remembers as the task's: it may have
// lost its labels, or have been shown once with another's. Who knows which is a person.
func strangers(v *view.View, s *reconcile.Subject) (holds reconcile.HeldBy) {
	for i := range s.Boxes {
		//guard:missing-strange harm
		if b := &s.Boxes[i]; v.Strange(s, b) {
			holds = append(holds, reconcile.Held{Kind: reconcile.HeldDoubtful, What: reconcile.OnlyRemembered,
				Reason: reconcile.DoubtfulOf(text.Clip(b.ID, 60))})
		}
	}
	return holds
}

// onRecord reports whether the provider has the end of each sandbox of the task on record, so that no second look is
// needed. Who makes the threshold longer gives the platform time to bring a sandbox back by itself: it counts from the
// newest of these ends then. So it does where a sandbox comes back under its name: the record is of one run.
func onRecord(v *view.View, s *reconcile.Subject, after time.Duration) bool {
	ends := v.DiedAll(s)
	longer := after > reconcile.RuleNamed("sandbox-missing").Default.After
	return len(ends) > 0 && !v.MayComeBack(s, after) && !slices.ContainsFunc(ends, func(d *reconcile.Death) bool {
		//guard:missing-record-after P3
		return longer && d.Ago() < after
	})
}

// lookedTwice reports whether an earlier look, for as long as the threshold ago, showed that each sandbox of the task
// was gone or over already, so that this one is the second. The first may be of the time in which the worker's last
// sign still counted: what matters is that nothing was heard of it since.
func lookedTwice(v *view.View, s *reconcile.Subject, after time.Duration) bool {
	some := false
	for i := range s.Boxes {
		b := &s.Boxes[i]
		if v.Past(s, b) {
			continue
		}
		var first time.Time
		switch {
		case b.Gone && !b.Here:
			first = b.Seen().GoneAt
		case b.Here && b.Lost() && b.Seen().State == b.State:
			first = b.Seen().StateSince
		}
		//guard:twice-looked P3
		if !b.Known || first.IsZero() || v.Since(first) < after {
			return false
		}
		//guard:twice-heard harm
		if !v.SinceSilent(s, first) {
			return false
		}
		//guard:twice-fresh P6
		if first.Before(v.FreshSightings(reconcile.SourceTasks, reconcile.SourceLink, reconcile.ListingOf(b.Provider))) {
			return false
		}
		some = true
	}
	return some && PolicyOf(v, "sandbox-missing").Looks <= reconcile.RuleNamed("sandbox-missing").Default.Looks
}

// inNeither reports whether this pass looked for each sandbox of the task in two ways that are not wrong together: a
// whole listing, believed, does not show it, and a get of another store says that it is gone. A second pass would
// only ask the same again. What the listing's index is too young to know does not count, nor do those that the config
// gives more time or more looks.
func inNeither(v *view.View, s *reconcile.Subject, after time.Duration) bool {
	rule, usual := PolicyOf(v, "sandbox-missing"), reconcile.RuleNamed("sandbox-missing").Default
	//guard:stores-after P3
	if after > usual.After || rule.Looks > usual.Looks || v.S.Kind != reconcile.Full {
		return false
	}
	some := false
	for i := range s.Boxes {
		b := &s.Boxes[i]
		if v.Past(s, b) {
			continue
		}
		some = true
		p := v.P.Providers[b.Provider]
		//guard:stores-two P3
		if !p.TwoStores {
			return false
		}
		believed := v.Listed(b.Provider) && v.Trusted(reconcile.ListingOf(b.Provider))
		//guard:stores-both P3
		if !b.Gone || b.Here || !b.Known || !believed || v.Since(b.Seen().FirstSeen) < p.IndexLag {
			return false
		}
	}
	return some
}

// namesOne reports whether the row names a sandbox that there was: by an id, which only its provider
// gives out, or one that its worker spoke from. A name may be made up beforehand, and attempts,
// restores and warm starts go by others.
func namesOne(v *view.View, s *reconcile.Subject) bool {
	t := s.Task
	if t.Sandbox == "" || !v.Started(s) {
		return false
	}
	byID := slices.ContainsFunc(v.P.Candidates(t), func(name string) bool { return v.P.Providers[name].SandboxIsID })
	return byID || !view.TaskTold(t).LastSeen().IsZero()
}

// lostFor is for how long the ledger has known that a sandbox of the subject is gone or over,
// else for how long it has been missed.
func lostFor(v *view.View, s *reconcile.Subject) time.Duration {
	var longest time.Duration
	for i := range s.Boxes {
		b := &s.Boxes[i]
		switch {
		case !b.Known || v.Past(s, b):
		case !b.Seen().GoneAt.IsZero():
			longest = max(longest, v.Since(b.Seen().GoneAt))
		case b.Lost() && b.Here && b.Seen().State == b.State:
			longest = max(longest, v.Since(b.Seen().StateSince))
		}
	}
	if wasThere(v, s) {
		return longest
	}
	return max(longest, v.Since(openMissing(v, s).FirstSeen))
}

// openMissing is what is on record of the rule's finding.
func openMissing(v *view.View, s *reconcile.Subject) reconcile.Finding {
	return v.S.Memory.Findings[reconcile.FindingKey{Rule: "sandbox-missing", Subject: s.ID}]
}

// wasThere reports whether the last look still found a sandbox that only the ledger remembers as the task's: it was
// missed by its label, and not gone.
func wasThere(v *view.View, s *reconcile.Subject) bool {
	return openMissing(v, s).HeldBy.Doubtful(reconcile.OnlyRemembered) && len(strangers(v, s)) == 0
}

// atItsTime reports whether the sandbox is that of an attempt that has not begun yet: the row names it. One
// that a label alone gives to the task may be of the attempt before, or anybody's: that none has begun is for
// assigned-stale then. Where links are no labels, a word of the platform is behind each of them, but for what only
// goes on with a name: names come again, and another task may have that one by now.
func atItsTime(v *view.View, s *reconcile.Subject, b *reconcile.SeenSandbox) bool {
	p := v.P.Providers[b.Provider]
	//guard:missing-guessed harm
	if p.NamesLast && p.SandboxIsID && !v.Vouched(s, b) {
		return false
	}
	//guard:missing-earlier harm
	return v.Vouched(s, b) || !p.LinkTask && (!s.Known || !v.Earlier(s, b))
}
