package web

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// A requestView is something that an operator asked for and that is in force.
type requestView struct {
	Key     string
	What    string // "Pause of all"
	Why     string
	Author  string
	At      moment
	Until   moment
	Joint   string // what stands between the two
	Command string // that ends it, or lets go what it holds
	// Subjects are those of a breaker: they are read before the command that lets them go.
	Subjects []string
}

// requests are the open breakers, lowered modes, pauses, holds and releases.
func (s *model) requests() []requestView {
	var views []requestView
	for _, rule := range slices.Sorted(maps.Keys(s.Controls.Breakers)) {
		views = append(views, s.breaker(s.Controls.Breakers[rule]))
	}
	for _, rule := range slices.Sorted(maps.Keys(s.Controls.Modes)) {
		views = append(views, s.lowered(rule))
	}
	for _, rule := range slices.Sorted(maps.Keys(s.Controls.Arms)) {
		views = append(views, s.armed(rule))
	}
	for _, p := range s.Controls.Pauses {
		views = append(views, s.pause(p))
	}
	for _, h := range s.Controls.Holds {
		views = append(views, s.hold(h))
	}
	for _, r := range s.Controls.Releases {
		views = append(views, s.release(r))
	}
	for i := range views {
		if views[i].At.ISO != "" {
			views[i].Joint = ","
		}
	}
	return views
}

func (s *model) breaker(b reconcile.Breaker) requestView {
	rule := text.Plain(b.Rule, mostName)
	return requestView{
		Key: "breaker " + rule, What: "Breaker of " + rule,
		Why: count(len(b.Subjects), "subject") + " due at once, list " + text.Plain(b.Hash, mostName),
		At:  ago(b.OpenedAt, s.Now), Until: moment{Text: "until they are released or healthy"},
		Command: releaseCommand(b), Subjects: b.Subjects,
	}
}

func (s *model) lowered(rule string) requestView {
	by := s.Controls.Lowered[rule]
	v := requestView{
		Key:  "mode " + text.Plain(rule, mostName),
		What: fmt.Sprintf("%s lowered to %s", text.Plain(rule, mostName), s.Controls.Modes[rule]),
		Why:  text.Plain(by.Reason, mostLine), Author: text.Plain(by.Author, mostName),
		Until: moment{Text: "until it is cleared"}, Command: command("sandkeeper mode %s clear", rule),
	}
	if !by.At.IsZero() {
		v.At = ago(by.At, s.Now)
	}
	return v
}

func (s *model) pause(p reconcile.Pause) requestView {
	scope := text.Plain(p.Scope, mostName)
	return requestView{
		Key: "pause " + scope, What: "Pause of " + scope, Why: text.Plain(p.Reason, mostLine), Author: text.Plain(p.Author,
			mostName),
		At: ago(p.At, s.Now), Until: until(p.Until, s.Now, "until it is resumed"),
		Command: command("sandkeeper resume %s", p.Scope),
	}
}

func (s *model) hold(h reconcile.Hold) requestView {
	return requestView{
		Key: fmt.Sprintf("hold %d", h.ID), What: "Hold of " + subjectWords(h.Target), Why: text.Plain(h.Reason, mostLine),
		Author: text.Plain(h.Author, mostName), At: ago(h.At, s.Now), Until: until(h.Until, s.Now, "until it is lifted"),
		Command: command("sandkeeper unhold %s", h.Target),
	}
}

func (s *model) release(r reconcile.Release) requestView {
	return requestView{
		Key:  fmt.Sprintf("release %d", r.ID),
		What: fmt.Sprintf("Release of %s from %s", count(len(r.Subjects), "subject"), text.Plain(r.What, mostName)),
		Why:  text.Plain(r.Reason, mostLine), Author: text.Plain(r.Author, mostName), At: ago(r.At, s.Now),
		Until: until(r.Until, s.Now, ""),
	}
}

// A modeLine is the rules of one mode.
type modeLine struct {
	Mode  string
	Rules string
}

// modeLines are the rules of this version by the mode that they are in, lowered ones marked.
func (s *model) modeLines() []modeLine {
	by := map[reconcile.Mode][]string{}
	for _, rule := range reconcile.RuleNames {
		if s.policy.Tasks.None && reconcile.RuleNamed(rule).NeedsTasks {
			continue // it finds nothing, so it would be no comfort that it is armed
		}
		mode := s.policy.Rules[rule].Mode
		name := rule
		if low, ok := s.Controls.Modes[rule]; ok && lower(low, mode) {
			mode, name = low, rule+" (lowered by an operator)"
			if s.demotedBy(rule) {
				name = rule + " (lowered because of its false positives)"
			}
		}
		if share := s.policy.Rules[rule].Rollout; mode == reconcile.Enforce && share < 100 {
			name += fmt.Sprintf(" (%d %% of subjects)", share)
		}
		by[mode] = append(by[mode], name)
	}
	var lines []modeLine
	for _, m := range []reconcile.Mode{reconcile.Enforce, reconcile.Observe, reconcile.Off} {
		if len(by[m]) > 0 {
			lines = append(lines, modeLine{string(m), strings.Join(by[m], ", ")})
		}
	}
	return lines
}

// lower reports whether an operator's mode allows less than the config's.
func lower(request, config reconcile.Mode) bool {
	return request == reconcile.Off && config != reconcile.Off || request == reconcile.Observe &&
		config == reconcile.Enforce
}
