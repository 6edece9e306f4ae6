package reconcile

import (
	"fmt"
	"slices"
	"strings"
)

// underIncidents holds what would end something, or try it again, while an incident of the
// same signature is open. The row of a task is failed all the same: who waits for it must
// hear of it.
func underIncidents(drafts []*draft, incidents []Incident) {
	held := Controls{Incidents: incidents}
	for _, r := range drafts {
		id := held.incident(r.signature)
		if id == "" {
			continue
		}
		//guard:incident-holds-end P7
		if !r.steps[0].Step.onRow() {
			r.holds = append(r.holds, "incident: "+id)
			continue
		}
		//guard:incident-no-requeue P7
		r.steps[0].Step = StepFail
		//guard:incident-holds-later P7
		if !RuleNamed(r.finding.Rule).Authoritative {
			r.incident = "incident: " + id
		}
	}
}

// stillHeld shows the steps that wait in the ledger because an incident holds them, or because
// their rule only reports by now: their row is over or their sandbox stands still, so no
// finding speaks of them any more.
func (v *view) stillHeld(out *Plan, incidents []Incident) {
	held := Controls{Incidents: incidents}
	for i := range v.s.Memory.Actions {
		a := &v.s.Memory.Actions[i]
		holds := a.incidents(&held)
		if a.inQuarantine() && !a.NextAttempt.After(v.now) && v.policy(a.Rule).Remedy == Report {
			holds = append(holds, onlyReports)
		}
		shown := func(s PlannedStep) bool { return s.ID == a.ID }
		if len(holds) == 0 || a.Seq == 0 || a.begun() || slices.ContainsFunc(out.Steps, shown) {
			continue
		}
		out.Steps = append(out.Steps, PlannedStep{
			Action: *a, Mode: v.policy(a.Rule).Mode, HeldBy: strings.Join(holds, "; ")})
	}
}

// demote holds the remedies of rules that went back to observe in this very pass.
func demote(drafts []*draft, demoted []Demotion) {
	for _, r := range drafts {
		//guard:demoted-holds P9
		if slices.ContainsFunc(demoted, func(d Demotion) bool { return d.Rule == r.finding.Rule }) {
			r.mode, r.holds = Observe, appendNew(r.holds, string(Observe))
		}
	}
}

// holdsOf is what holds one step of the remedy.
func (r *draft) holdsOf(a *Action) []string {
	if r.incident == "" || a.Step.onRow() {
		return r.holds
	}
	return append(slices.Clip(r.holds), r.incident)
}

// openIncidents are the ids of those that are open, released or not, by signature.
func openIncidents(incidents []Incident) map[string]string {
	open := map[string]string{}
	for i := range incidents {
		if in := &incidents[i]; in.ClosedAt.IsZero() {
			open[in.Signature] = in.ID
		}
	}
	return open
}

// incidentEvents are the timeline's lines of what opened and closed, and of what came back to
// life.
func (v *view) incidentEvents(j *Judgement, add func(subject, kind, what string)) {
	for i := range j.Incidents {
		in := &j.Incidents[i]
		switch {
		case !in.ClosedAt.IsZero():
			add("incident:"+in.ID, "incident", fmt.Sprintf("closed after %d failures", in.Count))
		case in.OpenedAt.Equal(v.now):
			add("incident:"+in.ID, "incident", "opened: "+in.String())
		}
	}
	for i := range j.Regrets {
		for k := range v.s.Memory.Verdicts {
			if w := &v.s.Memory.Verdicts[k]; w.Number == j.Regrets[i].Verdict {
				add(w.Subject, "regret", w.Rule+": "+j.Regrets[i].What)
			}
		}
	}
}
