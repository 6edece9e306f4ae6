package reconcile

import (
	"fmt"
	"slices"

	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// knownStates are the states that a list may be asked for, besides its usual ones.
var knownStates = map[string][]string{
	"findings":  {ChosenOpen, ChosenDue, ChosenHeld, ChosenWatched, ChosenResolved},
	"actions":   {ChosenOpen, ChosenClosed},
	"incidents": {ChosenOpen, ChosenClosed, ChosenAll},
	"tasks": {ChosenLive, ChosenAll, string(TaskPending), string(TaskAssigned), string(TaskRunning), string(TaskCompleted),
		string(TaskFailed), string(TaskStopped), string(TaskParked), string(TaskWaiting)},
	"sandboxes": {ChosenLive, ChosenGone, ChosenAll, string(SandboxCreating), string(SandboxRunning),
		string(SandboxSuspended), string(SandboxStopped), string(SandboxFailed), string(SandboxDeleting),
		string(SandboxEnded)},
}

var (
	knownSteps = []string{string(StepFail), string(StepRequeue), string(StepTerminate), string(StepQuarantine),
		string(StepResume), string(StepRestore), string(StepActivate)}
	knownOutcomes = []string{string(OutcomePending), string(OutcomeDone), string(OutcomeAccepted),
		string(OutcomeConfirmed), string(OutcomeWithdrawn), string(OutcomeFailed)}
)

// Misspelt says which word of a filter of a list is none that there is, and which is probably meant; "" when it knows
// all. Such a word would choose nothing, or everything, and look like an answer.
func (c *Chosen) Misspelt(list string) string {
	column, _ := c.Order()
	return FirstOf(unknownWord("state", c.State, knownStates[list]), unknownWord("step", string(c.Step), knownSteps),
		unknownWord("outcome", string(c.Outcome), knownOutcomes), unknownWord("sort", column, Sorts(list, "")))
}

// Unheard says the same of the names of a filter by which nothing was found: the ledger may have a rule, a provider or
// a template that is gone since.
func (c *Chosen) Unheard(providers []string, templates []TemplateSeen) string {
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
	by := ""
	if unheardHeld(c.HeldBy) {
		by = unknownWord("held_by", c.HeldBy, HeldKinds())
	}
	return FirstOf(unknownWord("rule", c.Rule, append(slices.Clone(RuleNames), AskedRules...)),
		unknownWord("provider", c.Provider, providers), unknownWord("template", c.Template, names), by)
}

func unknownWord(key, word string, known []string) string {
	if word == "" || slices.Contains(known, word) {
		return ""
	}
	return fmt.Sprintf("%s=%s is not known; %s", key, text.Clip(word, 60), text.Unknown(word, known))
}
