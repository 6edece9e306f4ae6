package view

import (
	"cmp"
	"iter"
	"slices"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Subjects groups tasks and sandboxes by their links. Each task and each sandbox is in
// exactly one subject. The order is by subject id, so that a pass is the same twice.
func (v *places) Subjects() []reconcile.Subject {
	boxes, loose := v.linker().link()
	others := v.linker().looseSubjects(loose)
	out := make([]reconcile.Subject, 0, len(v.S.Tasks)+len(others))
	for _, i := range v.linker().byID() {
		t := &v.S.Tasks[i]
		out = append(out, v.linker().subjectOf(t, v.was[i], boxes[t.ID]))
	}
	if len(others) == 0 {
		return out
	}
	out = append(out, others...)
	slices.SortFunc(out, func(a, b reconcile.Subject) int { return cmp.Compare(a.ID, b.ID) })
	return out
}

// byID are the places of the live tasks in the order of their ids. Places are sorted and
// not subjects, which are large.
func (v linker) byID() []int {
	order := reconcile.Indices(len(v.S.Tasks))
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(v.S.Tasks[a].ID, v.S.Tasks[b].ID) })
	return order
}

// TaskSubject is a task with its sandboxes, and what became of the one that its row names.
func (v *places) TaskSubject(t *reconcile.Task, boxes []reconcile.SeenSandbox) reconcile.Subject {
	was, _ := v.S.Memory.Tasks.At(t.ID)
	return v.linker().subjectOf(t, was, boxes)
}

func (v linker) subjectOf(t *reconcile.Task, was *reconcile.CompactTask, boxes []reconcile.SeenSandbox,
) reconcile.Subject {
	before := SeenTask{was.Seen(), was != nil}
	v.listener().markActivity(t, &before)
	if before.Known && (TaskSeenMoved(&before.TaskSeen, t) || v.PerhapsEnded(&before.TaskSeen, t)) {
		was = v.Entered(before.TaskSeen, t).Compact()
	}
	return reconcile.Subject{ID: reconcile.TaskSubject(t.ID), Task: t, Was: was, Known: before.Known, Boxes: boxes}
}

// link gives each sandbox to the live task that it belongs to; loose ones have none. The
// boxes stand side by side in one block of memory: nearly every task has exactly one.
func (v linker) link() (byTask map[string][]reconcile.SeenSandbox, loose []reconcile.SeenSandbox) {
	byTask = make(map[string][]reconcile.SeenSandbox, len(v.S.Tasks))
	bySandbox := v.RowsBySandbox()
	block := make([]reconcile.SeenSandbox, len(v.S.Sandboxes))
	several := map[string]bool{}
	for i := range v.S.Sandboxes {
		b := block[i : i+1 : i+1]
		b[0] = v.Box(&v.S.Sandboxes[i])
		//guard:gone-listed live
		if b[0].State == reconcile.SandboxDeleting && v.S.Lookups[b[0].Ref].Gone {
			b[0].Here, b[0].Gone = false, true
		}
		id := v.TaskOf(&b[0], bySandbox)
		switch {
		case id == "" || v.Live[id] == nil:
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
		slices.SortFunc(byTask[id], func(a, b reconcile.SeenSandbox) int { return reconcile.CompareRefs(a.Ref, b.Ref) })
	}
	return byTask, loose
}

// RowsBySandbox is the live set by its sandbox column, when a link goes that way.
func (v *places) RowsBySandbox() map[reconcile.Ref]*reconcile.Task {
	if !v.P.Tasks.SandboxKnown {
		return nil
	}
	rows := make(map[reconcile.Ref]*reconcile.Task, len(v.S.Tasks))
	for i := range v.S.Tasks {
		t := &v.S.Tasks[i]
		if t.Sandbox != "" {
			rows[v.P.Named(t)] = t // of two that hold one name the last, in every pass
		}
	}
	return rows
}

// Naming are the rows, of those that are not over, that may name the sandbox. A pass that finds much asks for each.
func (v *places) Naming(b *reconcile.Sandbox) iter.Seq[*reconcile.Task] {
	return func(yield func(*reconcile.Task) bool) {
		for _, key := range b.Called() {
			for _, i := range v.rowsNaming(key) {
				if !yield(&v.S.Tasks[i]) {
					return
				}
			}
		}
	}
}

// NamingToo is another task, which is not over, whose row names what this one's does; nil where there is none.
func (v *places) NamingToo(t *reconcile.Task) *reconcile.Task {
	for _, i := range v.rowsNaming(t.Sandbox) {
		if other := &v.S.Tasks[i]; other.ID != t.ID {
			return other
		}
	}
	return nil
}

// rowsNaming are the places of the rows, of those that are not over, that name a sandbox so.
func (v *places) rowsNaming(key string) []int32 {
	if v.naming == nil {
		v.naming = make(map[string][]int32, len(v.S.Tasks))
		for i := range v.S.Tasks {
			if t := &v.S.Tasks[i]; t.Sandbox != "" && !t.State.Terminal() {
				v.naming[t.Sandbox] = append(v.naming[t.Sandbox], int32(i))
			}
		}
	}
	return v.naming[key]
}

// MeansAnother reports whether a row that the pass read means another sandbox than this one, which has the same name,
// see [places.MeansItsOwn]. A pass that finds much asks for each.
func (v *places) MeansAnother(t *reconcile.Task, b *reconcile.Sandbox) bool {
	if len(b.Keys()) > 0 || t.Sandbox != b.Name {
		return false
	}
	if v.own == nil {
		v.own = v.OwnNamed()
	}
	return v.MeansItsOwn(v.own, t, b)
}

// NamedElsewhere are the sandboxes that the task's row names and that are none of the subject's: their label says
// that they are another task's, which whoever works inside may have written.
func NamedElsewhere(v *View, s *reconcile.Subject) (out []*reconcile.Sandbox) {
	if s.Task == nil || s.Task.Sandbox == "" {
		return nil
	}
	if s.HasBox(func(b *reconcile.SeenSandbox) bool { return b.Here && v.Names(s.Task, b.Sandbox) }) {
		return nil
	}
	candidates := v.P.Candidates(s.Task)
	for i := range v.S.Sandboxes {
		if sb := &v.S.Sandboxes[i]; v.Names(s.Task, sb) && slices.Contains(candidates, sb.Provider) {
			out = append(out, sb)
		}
	}
	for _, provider := range candidates {
		ref := reconcile.Ref{Provider: provider, ID: s.Task.Sandbox}
		look, ok := v.S.Lookups[ref]
		if ok && !look.Gone && look.Error == "" && !v.S.Lists(ref) && v.Names(s.Task, &look.Sandbox) {
			out = append(out, &look.Sandbox)
		}
	}
	return out
}

// Names reports whether the task's row names the sandbox: by what the link compares, or by its id.
func (v *places) Names(t *reconcile.Task, sb *reconcile.Sandbox) bool {
	return sb.CalledBy(t.Sandbox) || t.Sandbox != "" && sb.ID == t.Sandbox && v.P.Providers[sb.Provider].SandboxIsID
}

// user is the live task whose row names the sandbox.
func (v linker) user(b *reconcile.SeenSandbox, rows map[reconcile.Ref]*reconcile.Task) string {
	if len(rows) == 0 {
		return ""
	}
	for _, key := range [...]string{b.SandboxKey, b.AltKey} {
		if key == "" {
			continue
		}
		t := rows[reconcile.Ref{Provider: b.Provider, ID: key}]
		if t == nil {
			t = rows[reconcile.Ref{Provider: "", ID: key}]
		}
		for _, twin := range v.sameAccount[b.Provider] {
			if other := rows[reconcile.Ref{Provider: twin, ID: key}]; t == nil && other != nil && v.mayBeMeant(other,
				b.Sandbox) {
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
func (v linker) remembered(byTask map[string][]reconcile.SeenSandbox, several map[string]bool) {
	if v.S.Whole {
		return
	}
	for ref, was := range v.S.OtherSandboxes() {
		if task := was.Task(); task == "" || v.Live[task] == nil || v.S.Lists(ref) {
			continue
		}
		all := was.Seen()
		seen := &all
		b := reconcile.RememberedBox(was)
		look, looked := v.S.Lookups[ref]
		switch {
		case looked && look.Gone:
			b.Gone = true
		//guard:gone-reused live
		case looked && look.Error == "" && seen.Another(&look.Sandbox, v.Now):
			b.Gone = true
		case looked && look.Error == "":
			b = v.Box(&look.Sandbox)
		//guard:gone-proven P3
		case !seen.GoneAt.IsZero() && seen.State != reconcile.SandboxUnknown && v.ConfirmedGone(seen):
			b.Gone = true
		}
		byTask[seen.Task] = append(byTask[seen.Task], b)
		if len(byTask[seen.Task]) > 1 {
			several[seen.Task] = true
		}
	}
}

// ConfirmedGone reports whether the ledger has proof, not only an absence from a listing,
// that the sandbox is gone: our own terminate, confirmed, or a tombstone.
func (v *places) ConfirmedGone(seen *reconcile.SandboxSeen) bool {
	return seen.GoneByUs || seen.State == reconcile.SandboxEnded
}

// Box is a sandbox as it is judged: as seen now, with what the ledger remembers of it.
func (v *places) Box(s *reconcile.Sandbox) reconcile.SeenSandbox {
	was, _ := v.S.Memory.Sandboxes.At(s.Ref)
	return v.BoxOf(s, was)
}

// BoxOf is the same where it is known what the ledger remembers of the sandbox; nil is nothing. It points at what is
// seen and at what is remembered.
func (v *places) BoxOf(s *reconcile.Sandbox, was *reconcile.CompactSandbox) reconcile.SeenSandbox {
	b := reconcile.Box(s)
	b.Here = true
	//guard:link-id-first harm
	if s.AltKey != "" && s.AltKey != s.ID && v.linker().isID(reconcile.Ref{Provider: s.Provider, ID: s.AltKey}) {
		b.Own().AltKey = ""
	}
	b.Was, b.Known = was, was != nil
	//guard:box-reused live
	if b.Known && b.Seen().Another(s, v.Now) {
		b.Forget()
		return b
	}
	if seen, probed := v.S.Memory.Probes[s.Ref]; probed {
		own := seen // a copy only here: else each sandbox would have one
		b.Probes = &own
	}
	return b
}

// isID reports whether a sandbox is known to have the id: then a row that holds it means that one,
// and none of that name.
func (v linker) isID(ref reconcile.Ref) bool {
	seen, known := v.S.Memory.Sandboxes.Get(ref)
	return known && seen.GoneAt.IsZero() && !v.S.Lookups[ref].Gone || v.S.Lists(ref)
}

// TaskOf is the id of the task that a sandbox belongs to. A label that names a live task
// wins; then a live row that names the sandbox, because the label may be of a task that
// used it before; then the label, any row, and what the ledger remembers, so that a lost
// label explains nothing away.
func (v *places) TaskOf(b *reconcile.SeenSandbox, bySandbox map[reconcile.Ref]*reconcile.Task) string {
	//guard:link-says-nothing harm
	if b.BadLink || v.linker().saysNothing(b.Task) && v.Live[b.Seen().Task] != nil {
		return b.Seen().Task
	}
	row, named := v.rowOf(b.Sandbox)
	user := v.linker().user(b, bySandbox)
	switch {
	//guard:link-label harm
	case b.Task != "" && v.Live[b.Task] != nil:
		return b.Task
	//guard:link-row live
	case user != "":
		return user
	case b.Task != "" && !(named && row.State.Live()):
		return b.Task
	case named:
		return row.ID
	case b.Task == "" && b.Seen().Task == "" && v.sameName(b) != "":
		//guard:link-namesake harm
		return v.sameName(b)
	case b.Seen().Task == "" && b.StableName:
		//guard:link-heir harm
		return v.Successor(b)
	case v.Contradicted(b):
		return ""
	}
	//guard:link-remembered harm
	return b.Seen().Task
}

// Contradicted reports whether a sandbox shows something else than the link that the ledger remembers of it: it names
// no task, and a row of a further table explains it. A listing may have shown it once with another's labels.
func (v *places) Contradicted(b *reconcile.SeenSandbox) bool {
	return b.Here && b.Task == "" && v.S.Explained[b.Ref] != ""
}

// saysNothing reports whether a link names what can be no id, or what was not read: a look may show a
// sandbox after the rows were read, and it is not another task's for that.
func (v linker) saysNothing(task string) bool {
	_, read := v.S.Rows[task]
	//guard:link-unread harm
	return v.S.Unparsable[task] || task != "" && v.Live[task] == nil && !read && !v.S.Absent[task]
}

// looseSubjects are the sandboxes without a live task. Those of one ended task make one
// subject.
func (v linker) looseSubjects(loose []reconcile.SeenSandbox) []reconcile.Subject {
	var out []reconcile.Subject
	ended := map[string]int{}
	for _, b := range loose {
		task := v.TaskOf(&b, nil)
		fate, row := v.LinkState(b, task)
		if row == nil {
			out = append(out, reconcile.BoxedSubject(b, fate))
			continue
		}
		if i, ok := ended[row.ID]; ok {
			out[i].Boxes = append(out[i].Boxes, b)
			continue
		}
		ended[row.ID] = len(out)
		s := v.TaskSubject(row, []reconcile.SeenSandbox{b})
		s.LinkState = fate
		out = append(out, s)
	}
	return out
}

// LinkState says why the task of a sandbox is not live, and which row explains it.
func (v *places) LinkState(b reconcile.SeenSandbox, task string) (reconcile.LinkState, *reconcile.Task) {
	if v.P.Tasks.None {
		return reconcile.LinkUnread, nil
	}
	if row, ok := v.S.Rows[task]; ok && task != "" && !b.BadLink {
		return row.LinkState(), &row
	}
	byRow := !v.P.Providers[b.Provider].LinkTask
	switch known := v.S.Memory.Tasks.Has(task); {
	//guard:fate-explained harm
	case v.S.Explained[b.Ref] != "":
		return reconcile.LinkExplained, nil
	//guard:link-odd P1
	case b.BadLink:
		return reconcile.LinkUnparsable, nil
	case task == "":
		return v.linker().linkUnnamed(b), nil
	//guard:fate-unparsable P11
	case v.S.Unparsable[task]:
		return reconcile.LinkUnparsable, nil
	//guard:fate-unread P3
	case !v.S.Absent[task]:
		return reconcile.LinkUnread, nil
	//guard:fate-vanished live
	//guard:fate-purged live
	case known, byRow && b.Seen().Task == task:
		return reconcile.LinkVanished, nil
	default:
		return reconcile.LinkUnknown, nil
	}
}

// linkUnnamed is for a sandbox that names no task. When rows may name sandboxes, they must
// have been asked.
func (v linker) linkUnnamed(b reconcile.SeenSandbox) reconcile.LinkState {
	//guard:fate-unasked P3
	for _, key := range b.Keys() {
		if !v.S.Absent["sandbox:"+key] && !v.heldElsewhere(key, b.Sandbox) {
			return reconcile.LinkUnread
		}
	}
	return reconcile.LinkUnnamed
}

// linker is the part of [places] that puts tasks and sandboxes together.
type linker struct{ *places }

func (v *places) linker() linker { return linker{v} }
