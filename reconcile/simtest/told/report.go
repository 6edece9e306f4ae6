package told

import (
	"context"
	"fmt"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// follow notes which findings are over, and whether a call of ours had an effect on what they are about meanwhile.
func (r *Reader) follow(o *reconcile.Overview) {
	for i := range o.Resolved {
		f := &o.Resolved[i]
		key := overKey{f.Key(), f.ResolvedAt}
		since, known := r.open[f.Key()]
		if r.over[key] {
			continue
		}
		r.over[key] = true
		if !known || !r.touched(f, since) {
			r.alone[f.Rule]++
		} else {
			r.ours[f.Rule] = append(r.ours[f.Rule], f.Subject)
		}
		delete(r.open, f.Key())
	}
	for i := range o.Findings {
		if _, known := r.open[o.Findings[i].Key()]; !known {
			r.open[o.Findings[i].Key()] = r.recorded
		}
	}
}

// touched reports whether a call of ours had an effect, after a step, on what the finding is about.
func (r *Reader) touched(f *reconcile.FindingSeen, since int) bool {
	task, _ := reconcile.OfType(reconcile.SubjectTask, f.Subject)
	box := reconcile.Ref{Provider: f.Provider, ID: f.Sandbox}
	if f.Rule == "terminating-stuck" && r.ended[box] {
		return true // however long ago: it goes because of that
	}
	for i := len(r.effects) - 1; i >= 0 && r.effects[i].step > since; i-- {
		e := r.effects[i]
		// What is nobody's may name any task: one whose row we wrote does not explain it for that.
		named := e.task == f.Task && f.Rule != "orphan"
		if e.task != "" && (named || e.task == task) || e.box.ID != "" && e.box == box {
			return true
		}
	}
	return false
}

// unasked is "sandkeeper has no record of having asked for it", said of what the ledger has it of.
func (r *Reader) unasked(o *reconcile.Overview) string {
	for i := range o.Findings {
		f := &o.Findings[i]
		box := reconcile.Ref{Provider: f.Provider, ID: f.Sandbox}
		if r.onRecord[box] && reconcile.IsUnasked(f.Reason) {
			return fmt.Sprintf("%s of %s says: %s", f.Rule, box, f.Reason)
		}
	}
	return ""
}

// report is "by itself", said of what we repaired. Its times are the ledger's: where that clock was set back, nobody
// can tell by it what came first.
func (r *Reader) report(ctx context.Context) string {
	if r.truth.SetBack() {
		return ""
	}
	rules, err := r.ledger.Report(ctx, forever)
	if err != nil {
		return err.Error()
	}
	for i := range rules {
		if of := &rules[i]; of.Resolved > r.alone[of.Rule] {
			return fmt.Sprintf("the report says that %d findings of %s were over by themselves, and %d were: of %q we "+
				"ended or wrote something", of.Resolved,
				of.Rule, r.alone[of.Rule], r.ours[of.Rule])
		}
	}
	return ""
}

const forever = 1000 * 24 * time.Hour

// saved are the sandboxes whose cost is said to be saved: no more than we asked for.
func (r *Reader) saved(ctx context.Context) string {
	m, err := r.ledger.Measures(ctx)
	if err != nil {
		return err.Error()
	}
	n := 0
	for _, s := range m.Saved {
		n += s.Count
	}
	if n > r.asked {
		return fmt.Sprintf("the cost of %d sandboxes is said to be saved, and we asked %d times that one go", n, r.asked)
	}
	return ""
}

// confirmed are the terminations that the targets count: no more than were
// asked for. What is missed is the rest.
func (r *Reader) confirmed(o *reconcile.Overview) string {
	if o.Scores.Confirmed > r.asked {
		return fmt.Sprintf("%d terminations are said to be confirmed, and we asked %d times", o.Scores.Confirmed, r.asked)
	}
	return ""
}
