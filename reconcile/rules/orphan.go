package rules

import (
	"fmt"
	"slices"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// orphan finds an owned sandbox that no task, live or finished, explains, seen by at least
// two passes: first by a full one, then by another, or by a quick one that gets it by its id and reads
// the rows by key. What cannot be known is held and shown, never ended.
func orphan(v *view.View, s *reconcile.Subject) Result {
	if s.Task != nil || v.P.Tasks.None || len(s.Boxes) != 1 {
		return no(v, func() string {
			return "only sandboxes that no task explains are judged by this rule; " + subjectExplained(s, v)
		})
	}
	b := &s.Boxes[0]
	//guard:sighted-looked P3
	if !v.SightedAgain("orphan", s) {
		return healthyResult("only full passes find any: they rest on a whole listing")
	}
	//guard:orphan-owned P1
	if !b.Here || !b.Owned || !b.State.Exists() {
		return healthyResult("the sandbox is not here any more, or not proven ours")
	}
	if b.State == reconcile.SandboxDeleting && !v.Ending[b.Ref] {
		return Result{Suspect: "is being deleted"}
	}
	//guard:orphan-unread P3
	if s.LinkState == reconcile.LinkUnread {
		return Result{Suspect: "its task was not read"}
	}
	//guard:orphan-explained harm
	if by := v.S.Explained[b.Ref]; by != "" {
		return Result{Suspect: "a row of " + by + " explains it"}
	}
	//guard:orphan-spare harm
	if b.Spare {
		return Result{Suspect: "it is a spare of a warm pool, as the config says (owns.spares): it needs no task"}
	}
	after := After(v, "orphan", s)
	//guard:orphan-age P5
	//guard:orphan-recovered P6
	age := min(v.Born(*b), v.Observed(reconcile.SourceTasks, reconcile.ListingOf(b.Provider)))
	if age < after {
		return Result{
			Suspect: fmt.Sprintf("no task explains it, %s of %s%s", boxBegan(v, b), text.Duration(after), datedAhead(b)),
		}
	}
	//guard:orphan-unlabelled harm
	if what := unlisted(b, v.S.Lookups[b.Ref].Sandbox); what != "" && s.LinkState == reconcile.LinkUnnamed {
		return Result{Suspect: "its listing shows no link, and a direct look " + what}
	}
	only := onlyReported(v, s, b)
	evidence := []reconcile.Evidence{boxSeenAs(b), {Source: "tasks", At: v.S.T0, Fact: subjectUnexplained(s, b)}}
	if group := v.Alike[b.Provider]; group != "" {
		evidence = append(evidence, reconcile.Evidence{Source: b.Provider, At: b.AsOf, Fact: group})
	}
	return Result{
		Found: true, Sandbox: b, Sightings: v.P.Rules["orphan"].Sightings, Report: only != "",
		//guard:orphan-unknown-state harm
		Holds: append(orphanHolds(v, s, b), boxUnsure(b)...),
		Reason: reconcile.Joined(fmt.Sprintf("no task explains it: %s; %s, %s%s", subjectUnexplained(s, b), b.Raw,
			boxBegan(v, b), datedAhead(b)), only),
		Evidence: evidence,
	}
}

// unlisted is what a direct look shows of a sandbox that may explain it, and its listing does not; "" when
// nothing. A listing that loses labels loses all that is known by them.
func unlisted(listed *reconcile.SeenSandbox, looked reconcile.Sandbox) string {
	more := func(f reconcile.FurtherKey) bool { return !slices.Contains(listed.Further, f) }
	switch {
	case looked.Task != "":
		return "that it names task " + text.Clip(looked.Task, 60)
	case slices.ContainsFunc(looked.Further, more):
		return "a value by which a further table may explain it"
	case looked.Spare:
		return "that it is a spare of a warm pool"
	case looked.Excepted:
		return "that the config excepts it"
	}
	return ""
}

// onlyReported says why the orphan is not terminated by default; "" when it may be. What carries our
// labels and no link may be a gateway, a builder or a spare, and what rests keeps its user's files.
func onlyReported(v *view.View, s *reconcile.Subject, b *reconcile.SeenSandbox) string {
	switch {
	case v.S.Memory.CanaryOf(b.Sandbox) != nil:
		return "" // sandkeeper made it, and nobody works in it
	//guard:orphan-linkless harm
	case s.LinkState == reconcile.LinkUnnamed && !v.P.Providers[b.Provider].LinkRequired:
		return "reported only: it has no link at all (link: {required: true} where each must have one)"
	//guard:orphan-at-rest harm
	case v.P.IsLeft(b.Sandbox):
		return "reported only: it does not run (at_rest: terminate ends it)"
	}
	return ""
}

// boxBegan says how old a sandbox is taken to be, and by what. What its provider's clock or a gap between passes leaves
// of an age is the least that it can be.
func boxBegan(v *view.View, b *reconcile.SeenSandbox) string {
	age := v.Born(*b)
	switch stamped := b.AsOf.Sub(b.CreatedAt); {
	case !b.CreatedAt.IsZero() && !view.DatedAhead(b.Sandbox) && age == stamped:
		return "created " + text.Duration(age) + " ago"
	case b.Known && age != v.Now.Sub(b.Seen().FirstSeen):
		return "at least " + text.Duration(age) + " old"
	}
	return "first seen " + text.Duration(age) + " ago"
}

// subjectExplained says in words why the subject cannot be an orphan.
func subjectExplained(s *reconcile.Subject, v *view.View) string {
	if v.P.Tasks.None {
		return "there are no tasks here that could explain one"
	}
	return "task " + s.Task.ID + " does"
}

func subjectUnexplained(s *reconcile.Subject, b *reconcile.SeenSandbox) string {
	switch s.LinkState {
	case reconcile.LinkVanished:
		return fmt.Sprintf("task %q, known to the ledger, has no row any more", reconcile.FirstOf(b.Task, b.Seen().Task))
	case reconcile.LinkUnknown:
		return fmt.Sprintf("it names task %q, which has no row", reconcile.FirstOf(b.Task, b.Seen().Task))
	case reconcile.LinkUnparsable:
		return fmt.Sprintf("it names task %q, which is no id of the task table", b.Task)
	}
	return "it names no task and no row names it"
}

// orphanHolds is what forbids ending an orphan although it is one.
func orphanHolds(v *view.View, s *reconcile.Subject, b *reconcile.SeenSandbox) reconcile.HeldBy {
	var holds reconcile.HeldBy
	//guard:orphan-unparsable P1
	if s.LinkState == reconcile.LinkUnparsable {
		holds = append(holds, reconcile.Held{Kind: reconcile.HeldUnparsable,
			Reason: fmt.Sprintf("%q is no id of the task table, somebody else may own it", text.Clip(b.Task, 60))})
	}
	//guard:orphan-unsigned P1
	if b.Unsigned != "" {
		holds = append(holds, reconcile.Held{Kind: reconcile.HeldUnparsable,
			Reason: fmt.Sprintf("its label %q is not signed by link.key_file, somebody else may own it",
				text.Clip(b.Unsigned, 60))})
	}
	//guard:orphan-shared P1
	if s.LinkState == reconcile.LinkUnknown && !v.P.Providers[b.Provider].Exclusive {
		holds = append(holds, reconcile.HeldShared())
	}
	unsure, named := foreignName(v, s, b)
	//guard:orphan-strangers P1
	if why := v.Strangers[b.Provider]; why != "" && unsure {
		holds = append(holds, reconcile.Held{Kind: reconcile.HeldNotExclusive, Reason: why})
	}
	//guard:orphan-contradicted P1
	if ago, known := v.ActiveAgo(b.Sandbox); unsure &&
		(v.P.Providers[b.Provider].Exclusive || s.LinkState == reconcile.LinkVanished) && known && ago <= v.Limit {
		holds = append(holds, reconcile.Held{Kind: reconcile.HeldNotExclusive,
			Reason: fmt.Sprintf("it names a task that %s and was active %s ago: "+
				"another environment may share the account, whatever `exclusive` says", named, text.Duration(ago))})
	}
	//guard:orphan-pair harm
	if task := v.Pairs[b.Ref]; task != "" {
		holds = append(holds, reconcile.Held{Kind: reconcile.HeldUnmatched,
			Reason: "task " + task + " shows life and has no sandbox, this may be it"})
	}
	return holds
}

// foreignName reports whether the task that the orphan names may be one of another environment, which has the same ids,
// and what is known of it here.
func foreignName(v *view.View, s *reconcile.Subject, b *reconcile.SeenSandbox) (may bool, named string) {
	switch s.LinkState {
	case reconcile.LinkUnknown:
		return true, "nobody here ever knew"
	case reconcile.LinkVanished:
		was, known := v.S.Memory.Tasks.Get(reconcile.FirstOf(b.Task, b.Seen().Task))
		//guard:orphan-over-contradicted P1
		return known && !was.WasLive(), "was over when it was first seen, has no row any more"
	}
	return false, ""
}
