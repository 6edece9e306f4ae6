package web

import (
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/web/ui"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// standing says whether a rule may act in enforce, and by what.
func (r *ruleBook) standing(rule string) reconcile.Standing {
	return r.policy.Standing(&r.Controls, r.Now, rule)
}

// proofWords are what there is to say below the mode of an enforced rule: "" when it is proven.
func (r *ruleBook) proofWords(rule string) string {
	switch now := r.standing(rule); now.Kind {
	case reconcile.ProofNone:
		return "held: " + ui.Line(now.Line)
	case reconcile.ProofArmed, reconcile.ProofGrace:
		return ui.Line(now.Line)
	}
	return ""
}

// proofPair is the line on a rule's page.
func (r *ruleBook) proofPair(rule string) ui.Pair {
	now := r.standing(rule)
	by := map[reconcile.ProofKind]string{reconcile.ProofNone: "not proven", reconcile.ProofOff: "not asked for",
		reconcile.ProofNeedless: "not needed", reconcile.ProofGrace: "not proven, in its time of grace",
		reconcile.ProofArmed: "not proven, armed"}[now.Kind]
	c := ui.Cell{Text: reconcile.FirstOf(by, "by "+string(now.Kind))}
	c.Sub = ui.Line(now.Line)
	if !now.Until.IsZero() {
		c.Sub += ", until " + text.Time(now.Until)
	}
	return ui.PairOf("proof", c)
}

// armed is a rule that an operator lets act unproven.
func armedRequest(o *reconcile.Overview, rule string) requestView {
	by := o.Controls.Arms[rule]
	return requestView{
		Key: "arm " + ui.Name(rule), What: ui.Name(rule) + " armed unproven",
		Why: ui.Line(by.Reason), Author: ui.Name(by.Author), At: ui.Ago(by.At, o.Now),
		Until: ui.Moment{Text: "until it is revoked"}, Command: ui.Command("sandkeeper arm %s --revoke --reason …", rule),
	}
}

// unproven is the verdict while nothing but missing proofs holds what is due.
func unproven(due []*reconcile.FindingSeen, number string) (verdict, bool) {
	var rules []string
	for _, f := range due {
		if len(f.HeldBy) != 1 || f.HeldBy[0].Kind != reconcile.HeldUnproven {
			return verdict{}, false
		}
		if !slices.Contains(rules, f.Rule) {
			rules = append(rules, f.Rule)
		}
	}
	slices.Sort(rules)
	return verdict{
		Level: ui.Set, Word: "Not proven", Link: heldLink,
		Sentence: ui.Capital(number) + " would be repaired, but not proven on your history " + ui.Verb(len(rules), "is ",
			"are ") +
			ui.Line(strings.Join(rules, ", ")) + ".",
		Next:    "The page of each rule says what is missing. An operator may overrule that by name, with:",
		Command: ui.Command("sandkeeper arm %s --unproven --reason …", rules[0]),
	}, true
}
