package protocol

import (
	"maps"
	"slices"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// MostExamples is how many false positives of a rule a report shows.
const MostExamples = 3

// RuleGoing is the rule that finds what was to go and is still listed.
const RuleGoing = "terminating-stuck"

// RuleNobodys is the rule that finds what belongs to no task, whatever task it names.
const RuleNobodys = "orphan"

// Reports collects what each rule came to.
type Reports map[string]*reconcile.RuleReport

// Of is the report of a rule, made when there is none yet.
func (r Reports) Of(rule string) *reconcile.RuleReport {
	if r[rule] == nil {
		r[rule] = &reconcile.RuleReport{Rule: rule}
	}
	return r[rule]
}

// Sorted are the reports by rule.
func (r Reports) Sorted() []reconcile.RuleReport {
	list := make([]reconcile.RuleReport, 0, len(r))
	for _, rule := range slices.Sorted(maps.Keys(r)) {
		list = append(list, *r[rule])
	}
	return list
}
