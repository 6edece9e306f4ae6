package reconcile

import (
	"strings"
	"time"
)

// The lines of a world about verdicts, incidents and regrets. (This file's name sorts after
// the one that makes the map of kinds.)
func init() {
	kinds["systemic"] = putSystemic
	kinds["price"] = putPrice
	kinds["worker"] = putWorker
	kinds["verdict"] = putVerdict
	kinds["tally"] = putTally
	kinds["released"] = putReleased
	sections["policy"] += " systemic price"
	sections["tasks"] += " worker"
	sections["ledger"] += " verdict tally released"
}

// putSystemic turns the rule on: systemic count=5 window=30m.
func putSystemic(l *entry) {
	r := RulePolicy{Mode: Enforce, Rollout: 100, Named: true, Remedy: Report, Count: 5, Window: 30 * time.Minute}
	mode := string(r.Mode)
	l.str("mode", &mode)
	l.num("count", &r.Count)
	l.dur("window", &r.Window)
	r.Mode = Mode(mode)
	l.w.p.Rules["systemic"] = r
}

// putPrice: price daytona cents=8 an hour.
func putPrice(l *entry) {
	p, cents := l.w.p.Providers[l.arg(0)], 0
	l.num("cents", &cents)
	p.PricePerHour = float64(cents) / 100
	l.w.p.Providers[l.arg(0)] = p
}

// putWorker: worker 1.4.2 t1 t2, the version that works at these live tasks.
func putWorker(l *entry) {
	for i := range l.w.s.Tasks {
		if t := &l.w.s.Tasks[i]; contains(l.args[1:], t.ID) {
			t.Worker = l.arg(0)
		}
	}
}

// putVerdict: verdict RULE SUBJECT ago=10m failed=9m sign=11m, or acted=9m: its sandbox was ended.
func putVerdict(l *entry) {
	m := &l.w.s.Memory
	v := Verdict{Number: int64(len(m.Verdicts) + 1), Rule: l.arg(0), Subject: l.arg(1), At: m.Now.Add(-10 * time.Minute),
		TaskAt: taskNow.Add(-10 * time.Minute), Enforced: true}
	v.Task, _ = strings.CutPrefix(v.Subject, "task:")
	l.ago("ago", m.Now, &v.At)
	l.ago("task", taskNow, &v.TaskAt)
	l.ago("failed", m.Now, &v.FailedAt)
	v.ActedAt = v.FailedAt
	l.ago("acted", m.Now, &v.ActedAt)
	l.ago("sign", taskNow, &v.Sign)
	l.ago("regret", m.Now, &v.RegretAt)
	l.yes("over", &v.Over)
	l.yes("enforced", &v.Enforced)
	l.str("signature", &v.Signature)
	was := Task{}
	l.str("sandbox", &was.Sandbox)
	l.str("session", &was.Session)
	l.num("attempts", &was.Attempts)
	v.Attempt = was.attempt()
	m.Verdicts = append(m.Verdicts, v)
}

// putTally: tally RULE verdicts=100 regrets=2, armed after the verdict armed=3.
func putTally(l *entry) {
	var t Tally
	l.num("verdicts", &t.Verdicts)
	l.num("regrets", &t.Regrets)
	armed := 0
	if l.num("armed", &armed); armed > 0 {
		l.w.s.Memory.Armed = map[string]int64{l.arg(0): int64(armed)}
	}
	if l.w.s.Memory.Regrets == nil {
		l.w.s.Memory.Regrets = map[string]Tally{}
	}
	l.w.s.Memory.Regrets[l.arg(0)] = t
}

// putReleased: a person released all open incidents.
func putReleased(l *entry) {
	open := l.w.s.Memory.Controls.Incidents
	for i := range open {
		open[i].ReleasedAt = l.w.s.Memory.Now.Add(-time.Second)
		open[i].ReleasedBy = Signature{Author: l.arg(0)}
	}
}

// rememberVerdicts is the part of remember about verdicts. What is planned to be done to a
// row counts as done.
func (w *world) rememberVerdicts(j *Judgement, p *Plan) {
	m := &w.s.Memory
	for i := range m.Verdicts {
		v := &m.Verdicts[i]
		for _, n := range j.Over {
			v.Over = v.Over || v.Number == n
		}
		for _, g := range j.Regrets {
			if g.Verdict == v.Number {
				v.RegretAt, v.Regret = g.At, g.What
			}
		}
	}
	for _, v := range j.Verdicts {
		v.Number = int64(len(m.Verdicts) + 1)
		for _, a := range p.Actions {
			if a.Step.onRow() && a.Rule == v.Rule && a.Subject == v.Subject {
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
		m.Controls.Modes[d.Rule] = Observe
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
	for _, g := range j.Regrets {
		line("regret of %s, verdict %d: %s", g.Rule, g.Verdict, g.What)
	}
	for _, n := range j.Over {
		line("over: verdict %d", n)
	}
	for _, d := range j.Demoted {
		line("demoted %s: %s", d.Rule, d.Reason)
	}
}

// waits: later=3h is not tried before, kept=3h neither, because of a quarantine.
func (l *entry) waits(a *Action) {
	var later, kept time.Duration
	if l.dur("later", &later) {
		a.NextAttempt = l.w.s.Memory.Now.Add(later)
	}
	if l.dur("kept", &kept) {
		a.NextAttempt = l.w.s.Memory.Now.Add(kept)
		a.Evidence = []Evidence{{Source: quarantined, Fact: "stopped first"}}
	}
}
