package result

import (
	"fmt"
	"slices"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/run"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// past is for what no pass judges any more: the row as it is, and the sandboxes as the
// ledger last saw them.
func (e *Explanation) past(x *run.Explained, h reconcile.History) {
	for _, b := range h.Sandboxes {
		e.Subject = reconcile.BoxSubject(b.Ref)
		box := reconcile.RememberedBox(b.Compact())
		box.State, box.Raw, box.CreatedAt, box.Gone = b.State, b.Raw, b.CreatedAt, !b.GoneAt.IsZero()
		e.Sandboxes = append(e.Sandboxes, sandboxOf(box))
		if e.Kept = whatBecame(b, x.Sources); slices.Contains(x.Foreign, b.Ref) {
			e.Kept = fmt.Sprintf("sandbox %s is there, and is not proven ours any more: its labels or its name changed "+
				"(see owns: of its provider entry)", b.Ref)
		}
	}
	e.Sources = SourcesOf(x.Sources)
	if x.Row == nil {
		return
	}
	e.Task = taskOf(x.Row, reconcile.TaskSeen{})
	if id, _ := reconcile.OfType(reconcile.SubjectTask, e.ID); x.Row.ID == id {
		e.Subject, e.Kept = "", ""
	}
	e.Subject = reconcile.FirstOf(e.Subject, reconcile.TaskSubject(x.Row.ID))
	if e.Kept != "" {
		return
	}
	e.Kept = "the row is outside `where`, or has a status that the config does not map"
	if x.Row.State.Rests() && !x.Row.Outside {
		e.Kept = fmt.Sprintf("the task is %s by design, its status is %s, and no sandbox of it was seen",
			x.Row.State, text.Clip(x.Row.Status, 60))
	}
	if x.Row.State.Terminal() {
		e.Kept = "the task is over and no sandbox of it is left"
		if i := slices.IndexFunc(h.Sandboxes, func(b reconcile.SandboxSeen) bool { return b.GoneAt.IsZero() }); i >= 0 {
			e.Kept = "the task is over; " + whatBecame(h.Sandboxes[i], x.Sources)
		}
	}
}

// whatBecame is what is known of a sandbox that no pass judges. One that nobody saw go is not
// gone: its listing may be what cannot be seen.
func whatBecame(b reconcile.SandboxSeen, sources []reconcile.SourceSeen) string {
	if !b.GoneAt.IsZero() {
		return "the sandbox is gone since " + text.Time(b.GoneAt)
	}
	text := fmt.Sprintf("sandbox %s was %s when it was seen last, and was not seen now",
		b.Ref, reconcile.FirstOf(b.Raw, string(b.State)))
	if slices.ContainsFunc(sources, func(s reconcile.SourceSeen) bool {
		return s.Name == reconcile.ListingOf(b.Ref.Provider) && !s.Trusted
	}) {
		text += ": whether it is still there is not known until the listing of " + b.Ref.Provider + " is trusted again"
	}
	return text
}
