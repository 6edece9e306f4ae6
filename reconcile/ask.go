package reconcile

import (
	"crypto/rand"
	"strings"
)

// AskedID makes the id of an action that a person asks for. Ids of what passes plan are
// derived from the plan, so that a replay gives the same bytes; a person is asked once.
func AskedID() string { return strings.ToLower(rand.Text()[:13]) }

// AskTerminate is the action that ends one sandbox because a person asked for it: one remedy
// with one step. Rule is [RuleOperator] or [RuleEmergency].
func AskTerminate(rule string, ref Ref, task string, how Insist) Action {
	id := AskedID()
	return Action{
		ID: id, Remedy: id, Rule: rule, Subject: "sandbox:" + ref.String(), Provider: ref.Provider, Sandbox: ref.ID,
		Task: task, Step: StepTerminate, Running: how.Running, Anyway: how.Anyway, Outcome: OutcomePending,
	}
}

// Insist is what a person who asks for an end insists on.
type Insist struct {
	Running bool // also while a task runs in it
	Anyway  bool // also while a source is not trusted
}

// AskRestore are the actions that undo a quarantine, in one remedy: the sandbox comes back,
// and then the task row, when the remedy had written it. undone is that remedy, whole.
func AskRestore(undone []Action) (actions []Action, withdraw []string) {
	var row *Action
	for i := range undone {
		a := &undone[i]
		switch {
		case a.Step == StepQuarantine && (a.Outcome == OutcomeDone || a.Outcome == OutcomeAccepted):
			actions = append(actions, askBack(a, StepResume))
		case a.inQuarantine() && a.Outcome == OutcomePending:
			withdraw = append(withdraw, a.ID)
		case a.Step.onRow() && a.Outcome == OutcomeDone && a.Before != nil:
			row = a
		}
	}
	if len(actions) > 0 && row != nil {
		back := askBack(row, StepRestore)
		back.Before = row.Before
		actions = append(actions, back)
	}
	for i := range actions {
		actions[i].Seq, actions[i].Remedy = i, actions[0].ID
	}
	return actions, withdraw
}

// askBack is the action that undoes one step.
func askBack(done *Action, step Step) Action {
	return Action{
		ID: AskedID(), Rule: RuleOperator, Subject: done.Subject, Provider: done.Provider, Sandbox: done.Sandbox,
		Task: done.Task, Step: step, Outcome: OutcomePending,
		// What only brings back destroys nothing.
		RowOnly: true,
	}
}
