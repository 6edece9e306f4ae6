package reconcile

import "fmt"

// orphan finds an owned sandbox that no task, live or finished, explains, seen by at least
// two full passes. What cannot be known is held and shown, never ended.
func orphan(v *view, s *Subject) answer {
	if s.Task != nil || v.p.Tasks.None || len(s.Boxes) != 1 {
		return v.no(func() string {
			return "only sandboxes that no task explains are judged by this rule; " + s.explained(v)
		})
	}
	b := &s.Boxes[0]
	//guard:orphan-owned P1 `-!b.Owned` a foreign sandbox would be called an orphan
	if !b.Here || !b.Owned || !b.State.Exists() {
		return fine("the sandbox is not here any more, or not proven ours")
	}
	if b.State == SandboxDeleting && !v.ending[b.Ref] {
		return answer{kept: "is being deleted"}
	}
	//guard:orphan-unread P3 a sandbox whose task was not read would be ended
	if s.Fate == FateUnread {
		return answer{kept: "its task was not read"}
	}
	after := v.threshold("orphan", s)
	//guard:orphan-age P5 `v.born(*b) => forever` a sandbox would be ended between its creation and its row
	//guard:orphan-recovered P6 `v.observed(sourceTasks, listingOf(b.Provider)) => forever` an outage would count
	age := min(v.born(*b), v.observed(sourceTasks, listingOf(b.Provider)))
	if age < after {
		return answer{
			kept: fmt.Sprintf("no task explains it, created %s ago of %s", short(v.born(*b)), short(after)),
		}
	}
	return answer{
		found: true, sandbox: b, sightings: v.p.Rules["orphan"].Sightings,
		//guard:orphan-unknown-state harm `b.unsure() => nil` a sandbox of no known state would be ended
		holds:  append(v.orphanHolds(s, b), b.unsure()...),
		reason: fmt.Sprintf("no task explains it: %s; %s, %s %s ago", s.unexplained(b), b.Raw, b.began(), short(v.born(*b))),
		evidence: []Evidence{
			b.seenAs(),
			{Source: "tasks", At: v.s.T0, Fact: s.unexplained(b)},
		},
	}
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
	//guard:orphan-unparsable P1 a sandbox that names what is no id here would be ended
	if s.Fate == FateUnparsable {
		holds = append(
			holds,
			fmt.Sprintf("unparsable: %q is no id of the task table, somebody else may own it", clip(b.Task, 60)),
		)
	}
	//guard:orphan-shared P1 a twin installation's sandboxes would be ended
	if s.Fate == FateUnknown && !v.p.Providers[b.Provider].Exclusive {
		holds = append(holds, sharedWords)
	}
	//guard:orphan-pair harm the sandbox of a task that lives would be ended because its link was lost
	if task := v.pairs[b.Ref]; task != "" {
		holds = append(holds, "unmatched pair: task "+task+" shows life and has no sandbox, this may be it")
	}
	return holds
}
