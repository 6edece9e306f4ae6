package reconcile

import (
	"context"
	"slices"
	"strings"
	"sync"
)

// rowOf reads one row by key.
func (k *Keeper) rowOf(ctx context.Context, o *second, id string) (*Task, error) {
	if k.Policy.Tasks.None || id == "" {
		return nil, nil
	}
	delete(o.view.s.Rows, id)
	if err := k.readByID(ctx, o.view.s, []string{id}); err != nil {
		return nil, err
	}
	row, found := o.view.s.Rows[id]
	if !found {
		return nil, nil
	}
	return &row, nil
}

// alone is a second look at one thing that has looked at nothing yet.
func (r *run) alone() *second {
	v := *r.view
	s := *v.s
	s.Kind, s.Sandboxes = Full, nil
	s.Rows, s.Absent, s.Unparsable = map[string]Task{}, map[string]bool{}, map[string]bool{}
	s.ByKey, s.Looks, s.Finds = map[Ref]Task{}, map[Ref]Look{}, map[string]FindLook{}
	s.Explained = map[Ref]string{}
	v.s = &s
	return &second{view: &v}
}

// soughtTask is the id of the task that is meant, as far as it is known, else the id itself.
func soughtTask(id string, d *Decision, h History) string {
	if d != nil {
		if d.Subject.Task != nil {
			return d.Subject.Task.ID
		}
		return ""
	}
	id = strings.TrimPrefix(id, "task:")
	named := func(t TaskSeen) bool { return t.ID == id }
	switch {
	case strings.HasPrefix(id, "sandbox:"):
		return ""
	case len(h.Tasks) == 0 || slices.ContainsFunc(h.Tasks, named):
		return id
	}
	return h.Tasks[0].ID
}

// soughtRefs are the sandboxes that are meant when no task is: known ones, else whatever
// goes by the id at each provider.
func (r *run) soughtRefs(id string, d *Decision, h History) []Ref {
	var refs []Ref
	if d != nil {
		for i := range d.Subject.Boxes {
			refs = append(refs, d.Subject.Boxes[i].Ref)
		}
		return refs
	}
	for i := range h.Sandboxes {
		refs = append(refs, h.Sandboxes[i].Ref)
	}
	if len(refs) > 0 {
		return refs[:min(len(refs), lookers)]
	}
	id = strings.TrimPrefix(id, "sandbox:")
	provider, rest, cut := strings.Cut(id, "/")
	if _, ours := r.policy.Providers[provider]; cut && ours {
		return []Ref{{provider, rest}}
	}
	for _, name := range r.policy.providerNames() {
		refs = append(refs, Ref{name, id})
	}
	return refs
}

// lookTask looks at a task and at all its sandboxes. The row is read last, after the looks,
// which took their time. It returns nil when there is no such row, or when the task is over
// and nothing of it is left; the row is in the snapshot then.
func (r *run) lookTask(ctx context.Context, o *second, id string) (*Subject, error) {
	row, err := r.k.rowOf(ctx, o, id)
	if err != nil || row == nil {
		return nil, err
	}
	before := o.view.taskSubject(row, nil)
	refs := r.refsOf(&before, &Action{})
	r.lookAround(ctx, o.view.s, row, refs)
	if row, err = r.k.rowOf(ctx, o, id); err != nil || row == nil {
		return nil, err
	}
	s := o.view.taskSubject(row, o.boxesSeen(refs, id))
	if !row.State.Live() || row.Outside {
		s.Fate = row.fate()
	}
	if s.Fate != FateLive && !s.hasBox(func(b *Box) bool { return b.Here }) {
		return nil, nil
	}
	return &s, nil
}

// lookAround gets sandboxes by id, and meanwhile searches others of the task by link.
func (r *run) lookAround(ctx context.Context, s *Snapshot, row *Task, refs []Ref) {
	var wg sync.WaitGroup
	var found FindLook
	search := func() { found = r.k.findOne(ctx, row) }
	if r.k.Parallel != 1 {
		wg.Go(search)
	}
	looks := r.k.looks(ctx, refs)
	for i, ref := range refs {
		s.Looks[ref] = looks[i]
	}
	if r.k.Parallel == 1 {
		search()
	}
	wg.Wait()
	s.Finds[row.ID] = found
}

// boxesSeen are the task's sandboxes as the looks saw them. One that could not be looked at
// is shown as the ledger has it, and is neither here nor gone.
func (o *second) boxesSeen(refs []Ref, task string) []Box {
	var out []Box
	users := o.view.rowsBySandbox()
	for _, ref := range refs {
		look := o.view.s.Looks[ref]
		seen, known := o.view.s.Memory.Sandboxes[ref]
		if look.Gone || look.Error != "" {
			if known {
				out = append(out, Box{Sandbox: Sandbox{Ref: ref, Name: seen.Name, Template: seen.Template},
					Seen: seen, Known: true, Gone: look.Gone})
			}
			continue
		}
		if b := o.view.box(&look.Sandbox); o.view.mine(&b, task, users) {
			out = append(out, b)
		}
	}
	for _, sb := range o.view.s.Finds[task].Sandboxes {
		if b := o.view.box(&sb); !slices.Contains(refs, sb.Ref) && o.view.mine(&b, task, users) {
			out = append(out, b)
		}
	}
	slices.SortFunc(out, func(a, b Box) int { return compareRefs(a.Ref, b.Ref) })
	return out
}

// mine settles whether a sandbox is this installation's and the task's own.
func (v *view) mine(b *Box, task string, users map[Ref]*Task) bool {
	b.Owned = b.Owned || v.p.Providers[b.Provider].byRow(&b.Sandbox)
	user := v.taskOf(b, users)
	return b.Owned && (user == "" || user == task)
}

// lookSandboxes looks at sandboxes without a known task, and at the rows that may explain
// them, until one of them is there and ours.
func (r *run) lookSandboxes(ctx context.Context, o *second, e *Explained, refs []Ref) (*Subject, error) {
	s := o.view.s
	looks := r.k.looks(ctx, refs)
	for i, ref := range refs {
		s.Looks[ref] = looks[i]
		if looks[i].Gone || looks[i].Error != "" {
			continue
		}
		b := o.view.box(&looks[i].Sandbox)
		if !r.policy.Tasks.None {
			if err := r.rowsAgain(ctx, s, &b); err != nil {
				return nil, err
			}
		}
		if !r.owns(s, &b) {
			e.Foreign = append(e.Foreign, ref)
			continue
		}
		return r.subjectOf(ctx, o, b)
	}
	return nil, nil
}

// owns reports whether a sandbox is this installation's, also where owned means that a row
// refers to it, now or as the ledger remembers.
func (r *run) owns(s *Snapshot, b *Box) bool {
	if b.Owned || !r.policy.Providers[b.Provider].byRow(&b.Sandbox) {
		return b.Owned
	}
	_, row := s.Rows[b.Task]
	_, named := s.named(&b.Sandbox)
	b.Owned = row && b.Task != "" || named || b.Seen.Task != ""
	return b.Owned
}

// subjectOf is the subject of a sandbox: its task with all its sandboxes, when a row
// explains it.
func (r *run) subjectOf(ctx context.Context, o *second, b Box) (*Subject, error) {
	fate, row := o.view.fate(b, o.view.taskOf(&b, nil))
	if row == nil {
		return &Subject{ID: "sandbox:" + b.Ref.String(), Boxes: []Box{b}, Fate: fate}, nil
	}
	s, err := r.lookTask(ctx, o, row.ID)
	if err != nil || s != nil && s.hasBox(func(x *Box) bool { return x.Ref == b.Ref }) {
		return s, err
	}
	one := o.view.taskSubject(row, []Box{b}) // the ledger did not know that it is the task's
	one.Fate = fate
	return &one, nil
}
