package told

import (
	"context"
	"fmt"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// follow notes which findings a record of a pass says are over, and whether a call of ours had an effect on what they
// are about while they were open.
func (r *Reader) follow(rec *reconcile.Record) {
	for _, key := range rec.Resolved {
		was, open := r.open[key]
		if open && r.touched(&was.Finding, was.step) {
			r.ours[key.Rule] = append(r.ours[key.Rule], key.Subject)
		} else {
			r.alone[key.Rule]++
		}
		delete(r.open, key)
	}
	for i := range rec.Findings {
		key := rec.Findings[i].Key()
		was, open := r.open[key]
		if !open {
			was.step = r.step
		}
		was.Finding = rec.Findings[i]
		r.open[key] = was
	}
}

// touched reports whether a call of ours had an effect, after a step, on what the finding is about.
func (r *Reader) touched(f *reconcile.Finding, since int) bool {
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

// unasked is "no request of sandkeeper's for its end stands", said of what the ledger has one of.
func (r *Reader) unasked(o *reconcile.Overview) string {
	for i := range o.Findings {
		f := &o.Findings[i]
		box := reconcile.Ref{Provider: f.Provider, ID: f.Sandbox}
		if len(r.onRecord[box]) > 0 && reconcile.IsUnasked(f.Reason) {
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

// saved are the sandboxes whose cost is said to be saved: no more at a provider than an answer of it said that our
// request for their end was heard of.
func (r *Reader) saved(ctx context.Context) string {
	m, err := r.ledger.Measures(ctx)
	if err != nil {
		return err.Error()
	}
	left := map[string]int{}
	for ref := range r.heard {
		left[ref.Provider]++
	}
	for _, s := range m.Saved {
		if left[s.Provider] -= s.Count; left[s.Provider] < 0 {
			return fmt.Sprintf("the cost of %d more sandboxes of %s is said to be saved than we were heard about",
				-left[s.Provider], s.Provider)
		}
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
