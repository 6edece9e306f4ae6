// Package asked knows the words that a person may choose findings, actions and all other lists by. It is pure.
package asked

import (
	"fmt"
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// knownStates are the states that a list may be asked for, besides its usual ones.
var knownStates = map[string][]string{
	"findings": {reconcile.ChosenOpen, reconcile.ChosenDue, reconcile.ChosenHeld, reconcile.ChosenWatched,
		reconcile.ChosenResolved},
	"actions":   {reconcile.ChosenOpen, reconcile.ChosenClosed},
	"incidents": {reconcile.ChosenOpen, reconcile.ChosenClosed, reconcile.ChosenAll},
	"tasks": append(words(reconcile.TaskPending, reconcile.TaskAssigned, reconcile.TaskRunning, reconcile.TaskCompleted,
		reconcile.TaskFailed, reconcile.TaskStopped, reconcile.TaskParked, reconcile.TaskWaiting),
		reconcile.ChosenLive, reconcile.ChosenAll),
	"sandboxes": append(words(reconcile.SandboxCreating, reconcile.SandboxRunning, reconcile.SandboxSuspended,
		reconcile.SandboxStopped, reconcile.SandboxFailed, reconcile.SandboxDeleting, reconcile.SandboxEnded),
		reconcile.ChosenLive, reconcile.ChosenGone, reconcile.ChosenAll),
}

var (
	knownSteps = words(reconcile.StepFail, reconcile.StepRequeue, reconcile.StepTerminate, reconcile.StepQuarantine,
		reconcile.StepResume, reconcile.StepRestore, reconcile.StepActivate)
	knownOutcomes = words(reconcile.OutcomePending, reconcile.OutcomeDone, reconcile.OutcomeAccepted,
		reconcile.OutcomeConfirmed, reconcile.OutcomeWithdrawn, reconcile.OutcomeFailed)
)

func words[T ~string](all ...T) (out []string) {
	for _, one := range all {
		out = append(out, string(one))
	}
	return out
}

// Misspelt says which word of a filter of a list is none that there is, and which is probably meant; "" when it knows
// all. Such a word would choose nothing, or everything, and look like an answer.
func Misspelt(c *reconcile.Chosen, list string) string {
	column, _ := c.Order()
	return reconcile.FirstOf(unknownWord("state", c.State, knownStates[list]),
		unknownWord("step", string(c.Step), knownSteps),
		unknownWord("outcome", string(c.Outcome), knownOutcomes), unknownWord("sort", column, reconcile.Sorts(list, "")))
}

// Unheard says the same of the names of a filter by which nothing was found: the ledger may have a rule, a provider or
// a template that is gone since.
func Unheard(c *reconcile.Chosen, providers []string, templates []reconcile.TemplateSeen) string {
	if len(providers) == 0 {
		providers = []string{c.Provider} // who only shows may know none
	}
	names := []string{}
	for _, t := range templates {
		names = append(names, t.Name)
	}
	if len(names) == 0 {
		names = append(names, c.Template)
	}
	return reconcile.FirstOf(unknownWord("rule", c.Rule, slices.Concat(reconcile.RuleNames, reconcile.AskedRules)),
		unknownWord("provider", c.Provider, providers), unknownWord("template", c.Template, names),
		unheardHeld(c.HeldBy, providers))
}

func unknownWord(key, word string, known []string) string {
	if word == "" || slices.Contains(known, word) {
		return ""
	}
	return fmt.Sprintf("%s=%s is not known; %s", key, text.Clip(word, 60), text.Unknown(word, known))
}

// namedTypes begin what a hold or a pause names, as rule:orphan.
var namedTypes = []string{"task:", "sandbox:", "label:", "provider:", "rule:"}

// unheardHeld says the same of what holds: a kind, a source, what is named, or the text of it.
func unheardHeld(word string, providers []string) string {
	if word == "" {
		return ""
	}
	source, _ := reconcile.SourceParts(word)
	first, _, _ := strings.Cut(word, " ")
	known := slices.Concat(reconcile.HeldKinds(), []string{"all", "per_pass", "per_hour", "share"})
	if reconcile.HeldKindOf(word) != reconcile.HeldOther || strings.HasPrefix(word, "i-") ||
		slices.Contains(known, first) || slices.Contains(reconcile.FreezeSources, source) {
		return ""
	}
	kind, _, typed := strings.Cut(first, ":")
	switch {
	case !typed:
		return unknownWord("held_by", word, reconcile.HeldKinds())
	case kind == string(reconcile.SubjectRule):
		return unknownWord("held_by", first, named(reconcile.SubjectRule, reconcile.RuleNames))
	case kind == string(reconcile.SubjectProvider):
		return unknownWord("held_by", first, named(reconcile.SubjectProvider, providers))
	}
	return unknownWord("held_by", kind+":", slices.Concat(namedTypes, reconcile.HeldKinds()))
}

// named are all things of a type, as a hold or a pause names them.
func named(kind reconcile.SubjectType, ids []string) (out []string) {
	for _, id := range ids {
		out = append(out, reconcile.SubjectOf(kind, id))
	}
	return out
}
