package web

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A heldGroup is one thing that holds due findings.
type heldGroup struct {
	Key      string
	By       string // as plan and metrics say it: "observe", "budget: per_pass 20"
	Means    string // for people, "" when By says it
	Count    string
	Subjects []string
	More     string

	number int
}

// mostSubjects is how many subjects a group names.
const mostSubjects = 20

// heldGroups are the due findings by what holds them, the largest group first.
func (s *scene) heldGroups() []heldGroup {
	subjects := map[string][]string{}
	for i := range s.Findings {
		f := &s.Findings[i]
		for _, by := range f.HeldBy {
			if f.Due {
				by = line(by, mostLine)
				subjects[by] = append(subjects[by], line(f.Rule, mostName)+": "+subjectWords(f.Subject))
			}
		}
	}
	var groups []heldGroup
	for by, of := range subjects {
		g := heldGroup{Key: by, By: by, Means: heldMeans(by), Count: count(len(of), "finding"), number: len(of)}
		g.Subjects = of[:min(len(of), mostSubjects)]
		if left := len(of) - len(g.Subjects); left > 0 {
			g.More = fmt.Sprintf("And %d more.", left)
		}
		groups = append(groups, g)
	}
	slices.SortFunc(groups, func(a, b heldGroup) int {
		return cmp.Or(cmp.Compare(b.number, a.number), cmp.Compare(a.By, b.By))
	})
	return groups[:min(len(groups), mostGroups)]
}

// heldMeans explains what holds to those who do not know its name, and says what lets go.
func heldMeans(by string) string {
	first, rest, _ := strings.Cut(by, " ")
	switch first {
	case "observe":
		return "The rule only looks. It acts once its mode is enforce."
	case "off":
		return "The rule was switched off."
	case "rollout:":
		return "Not among the share of subjects that the rule may act on yet."
	case "budget:":
		return "The budget is used up. It goes on by itself, with the next pass or hour."
	case "breaker:":
		return "Too many at once. A person looks at them and releases them."
	case "veto:":
		return "Another finding forbids to touch the row."
	}
	if source, ok := strings.CutSuffix(first, "-untrusted"); ok {
		return capital(sourceWords(source+":"+rest)) + " is not trusted. It goes on by itself when that is over."
	}
	return ""
}

// A wishView is something that an operator asked for and that is in force.
type wishView struct {
	Key     string
	What    string // "Pause of all"
	Why     string
	Author  string
	At      moment
	Until   moment
	Joint   string // what stands between the two
	Command string // that ends it, or lets go what it holds
}

// wishes are the open breakers, lowered modes, pauses, holds and releases.
func (s *scene) wishes() []wishView {
	var views []wishView
	for _, rule := range slices.Sorted(maps.Keys(s.Controls.Breakers)) {
		views = append(views, s.breaker(s.Controls.Breakers[rule]))
	}
	for _, rule := range slices.Sorted(maps.Keys(s.Controls.Modes)) {
		views = append(views, wishView{
			Key: "mode " + rule, What: fmt.Sprintf("%s lowered to %s", line(rule, mostName), s.Controls.Modes[rule]),
			Until: moment{Text: "until it is cleared"}, Command: command("sandkeeper mode %s clear", rule),
		})
	}
	for _, p := range s.Controls.Pauses {
		scope := line(p.Scope, mostName)
		views = append(views, wishView{
			Key: "pause " + scope, What: "Pause of " + scope, Why: line(p.Reason, mostLine), Author: line(p.Author, mostName),
			At: ago(p.At, s.Now), Until: until(p.Until, s.Now, "until it is resumed"),
			Command: command("sandkeeper resume %s", p.Scope),
		})
	}
	for _, h := range s.Controls.Holds {
		views = append(views, wishView{
			Key: fmt.Sprintf("hold %d", h.ID), What: "Hold of " + subjectWords(h.Target), Why: line(h.Reason, mostLine),
			Author: line(h.Author, mostName), At: ago(h.At, s.Now), Until: until(h.Until, s.Now, "until it is lifted"),
			Command: command("sandkeeper unhold %s", h.Target),
		})
	}
	for _, r := range s.Controls.Releases {
		views = append(views, wishView{
			Key:  fmt.Sprintf("release %d", r.ID),
			What: fmt.Sprintf("Release of %s from %s", count(len(r.Subjects), "subject"), line(r.What, mostName)),
			Why:  line(r.Reason, mostLine), Author: line(r.Author, mostName), At: ago(r.At, s.Now),
			Until: until(r.Until, s.Now, ""),
		})
	}
	for i := range views {
		if views[i].At.ISO != "" {
			views[i].Joint = ","
		}
	}
	return views
}

func (s *scene) breaker(b reconcile.Breaker) wishView {
	rule := line(b.Rule, mostName)
	return wishView{
		Key: "breaker " + rule, What: "Breaker of " + rule,
		Why: count(len(b.Subjects), "subject") + " due at once, list " + line(b.Hash, mostName),
		At:  ago(b.OpenedAt, s.Now), Until: moment{Text: "until they are released or healthy"},
		Command: releaseCommand(b),
	}
}

// A modeLine is the rules of one mode.
type modeLine struct {
	Mode  string
	Rules string
}

// modeLines are the rules of this version by the mode that they are in, lowered ones marked.
func (s *scene) modeLines() []modeLine {
	by := map[reconcile.Mode][]string{}
	for _, rule := range reconcile.BuiltRules() {
		mode := s.policy.Rules[rule].Mode
		name := rule
		if low, ok := s.Controls.Modes[rule]; ok && lower(low, mode) {
			mode, name = low, rule+" (lowered by an operator)"
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
func lower(wish, config reconcile.Mode) bool {
	return wish == reconcile.Off && config != reconcile.Off || wish == reconcile.Observe && config == reconcile.Enforce
}
