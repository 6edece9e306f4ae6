package web

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/web/ui"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A requestView is something that an operator asked for and that is in force.
type requestView struct {
	Key     string
	What    string // "Pause of all"
	Why     string
	Author  string
	At      ui.Moment
	Until   ui.Moment
	Joint   string // what stands between the two
	Command string // that ends it, or lets go what it holds
	// Subjects are those of the breaker of a rule: they are read before the command that lets them go.
	Rule     string
	Subjects []string
	About    ui.Cell // its page; nothing where the words say enough
	Holds    string  // how many findings
	Act      ui.Act  // that ends it, or lets go what it holds
}

// requests are the open breakers, lowered modes, pauses, holds and releases.
func requests(o *reconcile.Overview) []requestView {
	var views []requestView
	for _, rule := range slices.Sorted(maps.Keys(o.Controls.Breakers)) {
		views = append(views, breakerRequest(o, o.Controls.Breakers[rule]))
	}
	for _, rule := range slices.Sorted(maps.Keys(o.Controls.Modes)) {
		views = append(views, loweredRequest(o, rule))
	}
	for _, rule := range slices.Sorted(maps.Keys(o.Controls.Arms)) {
		views = append(views, armedRequest(o, rule))
	}
	for _, p := range o.Controls.Pauses {
		views = append(views, pauseRequest(o, p))
	}
	for _, h := range o.Controls.Holds {
		views = append(views, holdRequest(o, h))
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

func breakerRequest(o *reconcile.Overview, b reconcile.Breaker) requestView {
	rule := ui.Name(b.Rule)
	return requestView{
		Key: "breaker " + rule, What: "Breaker of " + rule,
		Why: ui.Count(len(b.Subjects), "subject") + " due at once" + colon(breakerWhy(o, b)) + ", list " + ui.Name(b.Hash),
		At:  ui.Ago(b.OpenedAt, o.Now), Until: ui.Moment{Text: "until they are released or healthy"},
		Command: releaseCommand(b), Rule: b.Rule, Subjects: b.Subjects, About: ui.RuleCell(b.Rule),
		Act: ui.ReleaseAct(b.Rule),
	}
}

func loweredRequest(o *reconcile.Overview, rule string) requestView {
	by := o.Controls.Lowered[rule]
	v := requestView{
		Key:  "mode " + ui.Name(rule),
		What: fmt.Sprintf("%s lowered to %s", ui.Name(rule), o.Controls.Modes[rule]),
		Why:  ui.Line(by.Reason), Author: ui.Name(by.Author),
		Until: ui.Moment{Text: "until it is cleared"}, Command: ui.Command("sandkeeper mode %s clear", rule),
		About: ui.RuleCell(rule), Act: ui.ModeAct(rule),
	}
	if !by.At.IsZero() {
		v.At = ui.Ago(by.At, o.Now)
	}
	return v
}

func pauseRequest(o *reconcile.Overview, p reconcile.Pause) requestView {
	scope := ui.Name(p.Scope)
	return requestView{
		Key: "pause " + scope, What: "Pause of " + scope, Why: ui.Line(p.Reason), Author: ui.Name(p.Author),
		At: ui.Ago(p.At, o.Now), Until: ui.Until(p.Until, o.Now, "until it is resumed"),
		Command: ui.Command("sandkeeper resume %s", p.Scope), About: pauseAbout(p.Scope), Act: ui.ResumeAct(p.Scope),
		Holds: holdsWords(o, reconcile.HeldPause, p.Scope),
	}
}

// pauseAbout is the page of what is paused; nothing when that is everything.
func pauseAbout(scope string) ui.Cell {
	if ui.SubjectAddress(scope) == "" {
		return ui.Cell{}
	}
	return ui.SubjectCell(scope)
}

func holdRequest(o *reconcile.Overview, h reconcile.Hold) requestView {
	return requestView{
		Key: fmt.Sprintf("hold %d", h.ID), What: "Hold", About: ui.SubjectCell(h.Target), Why: ui.Line(h.Reason),
		Author: ui.Name(h.Author), At: ui.Ago(h.At, o.Now), Until: ui.Until(h.Until, o.Now, "until it is lifted"),
		Command: ui.Command("sandkeeper unhold %s", h.Target), Act: ui.UnholdAct(h.Target),
		Holds: holdsWords(o, reconcile.HeldHold, h.Target),
	}
}

func releaseRequest(now time.Time, r reconcile.Release) requestView {
	return requestView{
		Key:  fmt.Sprintf("release %d", r.ID),
		What: fmt.Sprintf("Release of %s from %s", ui.Count(len(r.Subjects), "subject"), ui.Name(r.What)),
		Why:  ui.Line(r.Reason), Author: ui.Name(r.Author), At: ui.Ago(r.At, now),
		Until: ui.Until(r.Until, now, ""),
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
