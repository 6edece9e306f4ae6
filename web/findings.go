package web

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/web/ui"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A findingView is one open finding with its evidence.
type findingView struct {
	Key      string // the same as long as it is open
	Rule     string
	Means    string // what the rule finds, for people
	Subject  string
	State    state
	Reason   string
	Words    ui.Linked // the same, with what it is about
	IDs      []identity
	Opened   ui.Moment
	Seen     ui.Moment
	Looks    string
	Held     string // "Held by ana: looking into it.", "" when nothing holds it
	HeldBy   []string
	Evidence []ui.EvidenceLine
	Explain  string // the command that tells more, "" for none
}

// An identity is something that a person will want to copy.
type identity struct{ Name, Value string }

// findings are the open ones, with where each stands and which belong to an incident.
type findings struct {
	*reconcile.Overview
	states *states
	membership
}

// sortedFindings are the open ones, those that wait for an operator first.
func (s *findings) sorted() []*reconcile.FindingSeen {
	sorted := make([]*reconcile.FindingSeen, len(s.Findings))
	for i := range s.Findings {
		sorted[i] = &s.Findings[i]
	}
	slices.SortStableFunc(sorted, func(a, b *reconcile.FindingSeen) int {
		return cmp.Compare(urgency(s.states.of(a)), urgency(s.states.of(b)))
	})
	return sorted
}

// byUrgency are all states, the most urgent first.
var byUrgency = []state{reported, heldBack, stalled, underWay, awaited, watched}

func urgency(s state) int {
	return slices.Index(byUrgency, s)
}

func (s *findings) view(f *reconcile.FindingSeen) findingView {
	v := findingView{
		Key: ui.Name(f.Rule + " " + f.Subject), Rule: ui.Name(f.Rule), Means: means(f.Rule),
		Subject: subjectWords(f.Subject), State: s.states.of(f),
		Reason: ui.Sentence(ui.Capital(ui.Line(f.Reason))), IDs: identities(f),
		Opened: ui.Ago(f.OpenedAt, s.Now), Seen: ui.Ago(f.LastSeen, s.Now), Looks: ui.Count(f.Sightings, "look"),
	}
	if v.State == heldBack {
		v.Held = ui.Sentence("Held " + holding(f.HeldBy))
	}
	for _, h := range f.HeldBy {
		v.HeldBy = append(v.HeldBy, ui.Line(h.String()))
	}
	about := []string{f.Subject, reconcile.TaskSubject(f.Task),
		reconcile.BoxSubject(reconcile.Ref{Provider: f.Provider, ID: f.Sandbox})}
	for _, e := range f.Evidence {
		about = append(about, e.About)
	}
	v.Words, v.Evidence = ui.Linking(v.Reason, about...), ui.EvidenceLines(f.Evidence, about...)
	for _, id := range []string{f.Task, f.Sandbox} {
		if v.Explain == "" {
			v.Explain = ui.Command("sandkeeper explain %s", id)
		}
	}
	return v
}

// identities are the ids of a finding, in the form in which verbs and queries take them.
func identities(f *reconcile.FindingSeen) []identity {
	var ids []identity
	add := func(name, value string) {
		if value != "" {
			ids = append(ids, identity{name, ui.Name(value)})
		}
	}
	add("task", f.Task)
	if f.Sandbox != "" {
		add("sandbox", f.Provider+"/"+f.Sandbox)
	}
	if len(ids) == 0 {
		of := reconcile.ParseSubject(f.Subject)
		add(ui.Name(string(of.Type)), of.Within())
	}
	return ids
}

// subjectWords are "task 12" for "task:12".
func subjectWords(subject string) string {
	of := reconcile.ParseSubject(subject)
	return ui.Name(strings.TrimSpace(string(of.Type) + " " + of.Within()))
}

// dueWords are how many are due and how many of these are held; "" without any.
func (s *findings) dueWords() string {
	due, heldOnes := 0, 0
	for i := range s.Findings {
		held := s.states.of(&s.Findings[i]) == heldBack
		due += truth(s.Findings[i].Due && !held)
		heldOnes += truth(held)
	}
	if len(s.Findings) == 0 {
		return ""
	}
	return fmt.Sprintf("%d due, %d held", due, heldOnes)
}
