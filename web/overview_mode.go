package web

import (
	"fmt"
	"maps"
	"slices"

	"github.com/sandkeeper/sandkeeper/web/ui"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// pausedAll is the pause of everything, if there is one.
func pausedAll(o *reconcile.Overview) (reconcile.Pause, bool) {
	for _, p := range o.Controls.Pauses {
		if p.Scope == "all" {
			return p, true
		}
	}
	return reconcile.Pause{}, false
}

// acts are what an operator may ask for of everything.
func (s *model) acts() []ui.Act {
	if p, paused := pausedAll(s.Overview); paused {
		return []ui.Act{ui.PassAct(), ui.ResumeAct(p.Scope)}
	}
	return []ui.Act{ui.PassAct(), ui.PauseAllAct()}
}

// A ruleBook is what each rule may do: by the config, by its proof, and by what operators lowered.
type ruleBook struct {
	*reconcile.Overview
	policy *reconcile.Policy
}

// onlyObserves reports whether no rule may act. A page that was told of no rule cannot know.
func (r *ruleBook) onlyObserves() bool {
	for rule, p := range r.policy.Rules {
		if r.modeOf(rule, p.Mode) == reconcile.Enforce {
			return false
		}
	}
	return len(r.policy.Rules) > 0
}

// modeOf is the mode of a rule with what operators lowered.
func (r *ruleBook) modeOf(rule string, config reconcile.Mode) reconcile.Mode {
	if low, ok := r.Controls.Modes[rule]; ok && lower(low, config) {
		return low
	}
	return config
}

// tempered makes a good verdict say that nothing would be repaired, when that is so: it is no good news then.
func (s *model) tempered(v verdict) verdict {
	p, paused := pausedAll(s.Overview)
	switch {
	case v.Level != ui.Well && v.Level != ui.Busy:
	case paused:
		v.Level, v.Word = ui.Set, "Paused"
		v.Sentence += " Nothing is repaired: all acting is paused" + signed(text.Plain(p.Author, mostHolding),
			text.Plain(p.Reason, mostHolding)) + "."
	case s.rules.onlyObserves():
		v.Level, v.Word = ui.Set, "Observe only"
		v.Sentence += " Nothing is repaired: every rule only observes."
	}
	return v
}

// chips are what belongs to the verdict besides its sentence.
func (s *model) chips() []ui.Cell {
	var out []ui.Cell
	if _, paused := pausedAll(s.Overview); paused {
		out = append(out, ui.Chip(ui.Set, "PAUSED").To("stops"))
	}
	if s.rules.onlyObserves() {
		out = append(out, ui.Chip(ui.Set, "OBSERVE ONLY").To("rules"))
	}
	for _, rule := range slices.Sorted(maps.Keys(s.Controls.Modes)) {
		l := ui.Set
		if demotedBy(s.Overview, rule) {
			l = ui.Bad
		}
		out = append(out, ui.Chip(l, ui.Name(rule)+": "+string(s.Controls.Modes[rule])).To(ui.RuleAddress(rule)))
	}
	if missed := s.missed(); missed > 0 {
		out = append(out, ui.Chip(ui.Warn, ui.Count(missed, "target")+" missed").To("./#targets"))
	}
	return out
}

// missed is how many targets were not met.
func (s *model) missed() int {
	n := 0
	for _, l := range s.targets() {
		n += truth(l.Word == "missed")
	}
	return n
}

// missedWords end a good verdict with what was not good within the window, so that green does not hide it.
func (s *model) missedWords() string {
	n := s.missed()
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" Of the targets of the last %s, %d %s missed.", text.Coarse(s.Scores.Window), n,
		ui.Verb(n, "was", "were"))
}
