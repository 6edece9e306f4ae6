package reconcile

import (
	"cmp"
	"slices"
)

// subjects groups tasks and sandboxes by their links. Each task and each sandbox is in
// exactly one subject. The order is by subject id, so that a pass is the same twice.
func (v *view) subjects() []Subject {
	boxes, loose := v.link()
	out := make([]Subject, 0, len(v.s.Tasks)+len(loose))
	for i := range v.s.Tasks {
		out = append(out, v.taskSubject(&v.s.Tasks[i], boxes[v.s.Tasks[i].ID]))
	}
	out = append(out, v.looseSubjects(loose)...)
	slices.SortFunc(out, func(a, b Subject) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

func (v *view) taskSubject(t *Task, boxes []Box) Subject {
	seen, known := v.s.Memory.Tasks[t.ID]
	if known && seen.Status != t.Status {
		seen = v.entered(seen, t)
	}
	return Subject{ID: "task:" + t.ID, Task: t, Seen: seen, Known: known, Boxes: boxes}
}

// link gives each sandbox to the live task that it belongs to; loose ones have none.
func (v *view) link() (byTask map[string][]Box, loose []Box) {
	byTask = make(map[string][]Box, len(v.s.Tasks))
	bySandbox := v.rowsBySandbox()
	here := make(map[Ref]bool, len(v.s.Sandboxes))
	for _, s := range v.s.Sandboxes {
		here[s.Ref] = true
		b := v.box(s)
		if id := v.taskOf(b, bySandbox); id != "" && v.live[id] != nil {
			byTask[id] = append(byTask[id], b)
			continue
		}
		loose = append(loose, b)
	}
	v.remembered(here, byTask)
	for _, boxes := range byTask {
		slices.SortFunc(boxes, func(a, b Box) int { return compareRefs(a.Ref, b.Ref) })
	}
	return byTask, loose
}

// rowsBySandbox is the live set by its sandbox column, when a link goes that way.
func (v *view) rowsBySandbox() map[string]string {
	if !v.p.Tasks.SandboxKnown {
		return nil
	}
	rows := make(map[string]string, len(v.s.Tasks))
	for _, t := range v.s.Tasks {
		if t.Sandbox != "" {
			rows[t.Sandbox] = t.ID
		}
	}
	return rows
}

// remembered adds to each live task the sandboxes that the ledger knows it had and that
// were not seen now, with what a direct look said of them.
func (v *view) remembered(here map[Ref]bool, byTask map[string][]Box) {
	for ref, seen := range v.s.Memory.Sandboxes {
		if here[ref] || seen.Task == "" || v.live[seen.Task] == nil {
			continue
		}
		b := Box{Sandbox: Sandbox{Ref: ref, Name: seen.Name, Template: seen.Template}, Seen: seen, Known: true}
		look, looked := v.s.Looks[ref]
		switch {
		case looked && look.Gone:
			b.Gone = true
		case looked && look.Error == "":
			b = v.box(look.Sandbox)
		case !seen.GoneAt.IsZero() && seen.State != SandboxUnknown && v.confirmedGone(seen):
			b.Gone = true
		}
		byTask[seen.Task] = append(byTask[seen.Task], b)
	}
}

// confirmedGone reports whether the ledger has proof, not only an absence from a listing,
// that the sandbox is gone: our own terminate, confirmed, or a tombstone.
func (v *view) confirmedGone(seen SandboxSeen) bool {
	return seen.GoneByUs || seen.State == SandboxEnded
}

func (v *view) box(s Sandbox) Box {
	seen, known := v.s.Memory.Sandboxes[s.Ref]
	return Box{Sandbox: s, Seen: seen, Known: known, Here: true, Probes: v.s.Memory.Probes[s.Ref]}
}

// taskOf is the id of the task that a sandbox belongs to. A label wins; then the row that
// names it; then what the ledger remembers, so that a lost label explains nothing away.
func (v *view) taskOf(b Box, bySandbox map[string]string) string {
	if b.Task != "" {
		return b.Task
	}
	if b.SandboxKey != "" {
		if id := bySandbox[b.SandboxKey]; id != "" {
			return id
		}
		if t, ok := v.s.ByKey[b.SandboxKey]; ok {
			return t.ID
		}
	}
	return b.Seen.Task
}

// looseSubjects are the sandboxes without a live task. Those of one ended task make one
// subject.
func (v *view) looseSubjects(loose []Box) []Subject {
	var out []Subject
	ended := map[string]int{}
	for _, b := range loose {
		task := v.taskOf(b, nil)
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
	if task == "" {
		return v.fateUnnamed(b), nil
	}
	if row, ok := v.s.Rows[task]; ok {
		return row.fate(), &row
	}
	if row, ok := v.s.ByKey[b.SandboxKey]; ok && row.ID == task {
		return row.fate(), &row
	}
	switch _, known := v.s.Memory.Tasks[task]; {
	case v.s.Unparsable[task]:
		return FateUnparsable, nil
	case !v.s.Absent[task]:
		return FateUnread, nil
	case known:
		return FateVanished, nil
	default:
		return FateUnknown, nil
	}
}

// fate of a row that was read by key, not in the live set.
func (t *Task) fate() Fate {
	if t.State.Terminal() && !t.Outside {
		return FateEnded
	}
	return FateExplained
}

// fateUnnamed is for a sandbox that names no task. When rows may name sandboxes, they must
// have been asked.
func (v *view) fateUnnamed(b Box) Fate {
	if b.SandboxKey != "" && !v.s.Absent["sandbox:"+b.SandboxKey] {
		return FateUnread
	}
	return FateUnnamed
}
