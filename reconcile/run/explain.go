package run

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/decide"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// An Explained is what a look at one task or sandbox came to. Nothing was changed for it.
type Explained struct {
	At       time.Time
	Listed   time.Time        // when the providers were listed: for it, or by the last full pass
	Whole    bool             // they were listed for it; else only the thing itself was looked at
	Decision *decide.Decision // nil when no pass judges it: it is over, or outside of what is judged
	Plan     *decide.Plan     // of this one subject; empty without a decision
	Row      *reconcile.Task  // without a decision: the row as it is, nil when there is none
	Foreign  []reconcile.Ref  // sandboxes that go by the id and are somebody else's
	Sources  []reconcile.SourceSeen

	Incidents []reconcile.Incident // open ones that its failures are part of
	Verdicts  []reconcile.Verdict  // on it, as the history has them

	Judged *decide.Judgement // of this one subject; nil without a decision
}

// Explain looks at one task or sandbox and judges it as a full pass would. What the ledger
// has of the rest of the fleet, the live rows of now and the trust that the passes left stand
// for a listing; the sandboxes of the subject are got by id and searched by link, and its row
// is read by key. So what the verdict takes from other subjects, as which task misses a
// sandbox, is as of the last listing. Only when the ledger's picture is not fresh, or knows
// nothing of the id, every provider is listed. h is what the ledger's history has of it.
func (k *Reconciler) Explain(ctx context.Context, id string, h reconcile.History) (*Explained, error) {
	s, err := k.newWorkerView(ctx, 0)
	if err != nil {
		return nil, err
	}
	if s.result.Judged.View.Fresh() {
		e, err := s.explain(ctx, k.Holder, id, h)
		if err != nil || e.settled(s.result.Judged.View, id, h) {
			return e, err
		}
	}
	return k.explainWhole(ctx, id, h)
}

// settled reports whether looking at the one thing was enough: it was met, or the ledger
// knows what it was. A name may be another sandbox's by now, and a sandbox that only a name
// ties to its task is found by a listing alone.
func (e *Explained) settled(v *view.View, id string, h reconcile.History) bool {
	if d := e.Decision; d != nil {
		if heldUnlisted(v, d.Subject.ID) {
			return false
		}
		return d.Subject.LinkState != reconcile.LinkLive || d.Subject.Task == nil || len(d.Subject.Boxes) > 0 ||
			!v.Blind(d.Subject.Task)
	}
	named := func(b reconcile.SandboxSeen) bool { return b.Name == id && b.ID != id }
	return e.Row != nil || len(e.Foreign) > 0 || !h.Empty() && !slices.ContainsFunc(h.Sandboxes, named)
}

// heldUnlisted reports whether the last pass held what it found of the subject by what it saw in a listing, such as
// sandboxes that nothing gives to a task: a look at the one thing does not see these, and would say that it is to do.
func heldUnlisted(v *view.View, subject string) bool {
	for key := range v.S.Memory.Findings {
		if _, held := v.S.Memory.Findings[key].HeldBy.Of(reconcile.HeldUnlooked); held && key.Subject == subject {
			return true
		}
	}
	return false
}

// explainWhole looks at everything and picks out the one thing.
func (k *Reconciler) explainWhole(ctx context.Context, id string, h reconcile.History) (*Explained, error) {
	r, err := k.Plan(ctx, reconcile.Full)
	if err != nil {
		return nil, err
	}
	e := &Explained{At: r.At, Listed: r.At, Whole: true, Sources: r.Sources, Plan: &decide.Plan{}}
	if e.Decision = r.Decision(id, h); e.Decision != nil {
		e.Judged, e.Plan = r.Judged, planOf(r.Plan, e.Decision.Subject.ID)
	}
	e.related(r.Judged.View, h)
	if e.Decision != nil {
		return e, nil
	}
	o := r.reconciler.newExecutor(reconcile.WorkerLease(k.Holder), r).alone()
	e.Row, err = r.reconciler.rowOf(ctx, o, soughtTask(id, nil, h))
	return e, err
}

// explain looks at one thing and judges it.
func (s *workerView) explain(ctx context.Context, holder, id string, h reconcile.History) (*Explained, error) {
	r := s.result.reconciler.newExecutor(reconcile.WorkerLease(holder), s.result)
	o, e := r.alone(), &Explained{At: s.result.At, Sources: s.result.Sources, Plan: &decide.Plan{}}
	e.Listed = o.View.S.Memory.LastFull
	known := s.result.Decision(id, h)
	task := soughtTask(id, known, h)
	subject, err := r.lookTask(ctx, o, task)
	if err != nil {
		return nil, err
	}
	if subject == nil {
		subject, err = r.lookSandboxes(ctx, o, e, r.soughtRefs(id, known, h))
	}
	if err != nil {
		return nil, err
	}
	if row, found := o.View.S.Rows[task]; found && subject == nil {
		e.Row = &row
	}
	if subject != nil {
		e.judge(s, o.View, subject)
	}
	e.related(o.View, h)
	return e, nil
}

// judge comes to the decision and the plan of the one subject.
func (e *Explained) judge(s *workerView, v *view.View, subject *reconcile.Subject) {
	e.Judged = &decide.Judgement{Decisions: []decide.Decision{decide.Decide(v, subject)}, Sources: e.Sources,
		Fleet: s.result.Judged.Fleet, View: v}
	e.Decision = &e.Judged.Decisions[0]
	e.Plan = planOf(decide.MakePlan(e.Judged, 0), subject.ID)
	planStillWait(e.Plan, &v.S.Memory)
	for _, key := range memoryOpenReports(&v.S.Memory) {
		e.Judged.Reports = append(e.Judged.Reports, v.S.Memory.Findings[key])
	}
}

// memoryOpenReports are the findings of the passes that are about the whole fleet.
func memoryOpenReports(m *reconcile.Memory) []reconcile.FindingKey {
	var keys []reconcile.FindingKey
	for key := range m.Findings {
		if kind := reconcile.TypeOf(key.Subject); kind != reconcile.SubjectTask && kind != reconcile.SubjectSandbox {
			keys = append(keys, key)
		}
	}
	slices.SortFunc(keys, func(a, b reconcile.FindingKey) int {
		return cmp.Or(cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Subject, b.Subject))
	})
	return keys
}

// planOf is the part of the plan that is about one subject.
func planOf(p *decide.Plan, subject string) *decide.Plan {
	out := &decide.Plan{}
	for i := range p.Steps {
		if p.Steps[i].Subject == subject {
			out.Steps = append(out.Steps, p.Steps[i])
		}
	}
	for i := range p.Findings {
		if p.Findings[i].Subject == subject {
			out.Findings = append(out.Findings, p.Findings[i])
		}
	}
	return out
}

// planStillWait is for budgets, which are the whole fleet's: what the last pass held back for
// one still waits.
func planStillWait(p *decide.Plan, m *reconcile.Memory) {
	for i := range p.Findings {
		f := &p.Findings[i]
		by, budget := m.Findings[f.Key()].HeldBy.Of(reconcile.HeldBudget)
		if !budget || len(f.HeldBy) > 0 {
			continue
		}
		by.Reason = "by the last pass"
		f.HeldBy = reconcile.HeldBy{by}
		for j := range p.Steps {
			if s := &p.Steps[j]; s.Rule == f.Rule && s.Outcome == reconcile.OutcomePending && s.ClaimedAt.IsZero() &&
				len(s.HeldBy) == 0 {
				s.HeldBy = f.HeldBy
			}
		}
	}
}

// related picks out the verdicts on the subject and the open incidents of its failures.
func (e *Explained) related(v *view.View, h reconcile.History) {
	e.Verdicts = h.Verdicts
	of := map[string]bool{}
	for i := range e.Verdicts {
		of[e.Verdicts[i].Signature] = true
	}
	for i := range e.Plan.Steps {
		of[e.Plan.Steps[i].Signature] = true
	}
	for i := range v.S.Memory.Controls.Incidents {
		if one := v.S.Memory.Controls.Incidents[i]; of[one.Signature] && one.Signature != "" {
			one.Cause = one.CauseSaid(v.Now, v.Templates())
			e.Incidents = append(e.Incidents, one)
		}
	}
}
