package config

import (
	"cmp"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A ruleSpec is what the config knows of a rule: its defaults, its floors, and what may be
// set. A default is for a platform that nobody here knows: others take an hour where the known
// ones take minutes. What these asked for stands beside it. The order and the numbers are those of the design.
type ruleSpec struct {
	name     string
	off      bool                 // runs only when the config names it
	task     bool                 // finds nothing where there are no tasks
	defaults reconcile.RulePolicy // Remedy: the first of remedies
	omoios   time.Duration        // After under the preset omoios, where it differs
	coding   time.Duration        // After under the preset coding-agent, where it differs
	floor    time.Duration        // of After; 0 stands for a second
	atOnce   bool                 // After may be 0
	must     bool                 // After must be given
	remedies []reconcile.Remedy
	keys     []string      // further keys that the rule reads
	window   time.Duration // the most that its window may be; 0: any
}

// What may repair a finding, the default first.
var (
	onTask    = []reconcile.Remedy{reconcile.Fail, reconcile.Requeue, reconcile.Report}
	onSandbox = []reconcile.Remedy{reconcile.Terminate, reconcile.Quarantine, reconcile.Report}
	onReport  = []reconcile.Remedy{reconcile.Report}
	// A sandbox that may have a task: the row is failed first, where there is one.
	onBoth = []reconcile.Remedy{
		reconcile.Fail, reconcile.Requeue, reconcile.Terminate, reconcile.Quarantine, reconcile.Report,
	}
)

var ruleSpecs = []ruleSpec{
	{name: "finished-unrecorded", task: true, atOnce: true, remedies: onReport},
	{name: "assigned-stale", task: true, floor: 10 * time.Second, remedies: onTask,
		defaults: reconcile.RulePolicy{After: time.Hour, Conclusive: 20 * time.Second},
		omoios:   3 * time.Minute, coding: 15 * time.Minute}, // a set-up may be silent for minutes there

	{name: "sandbox-missing", task: true, remedies: onTask, keys: []string{"looks"},
		defaults: reconcile.RulePolicy{After: 30 * time.Second, Looks: 2}},
	{name: "heartbeat-lost", task: true, floor: 30 * time.Second, remedies: onTask,
		defaults: reconcile.RulePolicy{After: 90 * time.Second}},
	{name: "inactive", task: true, remedies: onTask,
		defaults: reconcile.RulePolicy{After: 15 * time.Minute}, coding: time.Minute},
	{name: "deadline-exceeded", task: true, atOnce: true, remedies: onTask,
		coding: 5 * time.Minute},
	{name: "stop-ignored", task: true, remedies: onSandbox,
		defaults: reconcile.RulePolicy{After: 10 * time.Minute}, omoios: 5 * time.Second, coding: 5 * time.Second},
	{name: "finished-lingering", task: true, remedies: onSandbox,
		defaults: reconcile.RulePolicy{After: time.Hour}, omoios: 10 * time.Minute, coding: 10 * time.Minute},
	{name: "pending-stuck", task: true, remedies: []reconcile.Remedy{reconcile.Report, reconcile.Fail},
		defaults: reconcile.RulePolicy{After: 10 * time.Minute}},
	{name: "looping", task: true, atOnce: true, remedies: onReport, keys: []string{"count", "window"},
		defaults: reconcile.RulePolicy{Count: 3, Window: time.Hour}},
	{name: "orphan", floor: 30 * time.Second, remedies: onSandbox, keys: []string{"sightings", "apart"},
		defaults: reconcile.RulePolicy{After: time.Hour, Sightings: 2, Apart: time.Minute},
		omoios:   5 * time.Minute, coding: 5 * time.Minute},
	{name: "duplicate", task: true, remedies: onSandbox,
		defaults: reconcile.RulePolicy{After: 10 * time.Minute}, omoios: 2 * time.Minute, coding: 2 * time.Minute},
	{name: "record-without-container", atOnce: true, keys: []string{"looks", "apart"},
		remedies: []reconcile.Remedy{reconcile.Terminate, reconcile.Report},
		defaults: reconcile.RulePolicy{Looks: 2, Apart: 30 * time.Second}},
	{name: "provisioning-stuck", remedies: onBoth,
		defaults: reconcile.RulePolicy{After: time.Hour},
		omoios:   12 * time.Minute, coding: 5 * time.Minute}, // OmoiOS creates for up to 4 minutes and installs for up to 7

	{name: "idle-broken", floor: 5 * time.Second, remedies: onBoth, keys: []string{"failures"},
		defaults: reconcile.RulePolicy{After: time.Minute, Failures: 3}},
	{name: "executions-stuck", remedies: onBoth,
		defaults: reconcile.RulePolicy{After: 2 * time.Minute}},
	{name: "errored", remedies: onSandbox,
		defaults: reconcile.RulePolicy{After: time.Minute}},
	{name: "over-age", off: true, must: true, remedies: onSandbox},
	{name: "terminating-stuck", remedies: []reconcile.Remedy{reconcile.Report, reconcile.Terminate},
		defaults: reconcile.RulePolicy{After: 2 * time.Minute}},
	{name: "runaway", off: true, must: true, remedies: onReport},
	{name: "template-unusable", atOnce: true, keys: []string{"ahead"},
		remedies: []reconcile.Remedy{reconcile.Report, reconcile.Activate},
		defaults: reconcile.RulePolicy{Ahead: 48 * time.Hour}},
	{name: "systemic", atOnce: true, remedies: onReport, keys: []string{"count", "window"},
		window:   2 * time.Hour, // the ledger keeps verdicts at hand for so long
		defaults: reconcile.RulePolicy{Count: 5, Window: 30 * time.Minute}},
	{name: "capacity", atOnce: true, remedies: onReport,
		keys: []string{"critical", "escalate", "for", "quota", "make_room", "at_rest"},
		// How many sandboxes are too many only the platform knows: 0 is not judged.
		defaults: reconcile.RulePolicy{For: 30 * time.Minute, Quota: 80}},
}

// ruleNames are the names of all rules, in the order of the design.
func ruleNames() []string {
	names := make([]string, len(ruleSpecs))
	for i, s := range ruleSpecs {
		names[i] = s.name
	}
	return names
}

// countFloors are the least that the counting keys may be: two looks are what every
// destructive step needs, and 0 switches off what has no number of its own.
var countFloors = map[string]int{
	"sightings": 2, "looks": 2, "failures": 2, "count": 2, "critical": 0, "escalate": 0, "at_rest": 0,
}

// policy is the rule's settings before the config is asked.
func (s ruleSpec) policy(preset string, mode reconcile.Mode) reconcile.RulePolicy {
	p := s.defaults
	p.Mode, p.Rollout, p.Remedy = mode, 100, s.remedies[0]
	if s.off {
		p.Mode = reconcile.Off
	}
	switch preset {
	case "omoios":
		p.After = cmp.Or(s.omoios, p.After)
	case "coding-agent":
		p.After = cmp.Or(s.coding, p.After)
	}
	return p
}
