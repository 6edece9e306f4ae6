package worldtest

import (
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
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
	Sections["policy"] += " systemic price"
	Sections["tasks"] += " worker"
	Sections["ledger"] += " verdict tally released"
}

// putSystemic turns the rule on: systemic count=5 window=30m.
func putSystemic(l *entry) {
	r := reconcile.RulePolicy{Mode: reconcile.Enforce, Rollout: 100, Named: true, Remedy: reconcile.Report, Count: 5,
		Window: 30 * time.Minute}
	mode := string(r.Mode)
	l.str("mode", &mode)
	l.num("count", &r.Count)
	l.dur("window", &r.Window)
	r.Mode = reconcile.Mode(mode)
	l.w.P.Rules["systemic"] = r
}

// putPrice: price daytona cents=8 an hour, or price daytona cents=32 cpu=4 gib=8 for those of a size.
func putPrice(l *entry) {
	p, cents := l.w.P.Providers[l.arg(0)], 0
	l.num("cents", &cents)
	one := reconcile.Price{PerHour: float64(cents) / 100}
	if l.sized(&one.Size); one.Size == (reconcile.Size{}) {
		p.PricePerHour = one.PerHour
	} else {
		p.Prices = append(p.Prices, one)
	}
	l.w.P.Providers[l.arg(0)] = p
}

// putWorker: worker 1.4.2 t1 t2, the version that works at these live tasks.
func putWorker(l *entry) {
	for i := range l.w.S.Tasks {
		if t := &l.w.S.Tasks[i]; Contains(l.args[1:], t.ID) {
			t.Worker = l.arg(0)
		}
	}
}

// putVerdict: verdict RULE SUBJECT ago=10m failed=9m sign=11m, or acted=9m: its sandbox was ended.
func putVerdict(l *entry) {
	m := &l.w.S.Memory
	v := reconcile.Verdict{Number: int64(len(m.Verdicts) + 1), Rule: l.arg(0), Subject: l.arg(1),
		At:     m.Now.Add(-10 * time.Minute),
		TaskAt: TaskNow.Add(-10 * time.Minute), Enforced: true}
	v.Task, _ = reconcile.OfType(reconcile.SubjectTask, v.Subject)
	l.ago("ago", m.Now, &v.At)
	l.ago("task", TaskNow, &v.TaskAt)
	l.ago("failed", m.Now, &v.FailedAt)
	v.ActedAt = v.FailedAt
	l.ago("acted", m.Now, &v.ActedAt)
	l.ago("sign", TaskNow, &v.Sign)
	l.ago("regret", m.Now, &v.FalsePositiveAt)
	l.yes("over", &v.Over)
	l.yes("enforced", &v.Enforced)
	l.str("signature", &v.Signature)
	was := reconcile.Task{}
	l.str("sandbox", &was.Sandbox)
	l.str("session", &was.Session)
	l.num("attempts", &was.Attempts)
	v.Attempt = was.Attempt()
	m.Verdicts = append(m.Verdicts, v)
}

// putTally: tally RULE verdicts=100 regrets=2, of the tenants of=a,b, armed after the verdict armed=3.
func putTally(l *entry) {
	var t reconcile.Tally
	l.num("verdicts", &t.Verdicts)
	l.num("regrets", &t.FalsePositives)
	armed := 0
	if l.num("armed", &armed); armed > 0 {
		l.w.S.Memory.Armed = map[string]int64{l.arg(0): int64(armed)}
	}
	if l.w.S.Memory.FalsePositives == nil {
		l.w.S.Memory.FalsePositives = map[string]reconcile.Tally{}
	}
	l.w.S.Memory.FalsePositives[l.arg(0)] = t
	var tenants string
	if l.str("of", &tenants); tenants != "" {
		l.w.S.Memory.RefutedBy = map[string][]string{l.arg(0): strings.Split(tenants, ",")}
	}
}

// putReleased: a person released all open incidents.
func putReleased(l *entry) {
	open := l.w.S.Memory.Controls.Incidents
	for i := range open {
		open[i].ReleasedAt = l.w.S.Memory.Now.Add(-time.Second)
		open[i].ReleasedBy = reconcile.Attribution{Author: l.arg(0)}
	}
}

// waits: later=3h is not tried before, kept=3h neither, because of a quarantine.
func (l *entry) waits(a *reconcile.Action) {
	var later, kept time.Duration
	if l.dur("later", &later) {
		a.NextAttempt = l.w.S.Memory.Now.Add(later)
	}
	if l.dur("kept", &kept) {
		a.NextAttempt = l.w.S.Memory.Now.Add(kept)
		a.Evidence = []reconcile.Evidence{{Source: reconcile.Quarantined, Fact: "stopped first"}}
	}
}
