package decide

import (
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/worldtest"
)

// remember makes the world's memory what the ledger would hold after the pass, so that
// the next pass can be judged from it.
func remember(w *worldtest.World, j *Judgement, p *Plan) {
	m := &w.S.Memory
	for _, seen := range SeenTasks(j.View) {
		m.Tasks.Put(seen.ID, seen)
	}
	for _, seen := range SeenSandboxes(j.View, j.Decisions) {
		m.Sandboxes.Put(seen.Ref, seen)
	}
	for _, key := range j.Resolved {
		delete(m.Findings, key)
	}
	for _, f := range p.Findings {
		m.Findings[f.Key()] = f
	}
	for _, seen := range j.Sources {
		m.Sources[seen.Name] = seen
	}
	m.Controls.Breakers = p.Breakers
	rememberVerdicts(w, j, p)
}

// rememberVerdicts is the part of remember about verdicts. What is planned to be done to a
// row counts as done.
func rememberVerdicts(w *worldtest.World, j *Judgement, p *Plan) {
	m := &w.S.Memory
	for i := range m.Verdicts {
		v := &m.Verdicts[i]
		for _, n := range j.Over {
			v.Over = v.Over || v.Number == n
		}
		for _, g := range j.FalsePositives {
			if g.Verdict == v.Number {
				v.FalsePositiveAt, v.FalsePositive = g.At, g.What
			}
		}
	}
	for _, v := range j.Verdicts {
		v.Number = int64(len(m.Verdicts) + 1)
		for _, a := range p.Actions {
			if a.Step.OnRow() && a.Rule == v.Rule && a.Subject == v.Subject {
				v.ActedAt, v.FailedAt = m.Now, m.Now
			}
		}
		m.Verdicts = append(m.Verdicts, v)
	}
	m.Controls.Incidents = nil
	for _, in := range j.Incidents {
		if in.ClosedAt.IsZero() {
			m.Controls.Incidents = append(m.Controls.Incidents, in)
		}
	}
	for _, d := range j.Demoted {
		m.Controls.Modes[d.Rule] = reconcile.Observe
	}
}

// toldOfIncidents are the lines of a scenario about what opened, closed and came back to life.
func toldOfIncidents(j *Judgement, line func(format string, args ...any)) {
	for i := range j.Incidents {
		in := &j.Incidents[i]
		state := "holds"
		switch {
		case !in.ClosedAt.IsZero():
			state = "closed"
		case !in.ReleasedAt.IsZero():
			state = "released"
		}
		line("incident %s %s: %s; cost %.2f", in.ID, state, in, in.Cost)
	}
	for _, g := range j.FalsePositives {
		line("regret of %s, verdict %d: %s", g.Rule, g.Verdict, g.What)
	}
	for _, n := range j.Over {
		line("over: verdict %d", n)
	}
	for _, d := range j.Demoted {
		line("demoted %s: %s", d.Rule, d.Reason)
	}
}
