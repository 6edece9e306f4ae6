package decide

import (
	"slices"
	"strings"
	"testing"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/worldtest"
	"github.com/sandkeeper/sandkeeper/test/raced"
)

// failures are what the ledger may remember of tasks that failed before.
func (r *randomWorld) failures() {
	if r.IntN(2) == 0 {
		r.add("systemic count=%s window=%s mode=%s", r.one("2", "3"), r.one("30m", "2h"), r.one("observe", "enforce", "off"))
	}
	for _, rule := range []string{"heartbeat-lost", "assigned-stale", "inactive"} {
		if r.IntN(4) == 0 {
			r.add("verdict %s task:t%d ago=%s failed=%s sign=%s enforced=%s sandbox=%s", rule, r.IntN(9), r.age(), r.age(),
				r.age(), r.one("yes", "no"), r.one("s1", "s2", `""`))
		}
		if r.IntN(2) == 0 {
			r.add("tally %s verdicts=%s regrets=%s", rule, r.one("3", "100", "150"), r.one("0", "2", "3"))
		}
	}
	if r.IntN(3) == 0 {
		r.add("task f{1..3} running started=2h timeout=10m ev.heartbeat=5s attempts=0/3")
		r.add("box daytona/f{1..3} running task=f{1..3} region=%s", r.one("us", "eu"))
	}
	if r.IntN(6) == 0 {
		r.add("action q1 errored sandbox:daytona/s3 terminate box=daytona/s3 remedy=q0 seq=1 kept=%s", r.one("1h", "-1h"))
	}
	if r.IntN(6) == 0 {
		r.add("action o1 operator sandbox:daytona/s4 terminate box=daytona/s4")
	}
}

// incidents: nothing is ended or tried again under an open incident, rows are failed, clean-up
// goes on; a person's action is never withdrawn; who regrets too much acts no more.
func (c *check) incidents() {
	held := map[string]bool{}
	for i := range c.j.Incidents {
		if in := &c.j.Incidents[i]; in.Holds() {
			held[in.Signature] = true
		}
	}
	for i := range c.p.Steps {
		s := &c.p.Steps[i]
		if len(s.HeldBy) == 0 && held[s.Signature] && s.Step != reconcile.StepFail && !reconcile.RuleNamed(s.Rule).Authoritative {
			c.t.Errorf("%s of %s by %s under an open incident", s.Step, s.Subject, s.Rule)
		}
		if reconcile.RuleNamed(s.Rule).Family == reconcile.CleanUp && (s.Signature != "" || strings.Contains(s.HeldBy.String(), "incident:")) {
			c.t.Errorf("clean-up of %s by %s is held: %s", s.Subject, s.Rule, s.HeldBy)
		}
		if len(s.HeldBy) == 0 && slices.ContainsFunc(c.j.Demoted, func(d reconcile.Demotion) bool { return d.Rule == s.Rule }) {
			c.t.Errorf("%s of %s by %s, which is demoted", s.Step, s.Subject, s.Rule)
		}
	}
	for _, a := range c.p.Actions {
		if held[a.Signature] && a.Step != reconcile.StepFail && a.Seq == 0 && !reconcile.RuleNamed(a.Rule).Authoritative {
			c.t.Errorf("%s of %s is recorded under an open incident", a.Step, a.Subject)
		}
	}
	if slices.Contains(c.p.Withdrawn, "o1") {
		c.t.Error("what a person asked for is withdrawn")
	}
	for _, g := range c.j.FalsePositives {
		if slices.Contains(c.j.Over, g.Verdict) {
			c.t.Errorf("verdict %d is a regret and over", g.Verdict)
		}
	}
	for i := range c.j.Verdicts {
		v := &c.j.Verdicts[i]
		d := c.decision(v.Subject)
		if d == nil || !slices.ContainsFunc(d.Findings, func(f reconcile.Finding) bool { return f.Rule == v.Rule && findingRules(&f) }) {
			c.t.Errorf("verdict of %s on %s, which does not rule", v.Rule, v.Subject)
		}
	}
}

// TestIncidentsHappen: the random worlds come to what their properties are about.
func TestIncidentsHappen(t *testing.T) {
	opened, regrets, demoted, over := 0, 0, 0, 0
	for _, seed := range seeds(t, 1200) {
		j := JudgeWorld(worldtest.NewWorld(t, worldOf(t, seed).text))
		opened += len(j.Incidents)
		regrets += len(j.FalsePositives)
		demoted += len(j.Demoted)
		over += len(j.Over)
	}
	if !raced.On && *seedFlag == 0 && (opened < 10 || regrets < 10 || demoted == 0 || over < 10) {
		t.Errorf("%d incidents, %d regrets, %d demotions, %d over: the properties say little of them",
			opened, regrets, demoted, over)
	}
}
