package web

import (
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/web/ui"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/web/fleet"
	"github.com/sandkeeper/sandkeeper/web/fresh"
)

// A model is one reading of the ledger with what the page knows besides, and what each topic makes of it.
type model struct {
	*reconcile.Overview
	fresh    fresh.Freshness
	policy   reconcile.Policy // with the thresholds that were learned
	steps    *steps
	states   *states
	rules    *ruleBook
	findings *findings
	fleet    *fleet.Fleet
	trends   *fleet.Trend
	hold     []item // what keeps something from being repaired: every page says how many
}

func newScene(o *reconcile.Overview, p reconcile.Policy, t *reconcile.Trends) *model {
	o = fleet.Configured(o, &p)
	o.Counts = fleet.Trusted(o)
	s := &model{Overview: o, fresh: fresh.Of(o, p.Quick, p.Full), policy: *p.WithLearned(&o.Controls)}
	s.steps = stepsOf(o, &s.policy, s.fresh.Limit)
	s.states = statesOf(o, s.steps.still)
	s.rules = &ruleBook{o, &s.policy}
	s.findings = &findings{o, s.states, membersOf(o)}
	s.trends = &fleet.Trend{Trends: t}
	s.fleet = &fleet.Fleet{Overview: o, Policy: &s.policy, Trends: s.trends}
	s.hold = append(s.steps.incidentRows(), holdRows(o)...)
	return s
}

// states tell where each finding stands, by what is done about its subject.
type states struct {
	open  map[string]bool                  // tasks, sandboxes and subjects with an open action that is worked at
	idle  map[string]bool                  // with one that nothing works at
	acted map[string]time.Time             // when the newest one of each was closed recently
	known map[*reconcile.FindingSeen]state // what was asked for once: lists are sorted by it
}

func statesOf(o *reconcile.Overview, still map[string]string) *states {
	s := &states{open: map[string]bool{}, idle: map[string]bool{}, acted: map[string]time.Time{},
		known: make(map[*reconcile.FindingSeen]state, len(o.Findings))}
	for i := range o.Open {
		if a := &o.Open[i]; still[a.ID] != "" {
			remember(s.idle, a)
		} else {
			remember(s.open, a)
		}
	}
	for i := range o.Recent {
		s.rememberClosed(&o.Recent[i])
	}
	return s
}

// rememberClosed notes when something was done about all that an action is about.
func (s *states) rememberClosed(a *reconcile.Action) {
	about := map[string]bool{}
	remember(about, a)
	for id := range about {
		s.acted[id] = reconcile.Latest(s.acted[id], a.ClosedAt)
	}
}

// remember notes all that an action is about: it may have been planned for another finding of
// the same thing.
func remember(seen map[string]bool, a *reconcile.Action) {
	seen[a.Subject] = true
	if a.Task != "" {
		seen[reconcile.TaskSubject(a.Task)] = true
	}
	if a.Sandbox != "" {
		seen[sandboxID(a.Provider, a.Sandbox)] = true
	}
}

func sandboxID(provider, sandbox string) string {
	return reconcile.BoxSubject(reconcile.Ref{Provider: provider, ID: sandbox})
}

// A state is where a finding stands.
type state string

// The states of an open finding.
const (
	watched  state = "watched" // not past its threshold
	heldBack state = "held"    // due, and something holds it
	underWay state = "under way"
	stalled  state = "stalled"  // a step is open, and nothing works at it
	awaited  state = "acted on" // it was acted on, the next pass looks again
	reported state = "reported" // due, and nothing here repairs it
)

// of tells where a finding stands. A due one without any action has a remedy that is
// to report: a pass records what it plans together with what it finds.
func (s *states) of(f *reconcile.FindingSeen) state {
	is, known := s.known[f]
	if !known {
		is = s.look(f)
		s.known[f] = is
	}
	return is
}

func (s *states) look(f *reconcile.FindingSeen) state {
	switch {
	case s.about(s.open, f):
		return underWay
	case f.Due && len(f.HeldBy) > 0:
		return heldBack
	case s.about(s.idle, f):
		return stalled
	case !f.Due:
		return watched
	case s.actedOn(f, f.LastSeen): // what a pass still found afterwards was not repaired by that
		return awaited
	}
	return reported
}

// actedOn reports whether something was done about what a finding is about, since a time.
func (s *states) actedOn(f *reconcile.FindingSeen, since time.Time) bool {
	return slices.ContainsFunc(aboutOf(f), func(id string) bool {
		at, acted := s.acted[id]
		return acted && !at.Before(since)
	})
}

func (s *states) about(seen map[string]bool, f *reconcile.FindingSeen) bool {
	return slices.ContainsFunc(aboutOf(f), func(id string) bool { return seen[id] })
}

// aboutOf are all names of what a finding is about.
func aboutOf(f *reconcile.FindingSeen) []string {
	names := []string{f.Subject}
	if f.Task != "" {
		names = append(names, reconcile.TaskSubject(f.Task))
	}
	if f.Sandbox != "" {
		names = append(names, sandboxID(f.Provider, f.Sandbox))
	}
	return names
}

// Level is how bad a state is.
func (s state) Level() ui.Level {
	switch s {
	case heldBack, stalled, reported:
		return ui.Warn
	case underWay, awaited:
		return ui.Busy
	}
	return ui.Calm
}

// Word is the state as the page says it.
func (s state) Word() string {
	return map[state]string{
		watched: "watched", heldBack: "held", underWay: "repair under way", stalled: "repair waits",
		awaited: "acted on", reported: "needs attention",
	}[s]
}
