package web

import (
	"cmp"
	"fmt"
	"maps"
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

// An otherFindings is what one rule found besides the findings that are shown.
type otherFindings struct {
	Rule     string
	Summary  string // "And 35 more of orphan"
	Subjects []string
	More     string
}

// findings are the open ones, those that wait for a person first, of each rule a few. The
// others of each rule are one line that can be unfolded. Those of an incident are with it.
func (s *model) findings() (views []findingView, others []otherFindings) {
	shown, folded, rest := map[string]int{}, map[string]int{}, map[string][]string{}
	for _, f := range s.sortedFindings() {
		if s.folded[f] {
			folded[f.Rule]++
			continue
		}
		if shown[f.Rule] < mostOfRule && len(views) < mostFindings {
			shown[f.Rule]++
			views = append(views, s.finding(f))
			continue
		}
		rest[f.Rule] = append(rest[f.Rule], subjectWords(f.Subject)+", "+s.stateOf(f).Word())
	}
	for _, rule := range slices.Sorted(maps.Keys(s.FindingsOpen)) {
		if left := s.FindingsOpen[rule] - shown[rule] - folded[rule]; left > 0 {
			others = append(others, otherOf(rule, left, shown[rule] > 0, rest[rule]))
		}
	}
	return views, others[:min(len(others), mostGroups)]
}

func otherOf(rule string, left int, some bool, subjects []string) otherFindings {
	o := otherFindings{Rule: text.Plain(rule, mostName), Subjects: subjects[:min(len(subjects), mostSubjects)]}
	o.Summary = fmt.Sprintf("%d of %s", left, o.Rule)
	if some {
		o.Summary = fmt.Sprintf("And %d more of %s", left, o.Rule)
	}
	if unlisted := left - len(o.Subjects); unlisted > 0 && len(o.Subjects) > 0 {
		o.More = fmt.Sprintf("And %d more.", unlisted)
	}
	return o
}

func (s *model) sortedFindings() []*reconcile.FindingSeen {
	sorted := make([]*reconcile.FindingSeen, len(s.Findings))
	for i := range s.Findings {
		sorted[i] = &s.Findings[i]
	}
	slices.SortStableFunc(sorted, func(a, b *reconcile.FindingSeen) int {
		return cmp.Compare(urgency(s.stateOf(a)), urgency(s.stateOf(b)))
	})
	return sorted
}

// byUrgency are all states, the most urgent first.
var byUrgency = []state{reported, heldBack, stalled, underWay, awaited, watched}

func urgency(s state) int {
	return slices.Index(byUrgency, s)
}

func (s *model) finding(f *reconcile.FindingSeen) findingView {
	v := findingView{
		Key: text.Plain(f.Rule+" "+f.Subject, mostName), Rule: text.Plain(f.Rule, mostName), Means: means(f.Rule),
		Subject: subjectWords(f.Subject), State: s.stateOf(f),
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

// A resolvedLine is a finding that is over.
type resolvedLine struct {
	Rule     string
	Subject  string
	Reason   string
	Resolved moment
	Lasted   string
}

func (s *model) resolvedLines() []resolvedLine {
	var lines []resolvedLine
	for _, f := range s.Resolved[:min(len(s.Resolved), mostResolved)] {
		lines = append(lines, resolvedLine{
			Rule: text.Plain(f.Rule, mostName), Subject: subjectWords(f.Subject), Reason: text.Plain(f.Reason, mostLine),
			Resolved: ago(f.ResolvedAt, s.Now), Lasted: text.Coarse(f.ResolvedAt.Sub(f.OpenedAt)),
		})
	}
	return lines
}

// subjectWords are "task 12" for "task:12".
func subjectWords(subject string) string {
	of := reconcile.ParseSubject(subject)
	return text.Plain(strings.TrimSpace(string(of.Type)+" "+of.Within()), mostName)
}
