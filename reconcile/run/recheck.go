package run

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/decide"
)

// errUnknown is a second look that could not tell: the action waits.
var errUnknown = errors.New("not known now")

// recheck looks once more at the action's subject, at the row and at each sandbox by its
// key, and judges it again. It returns the subject as it is now and the finding, nil when
// the verdict no longer holds, with why. What was seen a moment ago is not looked at again.
func (r *looker) recheck(ctx context.Context, a *reconcile.Action, seen map[reconcile.Ref]reconcile.Lookup,
) (*recheck, error) {
	v := *r.view
	s := *v.S
	s.Kind, s.Sandboxes = reconcile.Full, nil
	s.Rows, s.Absent, s.Unparsable = map[string]reconcile.Task{}, map[string]bool{}, map[string]bool{}
	s.ByKey, s.Lookups, s.Finds = map[reconcile.Ref]reconcile.Task{}, map[reconcile.Ref]reconcile.Lookup{},
		map[string]reconcile.FindLookup{}
	s.Explained = map[reconcile.Ref]string{}
	v.S = &s
	//guard:again-own-ending live
	if own := (reconcile.Ref{Provider: a.Provider, ID: a.Sandbox}); v.Ending[own] {
		v.Ending = maps.Clone(v.Ending)
		delete(v.Ending, own) // that this very action is under way is no reason to look away
	}
	out := &recheck{Recheck: decide.Recheck{View: &v}, seen: seen}
	var err error
	if id, isTask := reconcile.OfType(reconcile.SubjectTask, a.Subject); isTask {
		err = r.recheckTask(ctx, out, id, a)
	} else {
		err = r.recheckSandbox(ctx, out, reconcile.Ref{Provider: a.Provider, ID: a.Sandbox})
	}
	if err != nil || out.Subject == nil {
		return out, err
	}
	//guard:again-judged P1
	out.Judge(a)
	return out, nil
}

// A recheck is a second look at one subject, while it is made.
type recheck struct {
	decide.Recheck
	seen map[reconcile.Ref]reconcile.Lookup // of a moment ago
}

// recheckTask reads a task's row by key and gets each of its sandboxes by id; when none is
// known, or only the ledger says that it is the task's, or the row names yet another one, it searches by link.
func (r *looker) recheckTask(ctx context.Context, o *recheck, id string, a *reconcile.Action) error {
	s := o.View.S
	if r.policy.Tasks.None {
		o.Kept = "the config knows no tasks any more"
		return nil
	}
	if err := r.k.observer().readByID(ctx, s, []string{id}); err != nil {
		return err
	}
	row, found := s.Rows[id]
	if !found {
		o.Kept = "the row is gone"
		return nil
	}
	subject := o.View.TaskSubject(&row, nil)
	refs := r.refsOf(&subject, a)
	r.k.observer().lookupBut(ctx, s, refs, o.seen)
	if err := o.unknown(); err != nil {
		return err
	}
	there := o.View.TaskSubject(&row, o.boxes(refs, id))
	//guard:again-remembered harm
	search := !slices.ContainsFunc(there.Boxes, func(b reconcile.SeenSandbox) bool {
		return r.isThere(b) && !o.View.OnlyRemembered(&there, &b)
	})
	//guard:again-names-another live
	search = search || o.View.NamesAnother(&there)
	if search {
		r.k.observer().find(ctx, s, []*reconcile.Task{&row})
		if e := s.Finds[id].Error; e != "" {
			return fmt.Errorf("%w: search by link: %s", errUnknown, e)
		}
	}
	return r.rowLast(ctx, o, &subject, o.boxes(refs, id))
}

// rowLast reads the row once more after the looks, which took their time: nothing comes
// between it and the action.
func (r *looker) rowLast(
	ctx context.Context, o *recheck, subject *reconcile.Subject, boxes []reconcile.SeenSandbox,
) error {
	s := o.View.S
	id := subject.Task.ID
	delete(s.Rows, id)
	if err := r.k.observer().readByID(ctx, s, []string{id}); err != nil {
		return err
	}
	//guard:again-row-last P4
	row, found := s.Rows[id]
	if !found {
		o.Kept = "the row is gone"
		return nil
	}
	*subject = o.View.TaskSubject(&row, boxes)
	if !row.State.Live() || row.Outside {
		subject.LinkState = row.LinkState()
	}
	o.Subject = subject
	return nil
}

// refsOf are all sandboxes that a task is known to have had: in this pass, in the ledger,
// and by the row's own word.
func (r *looker) refsOf(s *reconcile.Subject, a *reconcile.Action) []reconcile.Ref {
	wanted := map[reconcile.Ref]bool{}
	for _, b := range r.judged.BoxesOf(s.ID) {
		wanted[b.Ref] = true
	}
	for ref, seen := range r.view.S.Memory.Sandboxes.Each() {
		if seen.Task == s.Task.ID && !r.view.ConfirmedGone(seen) {
			wanted[ref] = true
		}
	}
	if a.Sandbox != "" {
		wanted[reconcile.Ref{Provider: a.Provider, ID: a.Sandbox}] = true
	}
	seen := *s
	seen.Boxes = r.judged.BoxesOf(s.ID)
	for _, ref := range r.view.LookRefs(&seen) {
		wanted[ref] = true
	}
	refs := make([]reconcile.Ref, 0, len(wanted))
	for ref := range wanted {
		refs = append(refs, ref)
	}
	reconcile.SortRefs(refs)
	return refs
}

// unknown is an error when a look said neither found nor gone.
func (o *recheck) unknown() error {
	var failed []reconcile.Ref
	for ref, look := range o.View.S.Lookups {
		if look.Error != "" && !o.known(ref) {
			failed = append(failed, ref)
		}
	}
	if len(failed) == 0 {
		return nil
	}
	reconcile.SortRefs(failed) // of several that failed the same one is told each time
	return fmt.Errorf("%w: look at %s: %s", errUnknown, failed[0], o.View.S.Lookups[failed[0]].Error)
}

// known reports whether a look that failed asked by the name, or another key, of a sandbox that was
// found by its id: what the row holds is no id then, and the answer is there.
func (o *recheck) known(ref reconcile.Ref) bool {
	//guard:again-name-id P4
	if isID := o.View.S.Memory.Sandboxes.Has(ref); isID {
		return false
	}
	for at, look := range o.View.S.Lookups {
		if at.Provider == ref.Provider && look.Error == "" && !look.Gone && look.Sandbox.CalledBy(ref.ID) {
			return true
		}
	}
	return false
}

// isThere reports whether a second look found the sandbox itself, and not over: what somebody else runs
// under its id is another one.
func (r *looker) isThere(b reconcile.SeenSandbox) bool {
	return !b.Lost() && b.State.Exists() && decide.Proven(r.view, b.Sandbox)
}

// boxes are the task's sandboxes as the second look saw them. One that names another task
// by now is not its own any more.
func (o *recheck) boxes(refs []reconcile.Ref, task string) []reconcile.SeenSandbox {
	var out []reconcile.SeenSandbox
	for _, ref := range refs {
		look := o.View.S.Lookups[ref]
		seen, known := o.View.S.Memory.Sandboxes.Get(ref)
		// One that was the task's, and is on record as over, shows the labels that it had last.
		over := look.Sandbox.State == reconcile.SandboxEnded && seen.Task == task
		another := seen.Another(&look.Sandbox, o.View.Now)
		switch {
		case known && look.Error == "" && over && !another && look.Sandbox.Task != task:
			sb := look.Sandbox
			sb.Task = task
			out = append(out, o.referred(&sb, task))
		case look.Gone && known, known && look.Error == "" && another && look.Sandbox.Task != task:
			b := reconcile.RememberedBox(seen.Compact())
			b.Gone = true
			out = append(out, b)
		case look.Gone:
		//guard:again-other-task harm
		case look.Sandbox.Task == "" || look.Sandbox.Task == task:
			out = append(out, o.referred(&look.Sandbox, task))
		}
	}
	for _, sb := range o.View.S.Finds[task].Sandboxes {
		if !slices.Contains(refs, sb.Ref) && !o.View.S.Lookups[sb.Ref].Gone {
			out = append(out, o.referred(&sb, task))
		}
	}
	return out
}

// recheckSandbox gets a sandbox by id and reads the rows that may explain it.
func (r *looker) recheckSandbox(ctx context.Context, o *recheck, ref reconcile.Ref) error {
	s := o.View.S
	r.k.observer().lookupBut(ctx, s, []reconcile.Ref{ref}, o.seen)
	if err := o.unknown(); err != nil {
		return err
	}
	look := s.Lookups[ref]
	if look.Gone {
		o.Kept = "the sandbox is gone"
		return nil
	}
	b := o.View.Box(&look.Sandbox)
	if r.policy.Providers[ref.Provider].ByRow(b.Sandbox) {
		b.Own().Owned = b.Owned || b.Seen().Task != ""
	}
	if !r.policy.Tasks.None {
		if err := r.recheckRows(ctx, s, &b); err != nil {
			return err
		}
	}
	task := o.View.TaskOf(&b, nil)
	fate, row := o.View.LinkState(b, task)
	subject := reconcile.BoxedSubject(b, fate)
	if row != nil {
		subject = o.View.TaskSubject(row, []reconcile.SeenSandbox{b})
		subject.LinkState = fate
	}
	o.Subject = &subject
	return nil
}

func (r *looker) recheckRows(ctx context.Context, s *reconcile.Snapshot, b *reconcile.SeenSandbox) error {
	if err := r.k.observer().readByKey(ctx, s, b.Keys()); err != nil {
		return err
	}
	if err := r.k.observer().readFurther(ctx, s, []reconcile.Sandbox{*b.Sandbox}); err != nil {
		return err
	}
	if id := r.view.TaskOf(b, nil); id != "" {
		return r.k.observer().readByID(ctx, s, []string{id})
	}
	return nil
}
