package web

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// A findingView is one open finding with its evidence.
type findingView struct {
	Key      string // the same as long as it is open
	Rule     string
	Means    string // what the rule finds, for people
	Subject  string
	State    state
	Reason   string
	IDs      []identity
	Opened   moment
	Seen     moment
	Looks    string
	Held     string // "Held by ana: looking into it.", "" when nothing holds it
	HeldBy   []string
	Evidence []evidenceLine
	Explain  string // the command that tells more, "" for none
}

// An identity is something that a person will want to copy.
type identity struct{ Name, Value string }

// An evidenceLine is one fact. Its time is of the source's own clock, so it has no age.
type evidenceLine struct {
	Source string
	At     moment
	Fact   string
	Block  string // what is too long for a line
}

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
		Key: text.Plain(f.Rule+" "+f.Subject, mostName), Rule: text.Plain(f.Rule, mostName), Means: means(f.Rule),
		Subject: subjectWords(f.Subject), State: s.states.of(f),
		Reason: sentence(capital(text.Plain(f.Reason, mostLine))), IDs: identities(f),
		Opened: ago(f.OpenedAt, s.Now), Seen: ago(f.LastSeen, s.Now), Looks: count(f.Sightings, "look"),
	}
	if v.State == heldBack {
		v.Held = sentence("Held " + holding(f.HeldBy))
	}
	for _, h := range f.HeldBy {
		v.HeldBy = append(v.HeldBy, text.Plain(h.String(), mostLine))
	}
	v.Evidence = evidenceLines(f.Evidence)
	for _, id := range []string{f.Task, f.Sandbox} {
		if v.Explain == "" {
			v.Explain = command("sandkeeper explain %s", id)
		}
	}
	return v
}

// evidenceLines are the facts of a finding or an incident.
func evidenceLines(all []reconcile.Evidence) []evidenceLine {
	var lines []evidenceLine
	for _, e := range all[:min(len(all), mostEvidence)] {
		l := evidenceLine{Source: text.Plain(e.Source, mostName), At: exactly(e.At)}
		l.Fact, l.Block = inline(e.Fact)
		lines = append(lines, l)
	}
	return lines
}

// identities are the ids of a finding, in the form in which verbs and queries take them.
func identities(f *reconcile.FindingSeen) []identity {
	var ids []identity
	add := func(name, value string) {
		if value != "" {
			ids = append(ids, identity{name, text.Plain(value, mostName)})
		}
	}
	add("task", f.Task)
	if f.Sandbox != "" {
		add("sandbox", f.Provider+"/"+f.Sandbox)
	}
	if len(ids) == 0 {
		of := reconcile.ParseSubject(f.Subject)
		add(text.Plain(string(of.Type), mostName), of.Within())
	}
	return ids
}

// subjectWords are "task 12" for "task:12".
func subjectWords(subject string) string {
	of := reconcile.ParseSubject(subject)
	return text.Plain(strings.TrimSpace(string(of.Type)+" "+of.Within()), mostName)
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
