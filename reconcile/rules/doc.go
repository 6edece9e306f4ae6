// Package rules has what each rule finds: one file a rule, named as the rule, each a pure
// function of one subject and of what the whole fleet says. What a rule is, its defaults and
// remedies, is its row of [reconcile.Rules]; what becomes of what it found is decided by
// reconcile/decide.
package rules
