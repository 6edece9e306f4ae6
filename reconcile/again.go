package reconcile

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// errUnknown is a second look that could not tell: the action waits.
var errUnknown = errors.New("not known now")

// again looks once more at the action's subject, at the row and at each sandbox by its
// key, and judges it again. It returns the subject as it is now and the finding, nil when
// the verdict no longer holds, with why.
func (r *run) again(ctx context.Context, a *Action) (*second, error) {
	v := *r.view
	s := *v.s
	s.Kind, s.Sandboxes = Full, nil
	s.Rows, s.Absent, s.Unparsable = map[string]Task{}, map[string]bool{}, map[string]bool{}
	s.ByKey, s.Looks, s.Finds = map[Ref]Task{}, map[Ref]Look{}, map[string]FindLook{}
	s.Explained = map[Ref]string{}
	v.s = &s
	//guard:again-own-ending live
	if own := (Ref{a.Provider, a.Sandbox}); v.ending[own] {
		v.ending = maps.Clone(v.ending)
		delete(v.ending, own) // that this very action is under way is no reason to look away
	}
	out := &second{view: &v}
	var err error
	if id, isTask := strings.CutPrefix(a.Subject, "task:"); isTask {
		err = r.taskAgain(ctx, out, id, a)
	} else {
		err = r.sandboxAgain(ctx, out, Ref{a.Provider, a.Sandbox})
	}
	if err != nil || out.subject == nil {
		return out, err
	}
	//guard:again-judged P1
	out.judge(a)
	return out, nil
}

// A second is a second look at one subject and what judging it again says.
type second struct {
	view    *view
	subject *Subject // nil when it is no more
	finding *Finding
	kept    string // why the verdict no longer holds

	controls Controls // the wishes of the moment, read after the look
}

func (o *second) judge(a *Action) {
	d := o.view.decide(o.subject)
	o.kept = firstOf(d.Kept, "it is healthy now")
	for i := range d.Findings {
		f := &d.Findings[i]
		if f.Rule != a.Rule {
			continue
		}
		//guard:again-due P6
		if !f.Due {
			o.kept = "not due any more"
			continue
		}
		//guard:again-unproven live
		if f.unproven() {
			o.kept = strings.Join(f.HeldBy, "; ")
			continue
		}
		//guard:again-report P9
		if d.Remedies[i] == Report {
			o.kept = "the rule only reports it now"
			continue
		}
		o.finding = f
		return
	}
}

// taskAgain reads a task's row by key and gets each of its sandboxes by id; when none is
// known it searches by link.
func (r *run) taskAgain(ctx context.Context, o *second, id string, a *Action) error {
	s := o.view.s
	if r.policy.Tasks.None {
		o.kept = "the config knows no tasks any more"
		return nil
	}
	if err := r.k.readByID(ctx, s, []string{id}); err != nil {
		return err
	}
	row, found := s.Rows[id]
	if !found {
		o.kept = "the row is gone"
		return nil
	}
	subject := o.view.taskSubject(&row, nil)
	refs := r.refsOf(&subject, a)
	r.k.look(ctx, s, refs)
	if err := o.unknown(); err != nil {
		return err
	}
	if !slices.ContainsFunc(o.boxes(refs, id), r.isThere) {
		r.k.find(ctx, s, []*Task{&row})
		if e := s.Finds[id].Error; e != "" {
			return fmt.Errorf("%w: search by link: %s", errUnknown, e)
		}
	}
	return r.rowLast(ctx, o, &subject, o.boxes(refs, id))
}

// rowLast reads the row once more after the looks, which took their time: nothing comes
// between it and the deed.
func (r *run) rowLast(ctx context.Context, o *second, subject *Subject, boxes []Box) error {
	s := o.view.s
	id := subject.Task.ID
	delete(s.Rows, id)
	if err := r.k.readByID(ctx, s, []string{id}); err != nil {
		return err
	}
	//guard:again-row-last P4
	row, found := s.Rows[id]
	if !found {
		o.kept = "the row is gone"
		return nil
	}
	*subject = o.view.taskSubject(&row, boxes)
	if !row.State.Live() || row.Outside {
		subject.Fate = row.fate()
	}
	o.subject = subject
	return nil
}

// refsOf are all sandboxes that a task is known to have had: in this pass, in the ledger,
// and by the row's own word.
func (r *run) refsOf(s *Subject, a *Action) []Ref {
	wanted := map[Ref]bool{}
	for _, b := range r.boxes[s.ID] {
		wanted[b.Ref] = true
	}
	for ref, seen := range r.view.s.Memory.Sandboxes {
		if seen.Task == s.Task.ID && !r.view.confirmedGone(seen) {
			wanted[ref] = true
		}
	}
	if a.Sandbox != "" {
		wanted[Ref{a.Provider, a.Sandbox}] = true
	}
	seen := *s
	seen.Boxes = r.boxes[s.ID]
	for _, ref := range r.view.lookRefs(&seen) {
		wanted[ref] = true
	}
	refs := make([]Ref, 0, len(wanted))
	for ref := range wanted {
		refs = append(refs, ref)
	}
	sortRefs(refs)
	return refs
}

// unknown is an error when a look said neither found nor gone.
func (o *second) unknown() error {
	for ref, look := range o.view.s.Looks {
		if look.Error != "" && !o.known(ref) {
			return fmt.Errorf("%w: look at %s: %s", errUnknown, ref, look.Error)
		}
	}
	return nil
}

// known reports whether a look that failed asked by the name, or another key, of a sandbox that was
// found by its id: what the row holds is no id then, and the answer is there.
func (o *second) known(ref Ref) bool {
	//guard:again-name-id P4
	if _, isID := o.view.s.Memory.Sandboxes[ref]; isID {
		return false
	}
	for at, look := range o.view.s.Looks {
		if at.Provider == ref.Provider && look.Error == "" && !look.Gone && look.Sandbox.calledBy(ref.ID) {
			return true
		}
	}
	return false
}

// isThere reports whether a second look found the sandbox itself: what somebody else runs
// under its id is another one.
func (r *run) isThere(b Box) bool { return !b.Gone && b.State.Exists() && r.proven(&b.Sandbox) }

// boxes are the task's sandboxes as the second look saw them. One that names another task
// by now is not its own any more.
func (o *second) boxes(refs []Ref, task string) []Box {
	var out []Box
	for _, ref := range refs {
		look := o.view.s.Looks[ref]
		seen, known := o.view.s.Memory.Sandboxes[ref]
		switch {
		case look.Gone && known, known && look.Error == "" && seen.another(&look.Sandbox) && look.Sandbox.Task != task:
			out = append(
				out,
				Box{
					Sandbox: Sandbox{Ref: ref, Name: seen.Name, Template: seen.Template},
					Seen:    seen,
					Known:   true,
					Gone:    true,
				},
			)
		case look.Gone:
		//guard:again-other-task harm
		case look.Sandbox.Task == "" || look.Sandbox.Task == task:
			out = append(out, o.referred(&look.Sandbox, task))
		}
	}
	for _, sb := range o.view.s.Finds[task].Sandboxes {
		if _, looked := o.view.s.Looks[sb.Ref]; !looked {
			out = append(out, o.view.box(&sb))
		}
	}
	return out
}

// sandboxAgain gets a sandbox by id and reads the rows that may explain it.
func (r *run) sandboxAgain(ctx context.Context, o *second, ref Ref) error {
	s := o.view.s
	r.k.look(ctx, s, []Ref{ref})
	if err := o.unknown(); err != nil {
		return err
	}
	look := s.Looks[ref]
	if look.Gone {
		o.kept = "the sandbox is gone"
		return nil
	}
	b := o.view.box(&look.Sandbox)
	if r.policy.Providers[ref.Provider].byRow(&b.Sandbox) {
		b.Owned = b.Owned || b.Seen.Task != ""
	}
	if !r.policy.Tasks.None {
		if err := r.rowsAgain(ctx, s, &b); err != nil {
			return err
		}
	}
	task := o.view.taskOf(&b, nil)
	fate, row := o.view.fate(b, task)
	subject := Subject{ID: "sandbox:" + ref.String(), Boxes: []Box{b}, Fate: fate}
	if row != nil {
		subject = o.view.taskSubject(row, []Box{b})
		subject.Fate = fate
	}
	o.subject = &subject
	return nil
}

func (r *run) rowsAgain(ctx context.Context, s *Snapshot, b *Box) error {
	if err := r.k.readByKey(ctx, s, b.keys()); err != nil {
		return err
	}
	if err := r.k.readFurther(ctx, s, []Sandbox{b.Sandbox}); err != nil {
		return err
	}
	if id := r.view.taskOf(b, nil); id != "" {
		return r.k.readByID(ctx, s, []string{id})
	}
	return nil
}
