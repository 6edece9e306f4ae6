package platform

import (
	"fmt"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/simtest/history"
)

// overBudget is P7: "Budgets hold in every order of events, across crash, replicas and leader
// change: per pass, share of the fleet, per hour"; and the probes' budget a minute.
func (w budgets) overBudget(p *process, s *Step) string {
	switch s.Call {
	case "Claim":
		return w.claims(p, s)
	case "Settle":
		w.settles(s)
	case "Record":
		w.recorded(s)
		return w.overBreaker(p, s)
	case "ReserveProbes":
		return w.probes(p, s)
	}
	return ""
}

// claims notes a claim that was granted and counts the remedies begun, by whatever process.
func (w budgets) claims(p *process, s *Step) string {
	a, ok := s.Answer.(reconcile.Action)
	if !ok || s.Err != nil || !s.Effect {
		return ""
	}
	p.claims[a.ID] = &claim{moment{s.N, w.platform.now()}, a}
	w.rules[a.ID] = a.Rule
	c, _ := s.Args.(reconcile.Claim)
	if a.Seq != 0 || a.Attempts != 1 || w.platform.tenancy.planted[a.ID] || a.Outdated(a.ClaimedAt) != "" {
		return "" // those are only taken back
	}
	now := w.platform.clocks.of(domainLedger)
	asked := a.Rule == reconcile.RuleOperator || a.Rule == reconcile.RuleEmergency
	b := begin{at: now, pass: c.Pass, action: a.ID, rowOnly: a.RowOnly, process: p.name}
	if asked {
		b.pass = 0
	}
	w.begun = append(w.begun, b)
	return w.exceeded(p, c.Pass, asked, now)
}

// late is P7 for what a person asked for long ago: its first claim spends no budget, for it is only closed.
func (w *watch) late(d *effect) string {
	if d.a == nil || d.a.Attempts != 1 || d.a.Outdated(d.a.ClaimedAt) == "" {
		return ""
	}
	return d.what() + ": " + d.a.Outdated(d.a.ClaimedAt)
}

func (w budgets) exceeded(p *process, pass int64, asked bool, now time.Time) string {
	inPass, shared, hour := 0, 0, 0
	for _, b := range w.begun {
		if b.pass == pass {
			inPass++
			if !b.rowOnly {
				shared++
			}
		}
		if b.at.After(now.Add(-time.Hour)) {
			hour++
		}
	}
	limits := p.policy.Limits
	most := max(1, int(limits.Share*float64(w.fleet())+1e-9))
	switch {
	case !asked && inPass > limits.PerPass:
		return fmt.Sprintf("%d remedies were begun in pass %d, per_pass is %d", inPass, pass, limits.PerPass)
	case !asked && shared > most:
		return fmt.Sprintf("%d remedies that end something were begun in pass %d, share %g of %d is %d", shared, pass,
			limits.Share, w.fleet(), most)
	case hour > limits.PerHour && !w.rewound():
		return fmt.Sprintf("%d remedies were begun within an hour, per_hour is %d", hour, limits.PerHour)
	}
	return ""
}

// rewound reports whether the ledger's clock has jumped: an hour of it is no hour then.
func (w budgets) rewound() bool { return w.platform.clocks.moved(domainLedger, w.platform.began) > 0 }

// fleet is the most that anybody can have taken for the owned fleet of late: what is there, and
// what was within a few passes; where the provider's clock was set back, what is gone may come back.
func (w budgets) fleet() int {
	n := 0
	for _, b := range w.platform.boxes {
		late := w.platform.now().Sub(b.over) < 30*time.Minute || w.platform.clocks.moved(b.cloud.name, w.platform.began) > 0
		late = late || b.taken && w.platform.now().Sub(b.born) < 30*time.Minute
		if s, shown := b.cloud.world.Sandbox(b.ref.ID); shown && !s.Gone {
			late = late || w.platform.boxes[b.ref] == b // its end was accepted, and its provider does not come to it
		}
		labelled := b.owner != foreign // with our labels, also where it is another environment's
		if (labelled || b.taken) && (b.there() && labelled || late) {
			n++
		}
	}
	return n
}

// settles gives back what a remedy took that was withdrawn at its first attempt.
func (w budgets) settles(s *Step) {
	a, ok := s.Args.(reconcile.Action)
	if !ok || !s.Effect || a.Seq != 0 || a.Outcome != reconcile.OutcomeWithdrawn || a.Attempts > 1 {
		return
	}
	for i := range w.begun {
		if w.begun[i].action == a.ID {
			w.begun[i].pass, w.begun[i].at = -1, time.Time{}
		}
	}
}

// overBreaker is P7: "When the steps due for one rule exceed breaker of the fleet (and are more
// than 10), all of them are held until a person releases the listed subjects."
func (w budgets) overBreaker(p *process, s *Step) string {
	rec, ok := s.Args.(reconcile.Record)
	if !ok || !s.Effect {
		return ""
	}
	due := map[string]int{}
	for i := range rec.Actions {
		if a := &rec.Actions[i]; a.Seq == 0 && !a.RowOnly {
			due[a.Rule]++
		}
	}
	for _, rule := range history.SortedKeys(due) {
		if n := due[rule]; n > 10 && float64(n) > p.policy.Limits.Breaker*float64(w.fleet()) && !w.let["breaker:"+rule] {
			return fmt.Sprintf("pass %d plans %d remedies of %s for a fleet of %d, breaker is %g", rec.Pass, n, rule, w.fleet(),
				p.policy.Limits.Breaker)
		}
	}
	return ""
}

// probes counts the probes of a provider within a minute of the ledger's clock.
func (w budgets) probes(p *process, s *Step) string {
	got, ok := s.Answer.(int)
	if !ok || s.Err != nil || got <= 0 {
		return ""
	}
	minute := w.platform.clocks.of(domainLedger).Truncate(time.Minute)
	provider := s.ID
	n := got
	for _, seen := range w.probed {
		if seen.provider == provider && seen.at.Equal(minute) {
			n += seen.n
		}
	}
	w.probed = append(w.probed, probeSeen{at: minute, provider: provider, n: got})
	if len(w.probed) > 40 {
		w.probed = w.probed[20:]
	}
	if budget := p.policy.Providers[provider].Probe.Budget; n > budget && budget > 0 && !w.rewound() {
		return fmt.Sprintf("%d probes of %s within a minute, budget is %d", n, provider, budget)
	}
	return ""
}

// budgets is the part of a [watch] that counts what may be done.
type budgets struct{ *watch }

func (w *watch) budgets() budgets { return budgets{w} }
