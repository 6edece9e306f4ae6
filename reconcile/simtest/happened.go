package simtest

import (
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/run"
	"github.com/sandkeeper/sandkeeper/reconcile/simtest/platform"
)

// A coverage counts what happened in a history: calls, faults, crashes, outcomes. What never
// happens is not proved.
type coverage map[[2]string]int

func (c coverage) add(kind, what string) { c[[2]string{kind, what}]++ }

// step counts what a step came to.
func (c coverage) step(s *platform.Step) {
	a, settled := s.Args.(reconcile.Action)
	if settled && s.Call == "Settle" && s.Effect {
		c.add("outcome", string(a.Step)+" "+string(a.Outcome))
	}
	if w, written := s.Answer.(reconcile.Written); written {
		c.add("written", s.Call+" "+string(w))
	}
	if t, ended := s.Answer.(reconcile.Termination); ended {
		c.add("termination", s.Call+" "+string(t))
	}
	if p, probed := s.Answer.(reconcile.ProbeResult); probed {
		c.add("probe", string(p.Outcome))
	}
}

// pass counts what a pass came to.
func (c coverage) pass(r *run.Result, err error) {
	if r == nil || err != nil {
		c.add("pass", "failed")
		return
	}
	c.add("pass", string(r.Kind))
	if r.Due == reconcile.Quick && r.Kind == reconcile.Full {
		c.add("pass", "quick, lists too")
	}
	if r.Judged.Plain() > 0 {
		c.add("pass", "plain rows")
	}
	for i := range r.Plan.Steps {
		s := &r.Plan.Steps[i]
		if len(s.HeldBy) == 0 {
			c.add("do", s.Rule+" "+string(s.Step))
			continue
		}
		c.add("held", string(s.HeldBy[0].Kind))
	}
	for i := range r.Plan.Findings {
		c.add("finding", r.Plan.Findings[i].Rule)
	}
	for i := range r.Sources {
		if s := &r.Sources[i]; !s.Trusted {
			name, _ := reconcile.SourceParts(s.Name)
			c.add("frozen", name)
		}
	}
	for range r.Judged.Demoted {
		c.add("brake", "demotion")
	}
	for range r.Plan.Breakers {
		c.add("brake", "breaker")
	}
	for i := range r.Judged.Incidents {
		if r.Judged.Incidents[i].Holds() {
			c.add("brake", "incident")
		}
	}
	for range r.Judged.FalsePositives {
		c.add("brake", "regret")
	}
}

// Merge adds the counts of a history to a sum.
func Merge(sum, of map[string]int) {
	for what, n := range of {
		sum[what] += n
	}
}

func (c coverage) counts(happened map[string]int) map[string]int {
	out := make(map[string]int, len(c)+len(happened))
	for key, n := range c {
		out[key[0]+": "+key[1]] = n
	}
	for what, n := range happened {
		out["town: "+what] = n
	}
	return out
}
