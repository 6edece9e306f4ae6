package reconcile

import (
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"strconv"
)

// Effective is the policy that is in force: modes lowered in the ledger, and rules that a
// newer version brought and that the config does not name, in observe; with the thresholds that were learned.
func (p *Policy) Effective(m *Memory) *Policy {
	out := *p.WithLearned(&m.Controls)
	out.Rules = maps.Clone(out.Rules)
	for name, r := range out.Rules {
		//guard:mode-new-rule P9
		if m.Known != nil && !m.Known[name] && !r.Named && r.Mode == Enforce {
			r.Mode = Observe
		}
		switch m.Controls.Modes[name] {
		case Off:
			r.Mode = Off
		case Observe:
			//guard:mode-lowered P9
			if r.Mode == Enforce {
				r.Mode = Observe
			}
		}
		out.Rules[name] = r
	}
	return &out
}

// A ControlTarget is what a control may name: one step's rule, task and sandbox.
type ControlTarget struct {
	Rule, Subject, Provider, Sandbox, Task string
	Names                                  []string // names of the sandbox
	Labels                                 map[string]string
}

// ControlHolds are the operators' requests that keep a target from being acted on.
func ControlHolds(c *Controls, t ControlTarget) HeldBy {
	var holds HeldBy
	for _, p := range c.Pauses {
		//guard:pause-all P8
		//guard:pause-rule P8
		//guard:pause-provider P8
		if p.Scope == "all" || p.Scope == SubjectOf(SubjectRule, t.Rule) ||
			p.Scope == SubjectOf(SubjectProvider, t.Provider) && t.Provider != "" {
			holds = append(holds, p.Held())
		}
	}
	for _, h := range c.Holds {
		if t.matches(h.Target) {
			holds = append(holds, h.Held())
		}
	}
	//guard:mode-at-deed P9
	if m, lowered := c.Modes[t.Rule]; lowered && m != Enforce {
		holds = append(holds, m.Held())
	}
	return holds
}

// matches reports whether a hold's target names this one.
func (t ControlTarget) matches(hold string) bool {
	target := ParseSubject(hold)
	switch value := target.Within(); target.Type {
	case SubjectTask:
		//guard:hold-task P8
		return t.Task == value && value != ""
	case SubjectSandbox:
		//guard:hold-sandbox P8
		return t.Sandbox != "" && value != "" &&
			(t.Sandbox == value || t.Provider+"/"+t.Sandbox == value || slices.Contains(t.Names, value))
	case SubjectProvider:
		//guard:hold-provider P8
		return t.Provider == value && value != ""
	case SubjectLabel:
		key, want := LabelParts(value)
		got, ok := t.Labels[key]
		//guard:hold-label P8
		return ok && got == want
	}
	return false
}

// RolledOut reports whether the subject is among the rule's percent, by a hash that stays.
func RolledOut(rule, subject string, percent int) bool {
	if percent >= 100 {
		return true
	}
	h := fnv.New32a()
	h.Write([]byte(rule + "\x00" + subject)) // never fails
	//guard:rollout P9
	return int(h.Sum32()%100) < percent
}

// SubjectsHash names a list of subjects by a short text, for a person to release it.
func SubjectsHash(subjects []string) string {
	h := fnv.New64a()
	for _, s := range subjects {
		h.Write([]byte(s + "\x00")) // never fails
	}
	return strconv.FormatUint(h.Sum64(), 36)
}

// ActionID derives an action's id. It is the same for the same decision, so that a replay
// gives the same bytes, and differs between passes and ledgers.
func ActionID(installation string, pass, at int64, a *Action) string {
	h := fnv.New64a()
	fmt.Fprintf(
		h,
		"%s\x00%d\x00%d\x00%s\x00%s\x00%s\x00%s",
		installation,
		pass,
		at,
		a.Rule,
		a.Subject,
		a.Step,
		a.Sandbox,
	)
	return strconv.FormatUint(h.Sum64(), 36)
}
