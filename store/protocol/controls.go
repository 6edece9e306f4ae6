package protocol

import (
	"fmt"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// CheckMode refuses to raise a mode: the ledger only lowers what the config allows.
func CheckMode(rule string, mode reconcile.Mode) error {
	if rule == "" {
		return fmt.Errorf("set mode: no rule given")
	}
	if mode != reconcile.Off && mode != reconcile.Observe {
		return fmt.Errorf("set mode of %s to %q: only off and observe can be set here, "+
			"enforce is set in the config (and `mode %s clear` lifts a lowered mode)", rule, mode, rule)
	}
	return nil
}

// CheckScope refuses a pause of something that cannot be paused.
func CheckScope(scope string) error {
	if scope == "all" || named(scope, reconcile.SubjectRule, reconcile.SubjectProvider) {
		return nil
	}
	return fmt.Errorf("pause of %q: the scope is all, rule:NAME or provider:NAME", scope)
}

// CheckTarget refuses a hold on something that cannot be held.
func CheckTarget(target string) error {
	if named(target, reconcile.SubjectTask, reconcile.SubjectSandbox, reconcile.SubjectProvider) {
		return nil
	}
	if label, is := reconcile.OfType(reconcile.SubjectLabel, target); is {
		if key, _ := reconcile.LabelParts(label); key != "" && key != label {
			return nil
		}
	}
	return fmt.Errorf("hold on %q: the target is task:ID, sandbox:ID, label:KEY=VALUE or provider:NAME", target)
}

// CheckRelease refuses a release that names nothing, nobody or no end: a release never
// covers subjects that nobody has seen, and never lasts for ever.
func CheckRelease(r reconcile.Release, now time.Time) error {
	switch {
	case r.What == "":
		return fmt.Errorf("release: what is released is not given, a breaker (breaker:RULE) or a source")
	case len(r.Subjects) == 0:
		return fmt.Errorf("release of %s: no subjects are listed", r.What)
	case !r.Until.After(now):
		return fmt.Errorf("release of %s: its end %s is not in the future", r.What, text.Time(r.Until))
	}
	return nil
}

// CheckUntil refuses an end that has passed already; zero means without end.
func CheckUntil(what string, until, now time.Time) error {
	if until.IsZero() || until.After(now) {
		return nil
	}
	return fmt.Errorf("%s: its end %s is not in the future", what, text.Time(until))
}

// InForce reports whether a request with this end, zero for none, is in force.
func InForce(until, now time.Time) bool { return until.IsZero() || until.After(now) }

func named(target string, types ...reconcile.SubjectType) bool {
	s := reconcile.ParseSubject(target)
	return s.Within() != "" && slices.Contains(types, s.Type)
}

// Asked is the line that the timeline gets for an operator's request.
func Asked(by reconcile.Attribution, what string) string {
	return what + " by " + by.Author + ": " + by.Reason
}

// Until says how long a request lasts, for people.
func Until(until time.Time) string {
	if until.IsZero() {
		return ""
	}
	return " until " + text.Time(until)
}
