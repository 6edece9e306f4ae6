package reconcile

import (
	"fmt"
	"slices"
	"strings"
)

// A Plan is what a pass will do, and what it will not do and why. Planning is pure.
type Plan struct {
	Steps     []PlannedStep
	Findings  []Finding // all, with what holds them
	Actions   []Action  // new ones, to be recorded
	Withdrawn []string  // open actions, not begun, whose finding no longer holds
	Breakers  map[string]Breaker
	Kept      int
}

// A PlannedStep is one step of one remedy with the verdict on it.
type PlannedStep struct {
	Action
	Mode   Mode
	HeldBy string // "" means do
}

// draft is one remedy before budgets.
type draft struct {
	finding *Finding
	mode    Mode
	holds   []string
	steps   []Action
	rowOnly bool
}

// MakePlan turns a judgement into steps: modes, rollout, pauses, holds, breakers and
// budgets, in this order. pass is the number of the pass, 0 for a plan that is only shown.
func MakePlan(j *Judgement, pass int64) *Plan {
	v := j.view
	out := &Plan{Breakers: map[string]Breaker{}}
	open := v.openActions()
	var drafts []*draft
	for i := range j.Decisions {
		d := &j.Decisions[i]
		if len(d.Findings) == 0 {
			out.Kept++
		}
		if r := v.draft(d, open); r != nil {
			drafts = append(drafts, r)
		}
	}
	v.breakers(drafts, j, out)
	v.budgets(drafts, j.Fleet, open)
	for _, r := range drafts {
		v.emit(out, r, pass, open)
	}
	out.Findings = v.allFindings(j, drafts)
	out.Withdrawn = v.withdrawn(drafts)
	return out
}

// openActions are the open actions by subject, step and sandbox.
func (v *view) openActions() map[stepKey]*Action {
	open := map[stepKey]*Action{}
	for i := range v.s.Memory.Actions {
		a := &v.s.Memory.Actions[i]
		open[a.key()] = a
	}
	return open
}

// A stepKey names a step; at most one action of it is open.
type stepKey struct {
	step         Step
	task         string
	provider, id string
}

func (a *Action) key() stepKey {
	if a.Step == StepTerminate {
		return stepKey{step: a.Step, provider: a.Provider, id: a.Sandbox}
	}
	return stepKey{step: "row", task: a.Task}
}

// draft chooses the decisive finding of a subject: the first that may act, else the first
// that is due.
func (v *view) draft(d *Decision, open map[stepKey]*Action) *draft {
	var chosen *draft
	for i := range d.Findings {
		f := &d.Findings[i]
		if !f.Due || d.Remedies[i] == Report {
			continue
		}
		r := &draft{finding: f, mode: v.p.Rules[f.Rule].Mode, holds: v.holds(d, f)}
		if chosen == nil || len(chosen.holds) > 0 && len(r.holds) == 0 {
			r.steps = v.remedySteps(d, f, d.Remedies[i])
			if len(r.steps) > 0 {
				chosen = r
			}
		}
	}
	if chosen == nil {
		return nil
	}
	if v.begun(chosen, open) {
		return nil // its remedy is under way and follows its own actions
	}
	chosen.rowOnly = v.rowOnly(d, chosen.steps)
	return chosen
}

// begun reports whether the first step is under way already, or any of them waits under
// another remedy: that one ends or is withdrawn first, so that a sandbox never goes before
// the row that this remedy writes.
func (v *view) begun(r *draft, open map[stepKey]*Action) bool {
	for i := range r.steps {
		a := open[r.steps[i].key()]
		if a != nil && (i == 0 && a.begun() || a.Rule != r.finding.Rule || a.Subject != r.finding.Subject) {
			return true
		}
	}
	return false
}

// holds are all that keeps a due finding from being repaired, before budgets.
func (v *view) holds(d *Decision, f *Finding) []string {
	p := v.p.Rules[f.Rule]
	holds := slices.Clone(f.HeldBy)
	if p.Mode != Enforce {
		holds = append(holds, string(p.Mode))
	}
	if !rolledOut(f.Rule, f.Subject, p.Rollout) {
		holds = append(holds, fmt.Sprintf("rollout: %d%%", p.Rollout))
	}
	c := v.s.Memory.Controls
	c.Modes = nil // already in the policy
	for i := range d.Subject.Boxes {
		b := &d.Subject.Boxes[i]
		holds = appendNew(holds, controlHolds(&c, target{
			rule: f.Rule, subject: f.Subject, provider: b.Provider, sandbox: b.ID, task: f.Task,
			names: []string{b.Name}, labels: b.Labels})...)
	}
	if len(d.Subject.Boxes) == 0 {
		holds = appendNew(holds, controlHolds(&c, target{rule: f.Rule, subject: f.Subject, task: f.Task})...)
		holds = appendNew(holds, v.providerPauses(d)...)
	}
	return holds
}

// providerPauses hold a task without a sandbox when every provider that it may be at is
// paused or held.
func (v *view) providerPauses(d *Decision) []string {
	var all []string
	for _, name := range v.providersOf(d.Subject) {
		c := v.s.Memory.Controls
		c.Modes = nil
		holds := controlHolds(&c, target{provider: name})
		if len(holds) == 0 {
			return nil
		}
		all = appendNew(all, holds...)
	}
	return all
}

func appendNew(list []string, more ...string) []string {
	for _, m := range more {
		if !slices.Contains(list, m) {
			list = append(list, m)
		}
	}
	return list
}

// emit adds a remedy's steps to the plan, and its actions when it may be done.
func (v *view) emit(out *Plan, r *draft, pass int64, open map[stepKey]*Action) {
	heldBy := strings.Join(r.holds, "; ")
	remedy := ""
	for i := range r.steps {
		a := r.steps[i]
		a.Seq, a.Pass, a.PlannedAt, a.Outcome, a.RowOnly = i, pass, v.now, OutcomePending, r.rowOnly
		if before := open[a.key()]; before != nil {
			a = *before
		} else {
			a.ID = actionID(v.p.Installation, pass, v.now.UnixNano(), &a)
			a.Remedy = firstOf(remedy, a.ID)
			if heldBy == "" {
				out.Actions = append(out.Actions, a)
			}
		}
		remedy = firstOf(remedy, a.Remedy)
		out.Steps = append(out.Steps, PlannedStep{Action: a, Mode: r.mode, HeldBy: heldBy})
	}
}

// allFindings are the findings of the pass with what holds them.
func (v *view) allFindings(j *Judgement, drafts []*draft) []Finding {
	held := map[FindingKey][]string{}
	for _, r := range drafts {
		held[r.finding.Key()] = r.holds
	}
	var out []Finding
	for i := range j.Decisions {
		for _, f := range j.Decisions[i].Findings {
			if holds, decisive := held[f.Key()]; decisive {
				f.HeldBy = holds
			}
			out = append(out, f)
		}
	}
	return append(out, j.Reports...)
}

// withdrawn are the open actions that nobody has begun and that this pass does not call
// for any more, or that are held now.
func (v *view) withdrawn(drafts []*draft) []string {
	wanted := map[stepKey]bool{}
	for _, r := range drafts {
		for i := range r.steps {
			wanted[r.steps[i].key()] = len(r.holds) == 0
		}
	}
	gone := map[string]bool{}
	for i := range v.s.Memory.Actions {
		a := &v.s.Memory.Actions[i]
		if a.Seq == 0 && !a.begun() && a.Outcome == OutcomePending && !wanted[a.key()] && v.s.Kind == Full {
			gone[a.Remedy] = true
		}
	}
	var out []string
	for i := range v.s.Memory.Actions {
		if a := &v.s.Memory.Actions[i]; gone[a.Remedy] {
			out = append(out, a.ID)
		}
	}
	return out
}
