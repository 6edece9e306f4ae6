package platform

import (
	"fmt"
	"maps"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

const (
	ruleKeys = "mode after rollout remedy sightings apart looks failures conclusive count window critical escalate for " +
		"quota ahead named"
	limitKeys = "per_pass share breaker per_hour"
	probeKeys = "every budget off timeout worker"
)

// A kind is a platform: which columns it has and how its config maps them.
type kind struct {
	name     string
	tasks    reconcile.TasksPolicy
	link     string // how rows and sandboxes know each other: "label", "id", "both" or "none"
	platform bool   // the row names its sandbox by a word of the platform's own
	retries  bool   // attempts are counted
	beatless bool   // workers send heartbeats only while they wait, and nothing in the middle of a command
	silent   bool   // the row's clock of changes stands still while a worker works; some move a mark
}

// kinds are the platforms: the two presets, as their own code writes, and one that maps all there is,
// whose workers send heartbeats all the time.
var kinds = map[string]kind{
	"omoios": {name: "omoios", link: "label", platform: true, retries: true, beatless: true, tasks: reconcile.TasksPolicy{
		Events: true, Heartbeats: true, Requeue: true, HasUpdated: true, ErrorMapped: true, FailsRows: true,
		ExplainedBy: []reconcile.Explanation{{Table: "specs", Label: labelSpec}}}},
	"coding-agent": {name: "coding-agent", link: "id", silent: true, tasks: reconcile.TasksPolicy{
		HasUpdated: true, ErrorMapped: true, SandboxKnown: true, FailsRows: true, TellsUse: true}},
	"none": {name: "none", link: "none", tasks: reconcile.TasksPolicy{None: true}},
	"full": {name: "full", link: "both", retries: true, tasks: reconcile.TasksPolicy{
		Events: true, Heartbeats: true, Requeue: true, HasAssigned: true, HasUpdated: true, ErrorMapped: true,
		SandboxKnown: true, FailsRows: true, DeadlineFails: true}},
}

// policy is the config's defaults, every rule named and enforced.
func (k kind) policy() reconcile.Policy {
	p := reconcile.Policy{
		Installation: "town", Quick: 15 * time.Second, Full: 2 * time.Minute, Rules: DefaultRules(),
		Limits:    reconcile.Limits{PerPass: 20, Share: 0.34, Breaker: 0.3, PerHour: 200},
		Providers: map[string]reconcile.ProviderPolicy{}, Tasks: k.tasks,
	}
	for name, r := range p.Rules {
		r.Mode, r.Rollout, r.Named = reconcile.Enforce, 100, true
		p.Rules[name] = r
	}
	for _, name := range []string{"over-age", "runaway"} {
		r := p.Rules[name]
		r.Mode = reconcile.Off
		p.Rules[name] = r
	}
	if k.name == "omoios" {
		p.Rules["provisioning-stuck"] = withAfter(p.Rules["provisioning-stuck"], 12*time.Minute)
	}
	if k.name == "coding-agent" {
		p.Rules["assigned-stale"] = withAfter(p.Rules["assigned-stale"], 15*time.Minute)
		p.Rules["inactive"] = withAfter(p.Rules["inactive"], 3*time.Minute)
		p.Rules["deadline-exceeded"] = withAfter(p.Rules["deadline-exceeded"], 5*time.Minute)
	}
	return p
}

func withAfter(r reconcile.RulePolicy, after time.Duration) reconcile.RulePolicy {
	r.After = after
	return r
}

// DefaultRules are the settings of all rules, as most kinds have them.
func DefaultRules() map[string]reconcile.RulePolicy {
	rules := map[string]reconcile.RulePolicy{}
	for i := range reconcile.Rules {
		rules[reconcile.Rules[i].Name] = reconcile.Rules[i].Settings("omoios", "")
	}
	rules["provisioning-stuck"] = withAfter(rules["provisioning-stuck"], 5*time.Minute)
	rules["runaway"] = withAfter(rules["runaway"], 10*time.Minute)
	crowd := rules["capacity"]
	crowd.Critical, crowd.Escalate = 20, 50
	rules["capacity"] = crowd
	return rules
}

// Policy is the config file as it is now.
func (t *Platform) Policy() reconcile.Policy {
	t.mu.Lock()
	defer t.mu.Unlock()
	return copyPolicy(&t.policy)
}

func copyPolicy(p *reconcile.Policy) reconcile.Policy {
	out := *p
	out.Rules, out.Providers = maps.Clone(p.Rules), maps.Clone(p.Providers)
	return out
}

// Reconfigure changes the config file: "rule NAME mode=observe ..." or "limits per_pass=2 ...".
func (t *Platform) Reconfigure(words []string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := copyPolicy(&t.policy)
	if err := Configure(&p, words); err != nil {
		return err
	}
	t.policy = p
	return nil
}

func reconfigure(verb string) func(*Platform, *args) {
	return func(t *Platform, a *args) {
		switch verb {
		case "rule":
			setRule(&t.policy, a.word(0), a)
		case "limits":
			setLimits(&t.policy, a)
		default:
			setProbe(&t.policy, a.word(0), a)
		}
	}
}

// Configure changes a policy as the config file would.
func Configure(p *reconcile.Policy, words []string) error {
	if len(words) == 0 || words[0] != "rule" && words[0] != "limits" && words[0] != "probe" {
		return fmt.Errorf("config needs rule, limits or probe first")
	}
	v, a := verbs[words[0]], argsOf(words[1:])
	if err := v.check(a); err != nil {
		return err
	}
	switch words[0] {
	case "rule":
		if _, known := p.Rules[a.word(0)]; !known {
			return fmt.Errorf("no rule %q", a.word(0))
		}
		setRule(p, a.word(0), a)
	case "limits":
		setLimits(p, a)
	default:
		setProbe(p, a.word(0), a)
	}
	return nil
}

func setRule(p *reconcile.Policy, name string, a *args) {
	r, known := p.Rules[name]
	if !known {
		return
	}
	r.Mode, r.Remedy = reconcile.Mode(a.text("mode", string(r.Mode))), reconcile.Remedy(a.text("remedy", string(r.Remedy)))
	r.After, r.Apart = a.dur("after", r.After), a.dur("apart", r.Apart)
	r.Conclusive, r.Ahead = a.dur("conclusive", r.Conclusive), a.dur("ahead", r.Ahead)
	r.Window, r.For = a.dur("window", r.Window), a.dur("for", r.For)
	r.Rollout, r.Sightings, r.Looks = a.num("rollout", r.Rollout), a.num("sightings", r.Sightings), a.num("looks", r.Looks)
	r.Failures, r.Count, r.Critical = a.num("failures", r.Failures), a.num("count", r.Count), a.num("critical", r.Critical)
	r.Escalate, r.Quota = a.num("escalate", r.Escalate), a.num("quota", r.Quota)
	r.Named = a.text("named", "yes") == "yes"
	p.Rules[name] = r
}

func setLimits(p *reconcile.Policy, a *args) {
	l := &p.Limits
	l.PerPass, l.PerHour = a.num("per_pass", l.PerPass), a.num("per_hour", l.PerHour)
	if n := a.num("share", -1); n >= 0 {
		l.Share = float64(n) / 100
	}
	if n := a.num("breaker", -1); n >= 0 {
		l.Breaker = float64(n) / 100
	}
}

func setProbe(p *reconcile.Policy, name string, a *args) {
	e, known := p.Providers[name]
	if !known {
		return
	}
	e.Probe.Every, e.Probe.Timeout = a.dur("every", e.Probe.Every), a.dur("timeout", e.Probe.Timeout)
	if e.Probe.Worker = a.text("worker", e.Probe.Worker); e.Probe.Worker == "none" {
		e.Probe.Worker = ""
	}
	e.Probe.Budget, e.Probe.Off = a.num("budget", e.Probe.Budget), a.yes("off") || e.Probe.Off && a.text("off", "") != "no"
	p.Providers[name] = e
}
