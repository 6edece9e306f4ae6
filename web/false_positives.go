package web

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/web/ui"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// A falsePositiveView is a task that was marked failed and then showed life.
type falsePositiveView struct {
	Key     string
	Rule    string
	Subject string
	Word    string // "was failed", "its sandbox was terminated", "would have been failed"
	Level   ui.Level
	Saw     string // what was seen
	When    ui.Moment
	Reason  string // of the verdict
	Verdict ui.Moment
	After   string // how long after the verdict
	Explain string
}

// mostFalsePositives is how many of them the page shows.
const mostFalsePositives = 8

// falsePositives are the newest ones.
func falsePositives(o *reconcile.Overview) []falsePositiveView {
	var views []falsePositiveView
	for i := range o.FalsePositives[:min(len(o.FalsePositives), mostFalsePositives)] {
		views = append(views, falsePositiveOf(o.Now, &o.FalsePositives[i]))
	}
	return views
}

func falsePositiveOf(now time.Time, v *reconcile.Verdict) falsePositiveView {
	out := falsePositiveView{
		Key: fmt.Sprintf("%d", v.Number), Rule: ui.Name(v.Rule), Subject: subjectWords(v.Subject),
		Saw: ui.Sentence(ui.Capital(ui.Line(v.FalsePositive))), When: ui.Ago(v.FalsePositiveAt, now),
		Verdict: ui.Ago(v.At, now),
		Reason:  ui.Sentence(ui.Capital(ui.Line(v.Reason))), After: text.Coarse(v.FalsePositiveAt.Sub(v.At)),
		Level: ui.Calm, Word: "would have been failed", Explain: ui.Command("sandkeeper explain %s", v.Task),
	}
	switch {
	case !v.FailedAt.IsZero():
		out.Level, out.Word = ui.Warn, "was failed"
	case !v.ActedAt.IsZero():
		out.Level, out.Word = ui.Warn, "its sandbox was terminated"
	}
	return out
}

// unwatched are the rules that acted since they were armed and that nobody watches.
func unwatched(o *reconcile.Overview) string {
	var rules []string
	for _, rule := range slices.Sorted(maps.Keys(o.Tallies)) {
		if o.Tallies[rule].Verdicts > 0 && !reconcile.Watched(rule) {
			rules = append(rules, ui.Name(rule))
		}
	}
	return strings.Join(rules, ", ")
}

// demotedBy reports whether the rule was lowered because of its false positives.
func demotedBy(o *reconcile.Overview, rule string) bool {
	_, low := o.Controls.Modes[rule]
	return low && o.Controls.Lowered[rule].Author == reconcile.AuthorSelf
}

// demoted is the worst that a janitor can say of itself: it took healthy work for dead.
func demoted(s *model) (verdict, bool) {
	var rules []string
	for _, rule := range slices.Sorted(maps.Keys(s.Controls.Modes)) {
		if demotedBy(s.Overview, rule) {
			rules = append(rules, rule)
		}
	}
	if len(rules) == 0 {
		return verdict{}, false
	}
	rule := rules[0]
	v := verdict{
		Level: ui.Bad, Word: "Rule lowered itself",
		Sentence: fmt.Sprintf("%s was wrong too often and only observes now: %s",
			ui.Capital(ui.Name(rule)), ui.Sentence(text.Plain(s.Controls.Lowered[rule].Reason, mostHead))),
		Next:    "Read its false positives and fix its threshold or its clocks first. Then arm it again with:",
		Link:    ui.Link{Text: "Its false positives", Href: ui.RuleAddress(rule)},
		Command: ui.Command("sandkeeper mode %s clear", rule),
	}
	if more := len(rules) - 1; more > 0 {
		v.Sentence += fmt.Sprintf(" %s more.", ui.Capital(ui.Count(more, "rule")))
	}
	return v, true
}
