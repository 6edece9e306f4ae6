package run

import (
	"context"
	"slices"
	"sync"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/decide"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// rowOf reads one row by key.
func (k *Reconciler) rowOf(ctx context.Context, o *recheck, id string) (*reconcile.Task, error) {
	if k.Policy.Tasks.None || id == "" {
		return nil, nil
	}
	delete(o.View.S.Rows, id)
	if err := k.observer().readByID(ctx, o.View.S, []string{id}); err != nil {
		return nil, err
	}
	row, found := o.View.S.Rows[id]
	if !found {
		return nil, nil
	}
	return &row, nil
}

// alone is a second look at one thing that has looked at nothing yet.
func (r *looker) alone() *recheck {
	v := *r.view
	s := *v.S
	s.Kind, s.Sandboxes = reconcile.Full, nil
	s.Rows, s.Absent, s.Unparsable = map[string]reconcile.Task{}, map[string]bool{}, map[string]bool{}
	s.ByKey, s.Lookups, s.Finds = map[reconcile.Ref]reconcile.Task{}, map[reconcile.Ref]reconcile.Lookup{},
		map[string]reconcile.FindLookup{}
	s.Explained = map[reconcile.Ref]string{}
	v.S = &s
	return &recheck{Recheck: decide.Recheck{View: &v}}
}

// soughtTask is the id of the task that is meant, as far as it is known, else the id itself.
func soughtTask(id string, d *decide.Decision, h reconcile.History) string {
	if d != nil {
		if d.Subject.Task != nil {
			return d.Subject.Task.ID
		}
		return ""
	}
	id, _ = reconcile.OfType(reconcile.SubjectTask, id)
	named := func(t reconcile.TaskSeen) bool { return t.ID == id }
	switch {
	case reconcile.TypeOf(id) == reconcile.SubjectSandbox:
		return ""
	case len(h.Tasks) == 0 || slices.ContainsFunc(h.Tasks, named):
		return id
	}
	return h.Tasks[0].ID
}

// soughtRefs are the sandboxes that are meant when no task is: known ones, else whatever
// goes by the id at each provider.
func (r *looker) soughtRefs(id string, d *decide.Decision, h reconcile.History) []reconcile.Ref {
	var refs []reconcile.Ref
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
		return refs[:min(len(refs), view.Lookers)]
	}
	id, _ = reconcile.OfType(reconcile.SubjectSandbox, id)
	ref, is := reconcile.ParseRef(id)
	if _, ours := r.policy.Providers[ref.Provider]; is && ours {
		return []reconcile.Ref{ref}
	}
	for _, name := range r.policy.ProviderNames() {
		refs = append(refs, reconcile.Ref{Provider: name, ID: id})
	}
	return refs
}

// lookTask looks at a task and at all its sandboxes. The row is read last, after the looks,
// which took their time. It returns nil when there is no such row, or when the task is over
// and nothing of it is left; the row is in the snapshot then.
func (r *looker) lookTask(ctx context.Context, o *recheck, id string) (*reconcile.Subject, error) {
	row, err := r.k.rowOf(ctx, o, id)
	if err != nil || row == nil {
		return nil, err
	}
	before := o.View.TaskSubject(row, nil)
	refs := r.refsOf(&before, &reconcile.Action{})
	r.lookAround(ctx, o.View.S, row, refs)
	if row, err = r.k.rowOf(ctx, o, id); err != nil || row == nil {
		return nil, err
	}
	s := o.View.TaskSubject(row, o.boxesSeen(refs, id))
	if !row.State.Live() || row.Outside {
		s.LinkState = row.LinkState()
	}
	if s.LinkState != reconcile.LinkLive && !s.HasBox(func(b *reconcile.SeenSandbox) bool { return b.Here }) {
		return nil, nil
	}
	return &s, nil
}

// lookAround gets sandboxes by id, and meanwhile searches others of the task by link.
func (r *looker) lookAround(ctx context.Context, s *reconcile.Snapshot, row *reconcile.Task, refs []reconcile.Ref) {
	var wg sync.WaitGroup
	var found reconcile.FindLookup
	search := func() { found = r.k.observer().findOne(ctx, row) }
	if r.k.Parallel != 1 {
		wg.Go(search)
	}
	looks := r.k.observer().looks(ctx, refs, nil)
	for i, ref := range refs {
		s.Lookups[ref] = looks[i]
	}
	if r.k.Parallel == 1 {
		search()
	}
	wg.Wait()
	r.k.observer().lookFound(ctx, s, []reconcile.FindLookup{found})
	s.Finds[row.ID] = r.k.observer().believed(s, row, found)
}

// boxesSeen are the task's sandboxes as the looks saw them. One that could not be looked at
// is shown as the ledger has it, and is neither here nor gone.
func (o *recheck) boxesSeen(refs []reconcile.Ref, task string) []reconcile.SeenSandbox {
	var out []reconcile.SeenSandbox
	users := o.View.RowsBySandbox()
	for _, ref := range refs {
		look := o.View.S.Lookups[ref]
		seen, known := o.View.S.Memory.Sandboxes.Get(ref)
		if look.Gone || look.Error != "" {
			if known {
				b := reconcile.RememberedBox(seen.Compact())
				b.Gone = look.Gone
				out = append(out, b)
			}
			continue
		}
		if b := o.View.Box(&look.Sandbox); o.View.Mine(&b, task, users) {
			out = append(out, b)
		}
	}
	for _, sb := range o.View.S.Finds[task].Sandboxes {
		gone := o.View.S.Lookups[sb.Ref].Gone
		if b := o.View.Box(&sb); !gone && !slices.Contains(refs, sb.Ref) && o.View.Mine(&b, task, users) {
			out = append(out, b)
		}
	}
	slices.SortFunc(out, func(a, b reconcile.SeenSandbox) int { return reconcile.CompareRefs(a.Ref, b.Ref) })
	return out
}

// lookSandboxes looks at sandboxes without a known task, and at the rows that may explain
// them, until one of them is there and ours.
func (r *looker) lookSandboxes(ctx context.Context, o *recheck, e *Explained,
	refs []reconcile.Ref) (*reconcile.Subject,
	error) {
	s := o.View.S
	looks := r.k.observer().looks(ctx, refs, nil)
	for i, ref := range refs {
		s.Lookups[ref] = looks[i]
		if looks[i].Gone || looks[i].Error != "" {
			continue
		}
		b := o.View.Box(&looks[i].Sandbox)
		if !r.policy.Tasks.None {
			if err := r.recheckRows(ctx, s, &b); err != nil {
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
func (r *looker) owns(s *reconcile.Snapshot, b *reconcile.SeenSandbox) bool {
	if b.Owned || !r.policy.Providers[b.Provider].ByRow(b.Sandbox) {
		return b.Owned
	}
	view.NewProver(s, r.policy).Settle(b.Sandbox)
	return b.Owned
}

// subjectOf is the subject of a sandbox: its task with all its sandboxes, when a row
// explains it.
func (r *looker) subjectOf(ctx context.Context, o *recheck, b reconcile.SeenSandbox) (*reconcile.Subject, error) {
	fate, row := o.View.LinkState(b, o.View.TaskOf(&b, nil))
	if row == nil {
		alone := reconcile.BoxedSubject(b, fate)
		return &alone, nil
	}
	s, err := r.lookTask(ctx, o, row.ID)
	if err != nil || s != nil && s.HasBox(func(x *reconcile.SeenSandbox) bool { return x.Ref == b.Ref }) {
		return s, err
	}
	one := o.View.TaskSubject(row, []reconcile.SeenSandbox{b}) // the ledger did not know that it is the task's
	one.LinkState = fate
	return &one, nil
}
