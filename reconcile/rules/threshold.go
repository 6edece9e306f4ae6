package rules

import (
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// After is the rule's threshold for the subject: the first override whose class
// matches, else the rule's own.
func After(v *view.View, rule string, s *reconcile.Subject) time.Duration {
	return thresholdOf(PolicyOf(v, rule), s)
}

// Threshold is the rule's threshold for a subject under a policy.
func Threshold(p *reconcile.Policy, rule string, s *reconcile.Subject) time.Duration {
	settings := p.Rules[rule]
	return thresholdOf(&settings, s)
}

func thresholdOf(p *reconcile.RulePolicy, s *reconcile.Subject) time.Duration {
	for _, o := range p.Overrides {
		//guard:class-threshold harm
		if subjectInClass(s, o.When) {
			return o.After
		}
	}
	return p.After
}

// PolicyOf is the settings of a rule, without a copy: rules ask for it on each subject.
func PolicyOf(v *view.View, rule string) *reconcile.RulePolicy {
	for i := range v.Rules {
		if v.Rules[i].Name == rule {
			return &v.Rules[i].Policy
		}
	}
	p := v.P.Rules[rule]
	return &p
}

func subjectInClass(s *reconcile.Subject, when map[string]string) bool {
	for key, want := range when {
		if SubjectClass(s, key) != want {
			return false
		}
	}
	return len(when) > 0
}

// SubjectClass is what the subject has by a key of a class, such as template or region; "" when nothing.
func SubjectClass(s *reconcile.Subject, key string) string {
	column, isColumn := strings.CutPrefix(key, "task.")
	switch {
	case isColumn && s.Task != nil:
		return s.Task.Attrs[column]
	case key == "template":
		return s.Template()
	case key == "provider":
		return s.Provider()
	case key == reconcile.ClassHour && s.Task != nil:
		return reconcile.HourPart(s.Task.CreatedAt)
	case key == "region" && len(s.Boxes) > 0:
		return s.Boxes[0].Region
	}
	return ""
}
