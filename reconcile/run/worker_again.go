package run

import (
	"context"
	"fmt"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/decide"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// keep keeps what a quick pass by what has changed knows of the world, for workers of this process: to read everybody
// for what it has just planned would take longer than all else. Of any other pass nothing is kept.
func (st *Standing) keep(k *Reconciler, r *Result) {
	if st == nil {
		return
	}
	v := r.Judged.View
	if v.S.Kind != reconcile.Quick || v.S.Plain.Tasks == 0 || len(v.S.Memory.Actions)+len(r.Plan.Actions) == 0 {
		st.made.Store(nil)
		return
	}
	in, judged, seen := *k, *r.Judged, *v
	in.Policy, in.pushed, in.lists = *v.P, nil, false
	seen.Rules = view.ActiveRules(reconcile.Full, v.P) // as in any worker's second look
	judged.View = &seen
	s := &workerView{pass: r.Pass, due: map[string]bool{}, rows: map[string]bool{}, made: time.Now(),
		result: &Result{Pass: r.Pass, Kind: reconcile.Full, At: r.At, Complete: true, Judged: &judged, Sources: r.Sources,
			Counts: r.Counts, Plan: &decide.Plan{}, reconciler: &in}}
	for i := range r.Plan.Steps {
		a := &r.Plan.Steps[i]
		s.due[a.ID] = len(a.HeldBy) == 0
		if a.Seq == 0 && a.Step.OnRow() && !a.Asked() && !reconcile.RuleNamed(a.Rule).FullOnly {
			s.rows[a.Remedy] = true
		}
	}
	st.made.Store(s)
}

// beginBy makes a run for a job by what the newest pass of this very process knows; nil where all rows are to be read
// for it. What this pass planned for a row needs no more: it found that no row which it did not read has to do with
// it, and each step looks again at the row, at the sandbox and for whoever names that. Neither does what was accepted,
// and is only looked after.
func (w *Worker) beginBy(ctx context.Context, steps []reconcile.Action) (*executor, error) {
	st := w.reconciler.Standing
	if st == nil {
		return nil, nil
	}
	s := st.made.Load()
	if s == nil || time.Since(s.made) > keepFor {
		return nil, nil
	}
	pass, err := w.passes.LastRecorded(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the number of the last pass: %w", err)
	}
	//guard:worker-part-newest once
	if pass != s.pass {
		return nil, nil
	}
	own := *s
	result := *s.result
	result.logs, own.result = &w.logs, &result
	r, err := w.runBy(ctx, &own)
	if err != nil {
		return nil, err
	}
	for i := range steps {
		a := &steps[i]
		//guard:worker-part-row harm
		if !s.rows[a.Remedy] && (a.Outcome != reconcile.OutcomeAccepted || r.confirmer().overdue(a, r.now)) {
			return nil, nil
		}
	}
	return r, nil
}
