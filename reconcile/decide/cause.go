package decide

import (
	"fmt"
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/rules"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// causeExamples is how many failures an incident shows in their own words.
const causeExamples = 3

// common is the likely cause of failures with one signature: what they share and what the
// healthy ones do not. It is "" when nothing stands out.
func common(v *view.View, failures []*reconcile.Verdict, j *Judgement) (string, []reconcile.Evidence) {
	var causes []string
	var evidence []reconcile.Evidence
	say := func(cause string, because ...reconcile.Evidence) {
		if cause != "" {
			causes = append(causes, cause)
			evidence = append(evidence, because...)
		}
	}
	template, because := templateBehind(v, failures[0])
	say(template, because...)
	if text := failures[0].Error; text != "" {
		say("the error is: "+text, reconcile.Evidence{Source: reconcile.FirstOf(failures[0].Provider, "tasks"), At: v.Now,
			Fact: text})
	}
	healthy := healthy(v, j)
	for _, t := range traits(v) {
		if t.name == "template" && template != "" {
			continue // that it is not usable says more
		}
		if cause := t.apart(failures, healthy); cause != "" {
			say(cause, reconcile.Evidence{Source: "ledger", At: v.Now, Fact: cause})
		}
	}
	return strings.Join(causes, "; "), append(evidence, examples(failures)...)
}

// examples are the newest failures, in the words of their verdicts.
func examples(failures []*reconcile.Verdict) []reconcile.Evidence {
	var out []reconcile.Evidence
	for _, w := range failures[max(len(failures)-causeExamples, 0):] {
		out = append(out, reconcile.Evidence{Source: "ledger", At: w.At, Fact: w.Subject + ": " + text.Clip(w.Reason, 300),
			About: w.Subject})
	}
	return out
}

// templateBehind is the unusable template that the failures came from, or would have come
// from: their own, or, while that is not known, those that the config names.
func templateBehind(v *view.View, w *reconcile.Verdict) (string, []reconcile.Evidence) {
	var texts []string
	var because []reconcile.Evidence
	for _, t := range v.S.Templates {
		own := w.Template == "" || w.Template == t.Name || w.Template == t.ID
		if view.TemplateStateUsable(t.State) || !own || w.Provider != "" && w.Provider != t.Provider {
			continue
		}
		text := v.TemplateText(t)
		texts = append(texts, text)
		because = append(because, reconcile.Evidence{Source: t.Provider, At: t.AsOf, Fact: text})
	}
	return strings.Join(texts, "; "), because
}

// A trait is something that failures may share.
type trait struct {
	name  string // as people read it
	of    func(*reconcile.Verdict) string
	other func(*reconcile.Subject) string // the same of a healthy subject
}

func traits(v *view.View) []trait {
	return []trait{
		{"template", func(w *reconcile.Verdict) string { return w.Template }, (*reconcile.Subject).Template},
		{"region", func(w *reconcile.Verdict) string { return w.Region },
			func(s *reconcile.Subject) string { return rules.SubjectClass(s, "region") }},
		{"worker version", func(w *reconcile.Verdict) string { return w.Worker },
			func(s *reconcile.Subject) string { return s.Task.Worker }},
	}
}

// healthy are the running tasks that nothing was found of and whose worker lives.
func healthy(v *view.View, j *Judgement) []*reconcile.Subject {
	var out []*reconcile.Subject
	for i := range j.Decisions {
		d := &j.Decisions[i]
		s := d.Subject
		if len(d.Findings) > 0 || s.Task == nil || s.LinkState != reconcile.LinkLive ||
			s.Task.State != reconcile.TaskRunning {
			continue
		}
		if _, alive := v.Alive(s.Task); alive {
			out = append(out, s)
		}
	}
	return out
}

// apart tells that at least nine of ten failures share a value that at most one of ten
// healthy ones has. Without a healthy one that has another value it tells nothing.
func (t trait) apart(failures []*reconcile.Verdict, healthy []*reconcile.Subject) string {
	value, n := t.usual(failures)
	if value == "" || n*10 < len(failures)*9 {
		return ""
	}
	with, without := 0, 0
	for _, s := range healthy {
		switch t.other(s) {
		case "":
		case value:
			with++
		default:
			without++
		}
	}
	if without == 0 || with*10 > with+without {
		return ""
	}
	return fmt.Sprintf("%d of %d failures have %s %s, and so have %d of %d tasks that work",
		n, len(failures), t.name, text.Clip(value, 80), with, with+without)
}

// usual is the value that most failures have, the first in order when several do.
func (t trait) usual(failures []*reconcile.Verdict) (value string, n int) {
	counts := map[string]int{}
	for _, w := range failures {
		if one := t.of(w); one != "" {
			counts[one]++
		}
	}
	for _, one := range reconcile.SortedKeys(counts) {
		if counts[one] > n {
			value, n = one, counts[one]
		}
	}
	return value, n
}
