package reconcile

import (
	"slices"
	"strings"
)

// A Plan is what a pass will do, and what it will not do and why. Planning is pure.
type Plan struct {
	Steps     []PlannedStep
	Findings  []Finding         // all, with what holds them
	Actions   []Action          // new ones, to be recorded
	Withdrawn []string          // open actions, not begun, whose finding no longer holds
	Awakened  map[string]string // of these, the ends of quarantines: why, by id
	Breakers  map[string]Breaker
	Kept      int // healthy subjects
	Unlooked  int // suspects whose turn to be looked at it was not: neither healthy nor found
}

// A PlannedStep is one step of one remedy with the verdict on it.
type PlannedStep struct {
	Action
	Mode   Mode
	HeldBy string // "" means do
}

// MakePlan turns a judgement into steps: modes, rollout, pauses, holds, incidents, breakers
// and budgets, in this order. pass is the number of the pass, 0 for a plan that is only shown.
func MakePlan(j *Judgement, pass int64) *Plan {
	v := j.view
	out := &Plan{Breakers: map[string]Breaker{}}
	open := v.openActions()
	for i := range j.Decisions {
		switch d := &j.Decisions[i]; {
		//guard:plan-unlooked P12
		case d.Unlooked && len(d.Findings) == 0:
			out.Unlooked++
		case len(d.Findings) == 0:
			out.Kept++
		}
	}
	j.complete()
	drafts := make([]*draft, 0, len(j.drafts))
	for _, r := range j.drafts {
		drafts = append(drafts, r.ofItsOwn())
	}
	drafts = append(drafts, v.templateDrafts(j)...)
	demote(drafts, j.Demoted)
	underIncidents(drafts, j.Incidents)
	v.breakers(drafts, j, out)
	v.budgets(drafts, j.Fleet, open)
	for _, r := range drafts {
		v.emit(out, r, pass, open)
	}
	v.stillHeld(out, j.Incidents)
	out.Findings = v.allFindings(j, drafts)
	out.Awakened = v.awakened(j.Decisions)
	out.Withdrawn = v.withdrawn(drafts, j.Incidents, out.Awakened)
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
	switch {
	case a.Step.onRow():
		return stepKey{step: "row", task: a.Task}
	case a.Step == StepActivate:
		return stepKey{step: a.Step, id: a.Subject}
	}
	return stepKey{step: a.Step, provider: a.Provider, id: a.Sandbox}
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
	remedy := ""
	for i := range r.steps {
		a := r.steps[i]
		heldBy := strings.Join(r.holdsOf(&a), "; ")
		a.Seq, a.Pass, a.PlannedAt, a.Outcome, a.RowOnly = i, pass, v.now, OutcomePending, r.rowOnly
		switch before := open[a.key()]; {
		//guard:plan-one-row-step once
		case before != nil && before.Step != a.Step:
			heldBy = joined(heldBy, "the planned "+string(before.Step)+" is withdrawn first")
		//guard:plan-open live
		case before != nil:
			a = *before
		default:
			a.ID = actionID(v.p.Installation, pass, v.now.UnixNano(), &a)
			a.Remedy = firstOf(remedy, a.ID)
			//guard:plan-held-unrecorded harm
			if heldBy == "" || i > 0 && len(r.holds) == 0 {
				out.Actions = append(out.Actions, a) // what an incident holds waits in the ledger, behind its row
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
	open := openIncidents(j.Incidents)
	var out []Finding
	for i := range j.Decisions {
		for _, f := range j.Decisions[i].Findings {
			if holds, decisive := held[f.Key()]; decisive {
				f.HeldBy = holds
			}
			if len(open) > 0 && f.Due {
				f.Incident = open[v.signature(j.Decisions[i].Subject, &f)]
			}
			out = append(out, f)
		}
	}
	for _, f := range j.Reports {
		if holds, drafted := held[f.Key()]; drafted {
			f.HeldBy = holds
		}
		out = append(out, f)
	}
	return out
}
