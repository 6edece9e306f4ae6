package web

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

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
func requests(o *reconcile.Overview) []requestView {
	var views []requestView
	for _, rule := range slices.Sorted(maps.Keys(o.Controls.Breakers)) {
		views = append(views, breakerRequest(o.Now, o.Controls.Breakers[rule]))
	}
	for _, rule := range slices.Sorted(maps.Keys(o.Controls.Modes)) {
		views = append(views, loweredRequest(o, rule))
	}
	for _, rule := range slices.Sorted(maps.Keys(o.Controls.Arms)) {
		views = append(views, armedRequest(o, rule))
	}
	for _, p := range o.Controls.Pauses {
		views = append(views, pauseRequest(o.Now, p))
	}
	for _, h := range o.Controls.Holds {
		views = append(views, holdRequest(o.Now, h))
	}
	for _, r := range o.Controls.Releases {
		views = append(views, releaseRequest(o.Now, r))
	}
	for i := range views {
		if views[i].At.ISO != "" {
			views[i].Joint = ","
		}
	}
	return views
}

func breakerRequest(now time.Time, b reconcile.Breaker) requestView {
	rule := text.Plain(b.Rule, mostName)
	return requestView{
		Key: "breaker " + rule, What: "Breaker of " + rule,
		Why: count(len(b.Subjects), "subject") + " due at once, list " + text.Plain(b.Hash, mostName),
		At:  ago(b.OpenedAt, now), Until: moment{Text: "until they are released or healthy"},
		Command: releaseCommand(b), Subjects: b.Subjects,
	}
}

func loweredRequest(o *reconcile.Overview, rule string) requestView {
	by := o.Controls.Lowered[rule]
	v := requestView{
		Key:  "mode " + text.Plain(rule, mostName),
		What: fmt.Sprintf("%s lowered to %s", text.Plain(rule, mostName), o.Controls.Modes[rule]),
		Why:  text.Plain(by.Reason, mostLine), Author: text.Plain(by.Author, mostName),
		Until: moment{Text: "until it is cleared"}, Command: command("sandkeeper mode %s clear", rule),
	}
	if !by.At.IsZero() {
		v.At = ago(by.At, o.Now)
	}
	return v
}

func pauseRequest(now time.Time, p reconcile.Pause) requestView {
	scope := text.Plain(p.Scope, mostName)
	return requestView{
		Key: "pause " + scope, What: "Pause of " + scope, Why: text.Plain(p.Reason, mostLine), Author: text.Plain(p.Author,
			mostName),
		At: ago(p.At, now), Until: until(p.Until, now, "until it is resumed"),
		Command: command("sandkeeper resume %s", p.Scope),
	}
}

func holdRequest(now time.Time, h reconcile.Hold) requestView {
	return requestView{
		Key: fmt.Sprintf("hold %d", h.ID), What: "Hold of " + subjectWords(h.Target), Why: text.Plain(h.Reason, mostLine),
		Author: text.Plain(h.Author, mostName), At: ago(h.At, now), Until: until(h.Until, now, "until it is lifted"),
		Command: command("sandkeeper unhold %s", h.Target),
	}
}

func releaseRequest(now time.Time, r reconcile.Release) requestView {
	return requestView{
		Key:  fmt.Sprintf("release %d", r.ID),
		What: fmt.Sprintf("Release of %s from %s", count(len(r.Subjects), "subject"), text.Plain(r.What, mostName)),
		Why:  text.Plain(r.Reason, mostLine), Author: text.Plain(r.Author, mostName), At: ago(r.At, now),
		Until: until(r.Until, now, ""),
	}
}

// A modeLine is the rules of one mode.
type modeLine struct {
	Mode  string
	Rules string
}

// modeLines are the rules of this version by the mode that they are in, lowered ones marked.
func (r *ruleBook) modeLines() []modeLine {
	by := map[reconcile.Mode][]string{}
	for _, rule := range reconcile.RuleNames {
		if r.policy.Tasks.None && reconcile.RuleNamed(rule).NeedsTasks {
			continue // it finds nothing, so it would be no comfort that it is armed
		}
		mode := r.policy.Rules[rule].Mode
		name := rule
		if low, ok := r.Controls.Modes[rule]; ok && lower(low, mode) {
			mode, name = low, rule+" (lowered by an operator)"
			if demotedBy(r.Overview, rule) {
				name = rule + " (lowered because of its false positives)"
			}
		}
		if share := r.policy.Rules[rule].Rollout; mode == reconcile.Enforce && share < 100 {
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
