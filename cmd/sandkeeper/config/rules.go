package config

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// RuleConfig is what the config says of a rule. A rule may also be given as its mode.
type RuleConfig struct {
	// What the rule may do.
	Mode reconcile.Mode `yaml:"mode"`
	// Threshold; auto: the smallest that the platform's own history allows, computed again each day.
	After Threshold `yaml:"after"`
	// Percent of the subjects, by a stable hash, that may be acted on.
	Rollout int `yaml:"rollout"`
	// What repairs a finding.
	Remedy reconcile.Remedy `yaml:"remedy"`
	// Other thresholds for classes of subjects; the first that matches counts.
	Overrides []OverrideConfig `yaml:"overrides"`

	// Rule orphan: passes that must have seen it, the first of them a full one.
	Sightings int `yaml:"sightings"`
	// Rules orphan and record-without-container: time between two sightings that count.
	Apart time.Duration `yaml:"apart"`
	// Rules sandbox-missing and record-without-container: passes that must have looked.
	Looks int `yaml:"looks"`
	// Rule idle-broken: failed probes in a row.
	Failures int `yaml:"failures"`
	// Rule template-unusable: warn this long before it expires.
	Ahead time.Duration `yaml:"ahead"`
	// Rules systemic and looping: so many within the window.
	Count int `yaml:"count"`
	// Rules systemic and looping: the window.
	Window time.Duration `yaml:"window"`
	// Rule capacity: more active sandboxes than this are critical; 0, the default: not judged.
	Critical int `yaml:"critical"`
	// Rule capacity: more than this for a while are escalated; 0, the default: not judged.
	Escalate int `yaml:"escalate"`
	// Rule capacity: the while.
	For time.Duration `yaml:"for"`
	// Rule capacity: part of a provider's quota.
	Quota Percent `yaml:"quota"`
	// Rule capacity: while a quota is full, clean-up that is due goes first and beyond the share.
	MakeRoom bool `yaml:"make_room"`
	// Rule capacity: active sandboxes that are normal while no task lives; 0, the default: no norm.
	AtRest int `yaml:"at_rest"`
}

// OverrideConfig is another threshold for a class of subjects.
type OverrideConfig struct {
	// The class: template, provider, region or task.COLUMN; all must match.
	When map[string]string `yaml:"when"`
	// Threshold.
	After time.Duration `yaml:"after"`
}

// A ruleCheck makes the settings of one rule from its defaults and the config.
type ruleCheck struct {
	*report
	c    *Config
	spec *reconcile.Rule
	key  string // "rules.orphan"
}

func (c *Config) checkRules(r *report) {
	c.ruled = make(map[string]reconcile.RulePolicy, len(reconcile.Rules))
	for i := range reconcile.Rules {
		spec := &reconcile.Rules[i]
		k := ruleCheck{r, c, spec, "rules." + spec.Name}
		p := spec.Settings(c.Tasks.Preset, c.shape())
		p.Mode = c.Mode
		if spec.OffIn(c.shape()) {
			p.Mode = reconcile.Off
		}
		if r.given(k.key) {
			p = k.settings(c.Rules[spec.Name], p)
		}
		if c.Tasks.None && slices.Contains(spec.Remedies, reconcile.Terminate) && onRow(p.Remedy) {
			p.Remedy = reconcile.Terminate
		}
		if p.Remedy == reconcile.Stop && !k.has("remedy") && !canStop(c) {
			p.Remedy = reconcile.Report // nobody chose it, and what cannot be done would wait for ever
		}
		c.ruled[spec.Name] = p
	}
	for name := range c.Rules {
		if !slices.Contains(reconcile.RuleNames, name) {
			problem, fix := unknownWord("rule", name, reconcile.RuleNames)
			r.failAt(r.locate("rules."+name), Error{Key: "rules", Problem: problem, Fix: fix})
		}
	}
}

// settings lays what the config says of the rule over its defaults.
func (k ruleCheck) settings(given RuleConfig, p reconcile.RulePolicy) reconcile.RulePolicy {
	p.Named = true
	p.Mode = k.c.Mode // naming a rule that is off by default turns it on
	if k.has("mode") || given.Mode != "" {
		p.Mode = given.Mode
	}
	if k.has("after") && given.After == AutoThreshold {
		k.checkAuto(p.After)
	} else if k.has("after") {
		p.After = time.Duration(given.After)
		k.checkAfter("after", p.After)
	} else if k.spec.Must && p.Mode != reconcile.Off {
		k.fail(k.key, "has no threshold of its own", "give after")
	}
	if k.has("rollout") {
		p.Rollout = given.Rollout
		k.checkRollout(given.Rollout)
	}
	if k.has("remedy") {
		p.Remedy = given.Remedy
		k.checkRemedy(given.Remedy)
	}
	k.overlay(given, &p)
	p.Overrides = k.overrides(given.Overrides)
	if k.spec.NeedsTasks && k.c.Tasks.None && p.Mode != reconcile.Off {
		k.warn(k.key, "finds nothing with tasks: none", "remove it")
	}
	if p.MakeRoom && p.Mode != reconcile.Enforce {
		k.warn(k.key+".make_room", "makes no room while the rule is in "+string(p.Mode), "set mode: enforce for it")
	}
	return p
}

// has reports whether the config gives a readable value for the key.
func (k ruleCheck) has(name string) bool {
	key := k.key + "." + name
	return k.given(key) && !k.bad[key]
}

func (k ruleCheck) checkAfter(name string, after time.Duration) {
	floor := max(k.spec.Floor, time.Second)
	if after >= floor || after == 0 && k.spec.AtOnce {
		return
	}
	k.fail(k.key+"."+name, fmt.Sprintf("%s is below the floor of %s", text.Exact(after), text.Exact(floor)),
		"use at least "+text.Exact(floor))
}

func (k ruleCheck) checkRollout(percent int) {
	if percent < 0 || percent > 100 {
		k.fail(k.key+".rollout", fmt.Sprintf("%d is not within 0 and 100", percent), "give percent of the subjects")
	}
}

func onRow(r reconcile.Remedy) bool { return r == reconcile.Fail || r == reconcile.Requeue }

func (k ruleCheck) checkRemedy(r reconcile.Remedy) {
	key := k.key + ".remedy"
	switch {
	case onRow(r) && !slices.Contains(k.spec.Remedies, r):
		k.fail(key, fmt.Sprintf("%s is no remedy of %s, which writes no task row", r, k.spec.Name),
			"use one of "+joinWords(k.spec.Remedies))
	case !slices.Contains(k.spec.Remedies, r):
		k.fail(key, fmt.Sprintf("%s is no remedy of %s", r, k.spec.Name), "use one of "+joinWords(k.spec.Remedies))
	case onRow(r) && k.c.Tasks.None:
		k.fail(key, fmt.Sprintf("%s writes a task row, and there is none with tasks: none", r), "use terminate or report")
	case r == reconcile.Requeue && !k.bad["tasks"] && !k.c.tasksPolicy().Requeue:
		k.fail(key, "requeue must know how often a task was tried", "map attempts and max_attempts in tasks.columns")
	case r == reconcile.Requeue && !k.bad["tasks"] && !k.c.tasksPolicy().Requeues:
		k.fail(key, "nothing says what a row becomes that is handed out again", "give tasks.requeue, or use another remedy")
	}
}

// overlay lays the rule's own keys over its defaults.
func (k ruleCheck) overlay(given RuleConfig, p *reconcile.RulePolicy) {
	k.count("sightings", given.Sightings, &p.Sightings)
	k.count("looks", given.Looks, &p.Looks)
	k.count("failures", given.Failures, &p.Failures)
	k.count("count", given.Count, &p.Count)
	k.count("critical", given.Critical, &p.Critical)
	k.count("escalate", given.Escalate, &p.Escalate)
	k.count("at_rest", given.AtRest, &p.AtRest)
	k.span("apart", given.Apart, &p.Apart)
	k.span("ahead", given.Ahead, &p.Ahead)
	k.span("window", given.Window, &p.Window)
	k.span("for", given.For, &p.For)
	if k.own("quota") {
		p.Quota = int(float64(given.Quota)*100 + 0.5)
	}
	if k.own("make_room") {
		p.MakeRoom = given.MakeRoom
	}
	if most := k.spec.Window; most > 0 && p.Window > most {
		k.fail(k.key+".window", fmt.Sprintf("%s is above the cap of %s", text.Exact(p.Window), text.Exact(most)),
			"use at most "+text.Exact(most))
	}
}

// countFloors are the least that the counting keys may be: two looks are what every
// destructive step needs, and 0 switches off what has no number of its own.
var countFloors = map[string]int{
	"sightings": 2, "looks": 2, "failures": 2, "count": 2, "critical": 0, "escalate": 0, "at_rest": 0,
}

func (k ruleCheck) count(name string, given int, into *int) {
	if !k.own(name) {
		return
	}
	*into = given
	if floor := countFloors[name]; given < floor {
		k.fail(k.key+"."+name, fmt.Sprintf("%d is below the floor of %d", given, floor),
			fmt.Sprintf("use at least %d", floor))
	}
}

func (k ruleCheck) span(name string, given time.Duration, into *time.Duration) {
	if !k.own(name) {
		return
	}
	*into = given
	if given < time.Second {
		k.fail(k.key+"."+name, fmt.Sprintf("%s is below the floor of 1s", text.Exact(given)), "use at least 1s")
	}
}

// own reports whether the config gives a key that this rule reads. One that only another
// rule reads is a mistake.
func (k ruleCheck) own(name string) bool {
	key := k.key + "." + name
	if !k.given(key) {
		return false
	}
	if slices.Contains(k.spec.Keys, name) {
		return !k.bad[key]
	}
	var readers []string
	for i := range reconcile.Rules {
		if s := &reconcile.Rules[i]; slices.Contains(s.Keys, name) {
			readers = append(readers, s.Name)
		}
	}
	k.fail(key, "is no key of "+k.spec.Name, "it is one of "+strings.Join(readers, " and "))
	return false
}

// policies are the settings of all rules; a copy, so that no pass changes another's.
func (c *Config) policies() map[string]reconcile.RulePolicy {
	out := maps.Clone(c.ruled)
	for name, p := range out {
		p.Overrides = slices.Clone(p.Overrides)
		out[name] = p
	}
	return out
}
