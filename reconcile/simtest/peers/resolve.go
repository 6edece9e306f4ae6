package peers

import (
	"context"
	"errors"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// resolve finds out which sandbox each live row means. These systems write the provider's id
// into the row when they create a sandbox; where the table of the simulated platform holds
// another name, it is looked up once, by link, and remembered.
func (j *Janitor) resolve(ctx context.Context, v *View) {
	v.Refs = map[string]reconcile.Ref{}
	for _, t := range v.Tasks {
		if t.Sandbox == "" {
			continue
		}
		key := t.ID + " " + t.Sandbox
		if _, known := j.Memory.refs[key]; !known {
			if ref, found := j.find(ctx, t); found {
				j.Memory.refs[key] = ref
			}
		}
		if ref, known := j.Memory.refs[key]; known {
			v.Refs[t.ID] = ref
		}
	}
}

func (j *Janitor) find(ctx context.Context, t reconcile.Task) (reconcile.Ref, bool) {
	for _, name := range j.names() {
		if t.Provider != "" && t.Provider != name {
			continue
		}
		if j.Exact[name] && (t.Provider != "" || len(j.Providers) == 1) {
			return reconcile.Ref{Provider: name, ID: t.Sandbox}, true
		}
		if ref, found := j.findAt(ctx, name, t); found {
			return ref, true
		}
	}
	return reconcile.Ref{}, false
}

// findAt asks one provider: by id where rows hold ids, else for the newest sandbox whose label
// names the task.
func (j *Janitor) findAt(ctx context.Context, name string, t reconcile.Task) (reconcile.Ref, bool) {
	ref := reconcile.Ref{Provider: name, ID: t.Sandbox}
	if j.Exact[name] {
		_, err := j.Providers[name].Get(ctx, t.Sandbox)
		return ref, err == nil
	}
	boxes, err := j.Providers[name].Find(ctx, t.ID)
	if err != nil || len(boxes) == 0 {
		return ref, false
	}
	newest := boxes[0]
	for _, b := range boxes {
		if names(t, b) && b.CreatedAt.After(newest.CreatedAt) {
			newest = b
		}
	}
	return newest.Ref, true
}

// visit gets the sandbox of each live row by its id. Only the answer that it is not there means
// gone; any other error means that nothing is known.
func (j *Janitor) visit(ctx context.Context, v *View) {
	v.Looks = map[string]reconcile.Lookup{}
	for _, t := range v.Tasks {
		ref, known := v.Refs[t.ID]
		if !known {
			continue
		}
		box, err := j.Providers[ref.Provider].Get(ctx, ref.ID)
		look := reconcile.Lookup{Sandbox: box}
		switch {
		case errors.Is(err, reconcile.ErrNotFound):
			look.Gone = true
		case err != nil:
			look.Error = err.Error()
		}
		v.Looks[t.ID] = look
	}
}
