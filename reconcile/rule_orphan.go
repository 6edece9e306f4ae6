package reconcile

import (
	"fmt"

	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// orphan finds an owned sandbox that no task, live or finished, explains, seen by at least
// two full passes. What cannot be known is held and shown, never ended.
func orphan(v *view, s *Subject) answer {
	if s.Task != nil || v.p.Tasks.None || len(s.Boxes) != 1 {
		return v.no(func() string {
			return "only sandboxes that no task explains are judged by this rule; " + s.explained(v)
		})
	}
	b := &s.Boxes[0]
	//guard:orphan-owned P1
	if !b.Here || !b.Owned || !b.State.Exists() {
		return fine("the sandbox is not here any more, or not proven ours")
	}
	if b.State == SandboxDeleting && !v.ending[b.Ref] {
		return answer{kept: "is being deleted"}
	}
	//guard:orphan-unread P3
	if s.Fate == FateUnread {
		return answer{kept: "its task was not read"}
	}
	//guard:orphan-explained harm
	if by := v.s.Explained[b.Ref]; by != "" {
		return answer{kept: "a row of " + by + " explains it"}
	}
	after := v.threshold("orphan", s)
	//guard:orphan-age P5
	//guard:orphan-recovered P6
	age := min(v.born(*b), v.observed(sourceTasks, listingOf(b.Provider)))
	if age < after {
		return answer{
			kept: fmt.Sprintf("no task explains it, created %s ago of %s", text.Duration(v.born(*b)), text.Duration(after)),
		}
	}
	only := v.onlyReported(s, b)
	return answer{
		found: true, sandbox: b, sightings: v.p.Rules["orphan"].Sightings, report: only != "",
		//guard:orphan-unknown-state harm
		holds: append(v.orphanHolds(s, b), b.unsure()...),
		reason: joined(fmt.Sprintf("no task explains it: %s; %s, %s %s ago", s.unexplained(b), b.Raw, b.began(),
			text.Duration(v.born(*b))), only),
		evidence: []Evidence{
			b.seenAs(),
			{Source: "tasks", At: v.s.T0, Fact: s.unexplained(b)},
		},
	}
}

// onlyReported says why the orphan is not terminated by default; "" when it may be. What carries our
// labels and no link may be a gateway, a builder or a spare, and what rests keeps its user's files.
func (v *view) onlyReported(s *Subject, b *Box) string {
	switch {
	//guard:orphan-linkless harm
	case s.Fate == FateUnnamed && !v.p.Providers[b.Provider].LinkRequired:
		return "reported only: it has no link at all (link: {required: true} where each must have one)"
	//guard:orphan-at-rest harm
	case v.isLeft(b):
		return "reported only: it does not run (at_rest: terminate ends it)"
	}
	return ""
}

// began says what the age of a sandbox is counted from.
func (b *Box) began() string {
	if b.CreatedAt.IsZero() {
		return "first seen"
	}
	return "created"
}

// explained says in words why the subject cannot be an orphan.
func (s *Subject) explained(v *view) string {
	if v.p.Tasks.None {
		return "there are no tasks here that could explain one"
	}
	return "task " + s.Task.ID + " does"
}

func (s *Subject) unexplained(b *Box) string {
	switch s.Fate {
	case FateVanished:
		return fmt.Sprintf("task %q, known to the ledger, has no row any more", firstOf(b.Task, b.Seen.Task))
	case FateUnknown:
		return fmt.Sprintf("it names task %q, which has no row", firstOf(b.Task, b.Seen.Task))
	case FateUnparsable:
		return fmt.Sprintf("it names task %q, which is no id of the task table", b.Task)
	}
	return "it names no task and no row names it"
}

// orphanHolds is what forbids ending an orphan although it is one.
func (v *view) orphanHolds(s *Subject, b *Box) []string {
	var holds []string
	//guard:orphan-unparsable P1
	if s.Fate == FateUnparsable {
		holds = append(
			holds,
			fmt.Sprintf("unparsable: %q is no id of the task table, somebody else may own it", text.Clip(b.Task, 60)),
		)
	}
	//guard:orphan-shared P1
	if s.Fate == FateUnknown && !v.p.Providers[b.Provider].Exclusive {
		holds = append(holds, sharedWords)
	}
	//guard:orphan-contradicted P1
	if ago := b.AsOf.Sub(b.LastActivityAt); s.Fate == FateUnknown && v.p.Providers[b.Provider].Exclusive &&
		!b.LastActivityAt.IsZero() && ago <= v.limit {
		holds = append(holds, fmt.Sprintf("not-exclusive: it names a task that nobody here ever knew and was active %s ago: "+
			"another environment may share the account, whatever `exclusive` says", text.Duration(ago)))
	}
	//guard:orphan-pair harm
	if task := v.pairs[b.Ref]; task != "" {
		holds = append(holds, "unmatched pair: task "+task+" shows life and has no sandbox, this may be it")
	}
	return holds
}
