package web

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/web/ui"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// overdueTerminate is when an accepted terminate that is not confirmed is worth a look.
const overdueTerminate = 2 * time.Minute

func waiting(s *model) (verdict, bool) {
	due, looking := s.findings.dueAndHeld()
	n := len(due)
	number := ui.Count(n, "finding")
	if len(s.Findings) < total(s.FindingsOpen) {
		number = "at least " + number // of those that were read
	}
	if looking == n {
		return verdict{
			Level: ui.Set, Word: "Observing",
			Sentence: fmt.Sprintf("%s would be repaired, but the rules only observe.", ui.Capital(number)),
			Next:     "Read them; a rule that is right is armed with “mode: enforce” in the config.",
			Link:     heldLink,
		}, n > 0
	}
	if v, only := unproven(due, number); only && n > 0 {
		return v, true
	}
	v := verdict{
		Level: ui.Warn, Word: "Held", Link: heldLink,
		Sentence: fmt.Sprintf("%s %s due and %s", ui.Capital(number), ui.Verb(n, "is", "are"), heldSentence(due)),
		Next:     "What is held, and what releases it, is below.",
	}
	if requested(due) {
		v.Level = ui.Set
	}
	return v, n > 0
}

var heldLink = ui.Link{Text: "What is held", Href: ui.Asking("findings", "state", reconcile.ChosenHeld)}

// requested reports whether an operator set what holds each of these.
func requested(due []*reconcile.FindingSeen) bool {
	return !slices.ContainsFunc(due, func(f *reconcile.FindingSeen) bool {
		return !slices.ContainsFunc(f.HeldBy, func(h reconcile.Held) bool { return isRequest(h.Kind) })
	})
}

// dueAndHeld are the findings that something holds, and how many of them only observing.
func (s *findings) dueAndHeld() (due []*reconcile.FindingSeen, looking int) {
	for i := range s.Findings {
		f := &s.Findings[i]
		if s.folded[f] || !f.Due || len(f.HeldBy) == 0 {
			continue
		}
		due = append(due, f)
		looking += truth(f.HeldBy[0].Kind == reconcile.HeldObserve && len(f.HeldBy) == 1)
	}
	return due, looking
}

// personal are the findings that nothing here repairs.
func personal(s *model) (verdict, bool) {
	n, v := 0, verdict{Level: ui.Warn, Word: "Needs attention"}
	for i := range s.Findings {
		f := &s.Findings[i]
		if s.findings.folded[f] || s.states.of(f) != reported {
			continue
		}
		if n++; n == 1 {
			v.Sentence, v.Next = ui.Sentence(ui.Capital(text.Plain(reasonOf(f), mostHead))), nextFor(s.Overview, f)
			v.Link = ui.Link{Text: "Runbook of " + f.Rule, Href: ui.Address("runbooks", "rules", f.Rule)}
		}
		if levelOf(s.Overview, f) == ui.Bad {
			v.Level = ui.Bad
		}
	}
	if n > 1 {
		v.Sentence += fmt.Sprintf(" And %s that only an operator can settle.", moreFindings(n-1))
	}
	return v, n > 0
}

// reasonOf is what a finding says, after the name of the task or the sandbox that it says it of.
func reasonOf(f *reconcile.FindingSeen) string {
	switch reconcile.TypeOf(f.Subject) {
	case reconcile.SubjectTask, reconcile.SubjectSandbox:
		return subjectWords(f.Subject) + ": " + f.Reason
	}
	return f.Reason
}

// nextFor is what a person does about a finding that nothing here repairs; "" when that
// depends.
func nextFor(o *reconcile.Overview, f *reconcile.FindingSeen) string {
	name := reconcile.TemplateOf(f.Subject, f.Provider)
	if name == "" {
		return ""
	}
	return nextForTemplate(o, f.Provider, name)
}

// nextForTemplate is what a person does about a template that cannot be used, or not for long.
func nextForTemplate(o *reconcile.Overview, provider, name string) string {
	at := ui.Name(provider)
	for _, t := range o.Templates {
		if t.Provider != provider || t.Name != name {
			continue
		}
		switch t.State {
		case reconcile.TemplateInactive:
			return fmt.Sprintf("Activate it at %s: no task that needs it can start until then.", at)
		case reconcile.TemplateActive:
			return fmt.Sprintf("Start a sandbox from it at %s, so that it remains active.", at)
		}
	}
	return fmt.Sprintf("Rebuild it at %s, or let no task use it: nothing can start from it.", at)
}

func moreFindings(n int) string {
	return fmt.Sprintf("%d more %s", n, ui.Verb(n, "finding", "findings"))
}

// unconfirmed are terminates that the provider accepted long ago and that nobody has seen done.
func unconfirmed(s *model) (verdict, bool) {
	n := 0
	var first time.Time
	for i := range s.Open {
		a := &s.Open[i]
		if !s.steps.overdue(a) {
			continue
		}
		if n++; first.IsZero() || a.ActedAt.Before(first) {
			first = a.ActedAt
		}
	}
	return verdict{
		Level: ui.Bad, Word: "Not confirmed",
		Sentence: fmt.Sprintf("%s %s still there; the provider accepted %s termination %s ago.",
			ui.Capital(ui.Count(n, "sandbox")), ui.Verb(n, "is", "are"), ui.Verb(n, "its", "the first"),
			text.Coarse(s.Now.Sub(first))),
		Next: "Terminating goes on by itself; ask the provider when it lasts.",
	}, n > 0
}

// unmapped are tasks and sandboxes that no rule can judge: they are no part of what agrees.
func unmapped(s *model) (verdict, bool) {
	tasks, boxes := 0, 0
	for key, n := range s.Counts {
		switch of := reconcile.ParseCount(key); {
		case of.What == reconcile.CountTasks && of.State == "unknown":
			tasks = n
		case of.What == reconcile.CountSandboxes && of.State == "unknown":
			boxes += n
		}
	}
	var words []string
	v := verdict{Level: ui.Warn, Word: "Not known"}
	if tasks > 0 {
		words = append(words, fmt.Sprintf("%s %s a status that the config does not map; nothing is done about %s.",
			ui.Count(tasks, "task"), ui.Verb(tasks, "has", "have"), ui.Verb(tasks, "it", "them")))
		v.Next = "Give each status of the table a meaning in the config, under tasks.status."
	}
	if boxes > 0 {
		words = append(words, fmt.Sprintf("%s %s in a state that sandkeeper does not know; nothing is done about %s.",
			ui.Count(boxes, "sandbox"), ui.Verb(boxes, "is", "are"), ui.Verb(boxes, "it", "them")))
	}
	v.Sentence = strings.Join(words, " ")
	return v, tasks+boxes > 0
}
