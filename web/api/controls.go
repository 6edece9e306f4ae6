package api

import (
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A Hold keeps one thing from being acted on.
type Hold struct {
	ID int64 `json:"id"`
	// task:ID, sandbox:ID, label:KEY=VALUE or provider:NAME.
	Target string    `json:"target" jsonschema_extras:"x-untrusted=true"`
	Reason string    `json:"reason" jsonschema_extras:"x-untrusted=true"`
	By     string    `json:"by"`
	Since  time.Time `json:"since,omitzero"`
	// Absent: until it is lifted.
	Until time.Time `json:"until,omitzero"`
}

// HoldOf is a hold as programs read it.
func HoldOf(h *reconcile.Hold) Hold {
	return Hold{h.ID, h.Target, h.Reason, h.Author, utc(h.At), utc(h.Until)}
}

// A Pause stops acting: of all, of a rule, or of a provider.
type Pause struct {
	// all, rule:NAME or provider:NAME.
	Scope  string    `json:"scope"`
	Reason string    `json:"reason" jsonschema_extras:"x-untrusted=true"`
	By     string    `json:"by"`
	Since  time.Time `json:"since,omitzero"`
	// Absent: until it is resumed.
	Until time.Time `json:"until,omitzero"`
}

// PauseOf is a pause as programs read it.
func PauseOf(p *reconcile.Pause) Pause {
	return Pause{p.Scope, p.Reason, p.Author, utc(p.At), utc(p.Until)}
}

// A Rule is what sandkeeper looks for, how it is set, and what it came to.
type Rule struct {
	Name  string `json:"name"`
	Means string `json:"means"`
	// The one in force: off, observe or enforce.
	Mode string `json:"mode"`
	// What the config says, where the ledger has lowered it.
	Configured string `json:"configured_mode,omitempty"`
	LoweredBy  string `json:"lowered_by,omitempty"`
	// The threshold, in seconds.
	After   float64 `json:"after"`
	Rollout int     `json:"rollout"`
	// Findings of it that are open.
	Open int `json:"open"`
	// Of its last enforced verdicts, and those of them that came back to life.
	Verdicts       int `json:"verdicts"`
	FalsePositives int `json:"false_positives"`
	// Its breaker is open: this many subjects wait for a release with this hash.
	Breaker     int    `json:"breaker,omitempty"`
	BreakerHash string `json:"breaker_hash,omitempty"`
}

// RulesOf are all rules in their order, as the policy and the ledger set them.
func RulesOf(o *reconcile.Overview, p *reconcile.Policy) []Rule {
	p = p.WithLearned(&o.Controls)
	out := make([]Rule, 0, len(reconcile.RuleNames))
	for _, name := range reconcile.RuleNames {
		out = append(out, ruleOf(o, p, name))
	}
	return out
}

func ruleOf(o *reconcile.Overview, p *reconcile.Policy, name string) Rule {
	set := p.Rules[name]
	r := Rule{Name: name, Means: reconcile.RuleNamed(name).Means, Mode: string(set.Mode), After: seconds(set.After),
		Rollout: set.Rollout, Open: o.FindingsOpen[name], Verdicts: o.Tallies[name].Verdicts,
		FalsePositives: o.Tallies[name].FalsePositives}
	if r.Mode == "" {
		r.Mode = string(reconcile.Off) // it was not named, and runs only when it is
	}
	order := []reconcile.Mode{reconcile.Off, reconcile.Observe, reconcile.Enforce}
	now, lowered := o.Controls.Modes[name]
	if lowered && slices.Index(order, now) < slices.Index(order, set.Mode) {
		r.Mode, r.Configured, r.LoweredBy = string(now), string(set.Mode), o.Controls.Lowered[name].Author
	}
	if b, open := o.Controls.Breakers[name]; open {
		r.Breaker, r.BreakerHash = len(b.Subjects), b.Hash
	}
	return r
}

// A Status says how things are, in numbers.
type Status struct {
	Installation string `json:"installation,omitempty"`
	Version      string `json:"version"`
	// This process makes passes, it does not only show.
	Daemon bool `json:"daemon"`
	// No migration was made yet: nothing else is known.
	Fresh bool `json:"fresh,omitempty"`
	// Database and schema are as they must be, and passes come in time.
	Ready bool `json:"ready"`
	// What stands at the head of the page: whether all is in agreement, how bad it is, in a word and in a sentence, and
	// what to do, absent where nothing is.
	Agreement bool   `json:"agreement"`
	Level     string `json:"level" jsonschema:"enum=bad,enum=warn,enum=set,enum=busy,enum=well,enum=calm"`
	Word      string `json:"word"`
	Sentence  string `json:"sentence" jsonschema_extras:"x-untrusted=true"`
	Next      string `json:"next,omitempty" jsonschema_extras:"x-untrusted=true"`
	// All is paused.
	Paused bool `json:"paused"`
	// Ends of the last complete passes of any kind, and of a full one; absent: never.
	LastPass time.Time `json:"last_pass,omitzero"`
	LastFull time.Time `json:"last_full,omitzero"`
	// Open findings by rule.
	Findings map[string]int `json:"findings"`
	// Actions that are not closed.
	Actions int `json:"actions"`
	// Open incidents.
	Incidents int `json:"incidents"`
	Holds     int `json:"holds"`
	// Pauses of any scope.
	Pauses int `json:"pauses"`
	// Sources that are not trusted.
	Untrusted []string `json:"untrusted"`
	// Of the newest pass of each kind: tasks:running, sandboxes:PROVIDER:running, foreign:PROVIDER.
	Counts map[string]int `json:"counts,omitempty"`
	// Why the last reload of the config was refused.
	ConfigError string `json:"config_error,omitempty"`
}

// StatusOf sums an overview up. What only the process knows is the caller's to fill in.
func StatusOf(o *reconcile.Overview) Status {
	s := Status{Installation: o.Installation, Fresh: o.Fresh, LastPass: utc(o.LastPass), LastFull: utc(o.LastFull),
		Findings: o.FindingsOpen, Actions: o.OpenTotal, Holds: len(o.Controls.Holds), Pauses: len(o.Controls.Pauses),
		Incidents: len(o.Controls.Incidents), Untrusted: []string{}, Counts: reconcile.WithoutMeasures(o.Counts)}
	if s.Findings == nil {
		s.Findings = map[string]int{}
	}
	for _, source := range o.Sources {
		if !source.Trusted {
			s.Untrusted = append(s.Untrusted, source.Name)
		}
	}
	for _, p := range o.Controls.Pauses {
		s.Paused = s.Paused || p.Scope == "all"
	}
	return s
}
