package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// duplicate finds a second live sandbox of one task. The others are ended only when the
// row names one by an id that the provider knows; else it is reported.
func duplicate(v *view.View, s *reconcile.Subject) Result {
	if s.Task == nil || s.LinkState != reconcile.LinkLive {
		return apart(v, s, "live tasks are")
	}
	var live []*reconcile.SeenSandbox
	for i := range s.Boxes {
		b := &s.Boxes[i]
		//guard:duplicate-alive harm
		if b.Alive() && b.Owned && !v.Ending[b.Ref] && !v.P.IsLeft(b.Sandbox) && !v.S.Lookups[b.Ref].Gone &&
			!namesOther(s, b) {
			live = append(live, b)
		}
	}
	//guard:duplicate-again harm
	if b := shownAgain(v, live); b != nil {
		return Result{NeedsLookup: v.CanLook(s.Task), Suspect: "sandbox " + b.ID + " was gone before and is listed again"}
	}
	live = distinctSandboxes(v, s.Task, live)
	//guard:duplicate-usual harm
	usual := max(s.Task.Sandboxes, 1)
	if len(live) <= usual {
		return no(v, func() string { return fmt.Sprintf("%d live sandboxes of it are here, %d are right", len(live), usual) })
	}
	keep, named := named(v, s.Task, live)
	if !named {
		keep = live[0] // any: it is only reported
	}
	other := spare(ownAlone(v, s.Task, live), keep)
	if other == nil {
		other = spare(live, keep)
	}
	after := After(v, "duplicate", s)
	//guard:duplicate-age harm
	if age := min(v.Born(*other), v.Born(*keep)); age < after {
		return Result{
			Suspect: fmt.Sprintf("has %d sandboxes, the younger for %s of %s", len(live), text.Duration(age),
				text.Duration(after)),
		}
	}
	out := Result{
		//guard:duplicate-named harm
		//guard:duplicate-which harm
		Found: true, Due: true, Sandbox: other, Report: !named || usual > 1, Holds: boxUnsure(other),
		Reason: fmt.Sprintf("task has %d live sandboxes: %s", len(live), boxIDs(live)),
		Evidence: []reconcile.Evidence{
			{Source: "tasks", At: s.Task.AsOf, Fact: fmt.Sprintf("the row names sandbox %q", s.Task.Sandbox)},
		},
	}
	if named {
		out.Reason += "; the row names " + keep.ID
	}
	for _, b := range live {
		out.Evidence = append(out.Evidence, boxSeenAs(b))
	}
	return out
}

// namesOther reports whether the sandbox's own link names another task, whatever the row holds: the second look takes
// it for none of this task's, and what is planned against that would be withdrawn in each pass.
func namesOther(s *reconcile.Subject, b *reconcile.SeenSandbox) bool {
	//guard:duplicate-names-other live
	return b.Task != "" && b.Task != s.Task.ID
}

// shownAgain is one that was gone and that a listing shows again, without a look of this pass: a listing of long ago
// does, and another one goes on with its work.
func shownAgain(v *view.View, live []*reconcile.SeenSandbox) *reconcile.SeenSandbox {
	for _, b := range live {
		if _, looked := v.S.Lookups[b.Ref]; b.Known && !b.Seen().GoneAt.IsZero() && !looked {
			return b
		}
	}
	return nil
}

// named is the one sandbox that the row names by the provider's own id. Two accounts may use
// the same id, and two entries may show one sandbox; then nothing tells which is meant.
func named(v *view.View, t *reconcile.Task, live []*reconcile.SeenSandbox) (keep *reconcile.SeenSandbox, ok bool) {
	for _, b := range live {
		if v.P.Providers[b.Provider].SandboxIsID && t.Sandbox != "" && t.Sandbox == b.ID && !v.Elsewhere(t, b.Sandbox) {
			//guard:duplicate-same-id harm
			if ok {
				return nil, false
			}
			keep, ok = b, true
		}
	}
	//guard:duplicate-shared harm
	sure := !ok || !slices.ContainsFunc(live, func(b *reconcile.SeenSandbox) bool {
		return v.Shared(b.Sandbox,
			keep.Sandbox)
	})
	return keep, ok && sure
}

// distinctSandboxes leaves out what two entries surely show of one sandbox, except at the one that the row
// names.
func distinctSandboxes(v *view.View, t *reconcile.Task, live []*reconcile.SeenSandbox) []*reconcile.SeenSandbox {
	return slices.DeleteFunc(slices.Clone(live), func(b *reconcile.SeenSandbox) bool {
		return slices.ContainsFunc(live, func(o *reconcile.SeenSandbox) bool {
			same := v.Shared(b.Sandbox, o.Sandbox) && !b.CreatedAt.IsZero() && b.CreatedAt.Equal(o.CreatedAt)
			return same && (o.Provider == t.Provider || b.Provider != t.Provider && o.Provider < b.Provider)
		})
	})
}

// ownAlone leaves out what the row of another task names: that one is not to end, and must not stand before others.
func ownAlone(v *view.View, t *reconcile.Task, live []*reconcile.SeenSandbox) []*reconcile.SeenSandbox {
	return slices.DeleteFunc(slices.Clone(live), func(b *reconcile.SeenSandbox) bool { return UsedBy(v, t, b) != "" })
}

// UsedBy is another task, of those that are not over, whose row names this task's sandbox, whether this one's own does
// so, too, or only its label says so; "" for none. Nothing ends it then, see the objection used: what is planned all
// the same would be withdrawn in each pass, and take the place of others in the budgets.
func UsedBy(v *view.View, t *reconcile.Task, b *reconcile.SeenSandbox) string {
	if t == nil {
		return ""
	}
	return UsedBut(v, t.ID, b)
}

// UsedBut is the same of a sandbox whose task has ended, or which has none: with no id, any task's row counts. A row
// that holds a name which many have counts for none but its task's own, where that one is here.
func UsedBut(v *view.View, task string, b *reconcile.SeenSandbox) string {
	uses := func(o *reconcile.Task) bool {
		named := o.ID != task && !o.State.Terminal() && slices.Contains(b.Called(), o.Sandbox) && !v.Elsewhere(o, b.Sandbox)
		//guard:used-own-named live
		return named && !v.MeansAnother(o, b.Sandbox)
	}
	for o := range v.Naming(b.Sandbox) {
		if uses(o) {
			return o.ID
		}
	}
	if row, read := v.S.Named(b.Sandbox); read && uses(&row) {
		return row.ID
	}
	return ""
}

// spare is the sandbox to end next: not the one that is kept, and one in an unknown state,
// which is never ended, only when there is no other.
func spare(live []*reconcile.SeenSandbox, keep *reconcile.SeenSandbox) *reconcile.SeenSandbox {
	var last *reconcile.SeenSandbox
	for i := len(live) - 1; i >= 0; i-- {
		if b := live[i]; b != keep && (last == nil || b.State != reconcile.SandboxUnknown ||
			last.State == reconcile.SandboxUnknown) {
			last = b
		}
	}
	return last
}

// boxIDs names sandboxes: by id, and with the provider where two have the same.
func boxIDs(boxes []*reconcile.SeenSandbox) string {
	met, twice := map[string]bool{}, false
	for _, b := range boxes {
		twice = twice || met[b.ID]
		met[b.ID] = true
	}
	out := make([]string, len(boxes))
	for i, b := range boxes {
		if out[i] = b.ID; twice {
			out[i] = b.Ref.String()
		}
	}
	return strings.Join(out, ", ")
}
