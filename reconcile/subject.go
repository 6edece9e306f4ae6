package reconcile

import (
	"cmp"
	"slices"
)

// subjects groups tasks and sandboxes by their links. Each task and each sandbox is in
// exactly one subject. The order is by subject id, so that a pass is the same twice.
func (v *view) subjects() []Subject {
	boxes, loose := v.link()
	others := v.looseSubjects(loose)
	out := make([]Subject, 0, len(v.s.Tasks)+len(others))
	for _, i := range v.byID() {
		t := &v.s.Tasks[i]
		out = append(out, v.subjectOf(t, &v.seen[i], boxes[t.ID]))
	}
	if len(others) == 0 {
		return out
	}
	out = append(out, others...)
	slices.SortFunc(out, func(a, b Subject) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// byID are the places of the live tasks in the order of their ids. Places are sorted and
// not subjects, which are large.
func (v *view) byID() []int {
	order := indices(len(v.s.Tasks))
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(v.s.Tasks[a].ID, v.s.Tasks[b].ID) })
	return order
}

func (v *view) taskSubject(t *Task, boxes []Box) Subject {
	var seen seenTask
	seen.TaskSeen, seen.known = v.s.Memory.Tasks[t.ID]
	return v.subjectOf(t, &seen, boxes)
}

func (v *view) subjectOf(t *Task, before *seenTask, boxes []Box) Subject {
	v.markActivity(t, before)
	seen := before.TaskSeen
	if before.known && (seen.moved(t) || v.perhapsEnded(&seen, t)) {
		seen = v.entered(seen, t)
	}
	return Subject{ID: "task:" + t.ID, Task: t, Seen: seen, Known: before.known, Boxes: boxes}
}

// link gives each sandbox to the live task that it belongs to; loose ones have none. The
// boxes stand side by side in one block of memory: nearly every task has exactly one.
func (v *view) link() (byTask map[string][]Box, loose []Box) {
	byTask = make(map[string][]Box, len(v.s.Tasks))
	bySandbox := v.rowsBySandbox()
	block := make([]Box, len(v.s.Sandboxes))
	several := map[string]bool{}
	for i := range v.s.Sandboxes {
		b := block[i : i+1 : i+1]
		v.fill(&b[0], &v.s.Sandboxes[i])
		//guard:gone-listed live
		if b[0].State == SandboxDeleting && v.s.Looks[b[0].Ref].Gone {
			b[0].Here, b[0].Gone = false, true
		}
		id := v.taskOf(&b[0], bySandbox)
		switch {
		case id == "" || v.live[id] == nil:
			loose = append(loose, b[0])
		case byTask[id] == nil:
			byTask[id] = b
		default:
			byTask[id] = append(byTask[id], b[0])
			several[id] = true
		}
	}
	v.remembered(byTask, several)
	for id := range several {
		slices.SortFunc(byTask[id], func(a, b Box) int { return compareRefs(a.Ref, b.Ref) })
	}
	return byTask, loose
}

// rowsBySandbox is the live set by its sandbox column, when a link goes that way.
func (v *view) rowsBySandbox() map[Ref]*Task {
	if !v.p.Tasks.SandboxKnown {
		return nil
	}
	rows := make(map[Ref]*Task, len(v.s.Tasks))
	for i := range v.s.Tasks {
		t := &v.s.Tasks[i]
		if t.Sandbox != "" {
			rows[v.p.named(t)] = t // of two that hold one name the last, in every pass
		}
	}
	return rows
}

// user is the live task whose row names the sandbox.
func (v *view) user(b *Box, rows map[Ref]*Task) string {
	if len(rows) == 0 {
		return ""
	}
	for _, key := range [...]string{b.SandboxKey, b.AlsoKey} {
		if key == "" {
			continue
		}
		t := rows[Ref{b.Provider, key}]
		if t == nil {
			t = rows[Ref{"", key}]
		}
		for _, twin := range v.twins[b.Provider] {
			if other := rows[Ref{twin, key}]; t == nil && other != nil && v.mayBeMeant(other, &b.Sandbox) {
				t = other
			}
		}
		if t != nil {
			return t.ID
		}
	}
	return ""
}

// remembered adds to each live task the sandboxes that the ledger knows it had and that
// were not seen now, with what a direct look said of them.
func (v *view) remembered(byTask map[string][]Box, several map[string]bool) {
	if v.s.whole {
		return
	}
	for ref, seen := range v.s.Memory.Sandboxes {
		if seen.Task == "" || v.live[seen.Task] == nil || v.s.lists(ref) {
			continue
		}
		b := Box{Sandbox: Sandbox{Ref: ref, Name: seen.Name, Template: seen.Template}, Seen: seen, Known: true}
		look, looked := v.s.Looks[ref]
		switch {
		case looked && look.Gone:
			b.Gone = true
		//guard:gone-reused live
		case looked && look.Error == "" && seen.another(&look.Sandbox):
			b.Gone = true
		case looked && look.Error == "":
			b = v.box(&look.Sandbox)
		//guard:gone-proven P3
		case !seen.GoneAt.IsZero() && seen.State != SandboxUnknown && v.confirmedGone(seen):
			b.Gone = true
		}
		byTask[seen.Task] = append(byTask[seen.Task], b)
		several[seen.Task] = true
	}
}

// confirmedGone reports whether the ledger has proof, not only an absence from a listing,
// that the sandbox is gone: our own terminate, confirmed, or a tombstone.
func (v *view) confirmedGone(seen SandboxSeen) bool {
	return seen.GoneByUs || seen.State == SandboxEnded
}

func (v *view) box(s *Sandbox) Box {
	var b Box
	v.fill(&b, s)
	return b
}

// another reports whether the id is another sandbox's by now: one that its provider made later.
// Providers promise that ids are never used twice; what was known of the former is not true of it.
func (s *SandboxSeen) another(now *Sandbox) bool {
	return !s.CreatedAt.IsZero() && now.CreatedAt.Sub(s.CreatedAt) > skew
}

// fill makes a box in its place: it is too large to be handed around.
func (v *view) fill(b *Box, s *Sandbox) {
	b.Sandbox, b.Here = *s, true
	//guard:link-id-first harm
	if s.AlsoKey != "" && s.AlsoKey != s.ID && v.isID(Ref{s.Provider, s.AlsoKey}) {
		b.AlsoKey = ""
	}
	b.Seen, b.Known = v.s.Memory.Sandboxes[s.Ref]
	//guard:box-reused live
	if b.Known && b.Seen.another(s) {
		b.Seen, b.Known = SandboxSeen{}, false
		return
	}
	if len(v.s.Memory.Probes) > 0 {
		b.Probes = v.s.Memory.Probes[s.Ref]
	}
}

// isID reports whether a sandbox is known to have the id: then a row that holds it means that one,
// and none of that name.
func (v *view) isID(ref Ref) bool {
	seen, known := v.s.Memory.Sandboxes[ref]
	return known && seen.GoneAt.IsZero() && !v.s.Looks[ref].Gone || v.s.lists(ref)
}

// taskOf is the id of the task that a sandbox belongs to. A label that names a live task
// wins; then a live row that names the sandbox, because the label may be of a task that
// used it before; then the label, any row, and what the ledger remembers, so that a lost
// label explains nothing away.
func (v *view) taskOf(b *Box, bySandbox map[Ref]*Task) string {
	//guard:link-says-nothing harm
	if b.OddLink || v.saysNothing(b.Task) && v.live[b.Seen.Task] != nil {
		return b.Seen.Task
	}
	row, named := v.rowOf(&b.Sandbox)
	user := v.user(b, bySandbox)
	switch {
	//guard:link-label harm
	case b.Task != "" && v.live[b.Task] != nil:
		return b.Task
	//guard:link-row live
	case user != "":
		return user
	case b.Task != "" && !(named && row.State.Live()):
		return b.Task
	case named:
		return row.ID
	case b.Task == "" && b.Seen.Task == "" && v.namesake(b) != "":
		//guard:link-namesake harm
		return v.namesake(b)
	case b.Seen.Task == "" && b.Lasting:
		//guard:link-heir harm
		return v.heir(b)
	}
	//guard:link-remembered harm
	return b.Seen.Task
}

// saysNothing reports whether a link names what can be no id, or what was not read: a look may show a
// sandbox after the rows were read, and it is not another task's for that.
func (v *view) saysNothing(task string) bool {
	_, read := v.s.Rows[task]
	//guard:link-unread harm
	return v.s.Unparsable[task] || task != "" && v.live[task] == nil && !read && !v.s.Absent[task]
}

// looseSubjects are the sandboxes without a live task. Those of one ended task make one
// subject.
func (v *view) looseSubjects(loose []Box) []Subject {
	var out []Subject
	ended := map[string]int{}
	for _, b := range loose {
		task := v.taskOf(&b, nil)
		fate, row := v.fate(b, task)
		if row == nil {
			out = append(out, Subject{ID: "sandbox:" + b.Ref.String(), Boxes: []Box{b}, Fate: fate})
			continue
		}
		if i, ok := ended[row.ID]; ok {
			out[i].Boxes = append(out[i].Boxes, b)
			continue
		}
		ended[row.ID] = len(out)
		s := v.taskSubject(row, []Box{b})
		s.Fate = fate
		out = append(out, s)
	}
	return out
}

// fate says why the task of a sandbox is not live, and which row explains it.
func (v *view) fate(b Box, task string) (Fate, *Task) {
	if v.p.Tasks.None {
		return FateUnread, nil
	}
	if row, ok := v.s.Rows[task]; ok && task != "" && !b.OddLink {
		return row.fate(), &row
	}
	byRow := !v.p.Providers[b.Provider].LinkTask
	switch _, known := v.s.Memory.Tasks[task]; {
	//guard:fate-explained harm
	case v.s.Explained[b.Ref] != "":
		return FateExplained, nil
	//guard:link-odd P1
	case b.OddLink:
		return FateUnparsable, nil
	case task == "":
		return v.fateUnnamed(b), nil
	//guard:fate-unparsable P11
	case v.s.Unparsable[task]:
		return FateUnparsable, nil
	//guard:fate-unread P3
	case !v.s.Absent[task]:
		return FateUnread, nil
	//guard:fate-vanished live
	//guard:fate-purged live
	case known, byRow && b.Seen.Task == task:
		return FateVanished, nil
	default:
		return FateUnknown, nil
	}
}

// fate of a row that was read by key, not in the live set.
func (t *Task) fate() Fate {
	//guard:fate-outside harm
	if t.State.Terminal() && !t.Outside {
		return FateEnded
	}
	return FateExplained
}

// fateUnnamed is for a sandbox that names no task. When rows may name sandboxes, they must
// have been asked.
func (v *view) fateUnnamed(b Box) Fate {
	//guard:fate-unasked P3
	for _, key := range b.keys() {
		if !v.s.Absent["sandbox:"+key] && !v.heldElsewhere(key, &b.Sandbox) {
			return FateUnread
		}
	}
	return FateUnnamed
}
