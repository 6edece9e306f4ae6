package reconcile

import (
	"crypto/rand"
	"fmt"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// RequestTTL is for how long the end or the retry that a person asked for may wait: for a pause, a hold, the
// hour's budget, or for somebody who does it. Later nobody knows whether the person would ask
// for it still.
const RequestTTL = time.Hour

// settling is how long after a request a provider may yet do it.
const settling = 2 * time.Minute

// AskedID makes the id of an action that a person asks for. Ids of what passes plan are
// derived from the plan, so that a replay gives the same bytes; a person is asked once.
func AskedID() string { return strings.ToLower(rand.Text()[:13]) }

// AskTerminate is the action that ends one sandbox because a person asked for it: one remedy
// with one step. Rule is [RuleOperator] or [RuleEmergency].
func AskTerminate(rule string, ref Ref, task string, how AskOptions) Action {
	id := AskedID()
	return Action{
		ID: id, Remedy: id, Rule: rule, Subject: BoxSubject(ref), Provider: ref.Provider, Sandbox: ref.ID,
		Task: task, Step: StepTerminate, Running: how.Running, Anyway: how.Anyway, Outcome: OutcomePending,
	}
}

// AskOptions is what a person who asks for an end insists on.
type AskOptions struct {
	Running bool // also while a task runs in it
	Anyway  bool // also while a source is not trusted
}

// with stands between the two names of what takes two operators.
const with = ", with "

// WithSecond names who asks, and the other operator who says yes to it. It is an error where the names are one, or
// where the first is made to look like two.
func WithSecond(author, second string) (string, error) {
	if second == "" || second == author || strings.Contains(author, with) {
		return "", fmt.Errorf("%q and %q are not two operators", author, second)
	}
	return author + with + second, nil
}

// Seconded reports whether a second operator said yes to it.
func (a *Action) Seconded() bool { return strings.Contains(a.Author, with) }

// Outdated says why what a person asked for is not done any more.
func (a *Action) Outdated(now time.Time) string {
	age := now.Sub(a.PlannedAt)
	if !a.Asked() || a.Step != StepTerminate && a.Step != StepRequeue || age <= RequestTTL {
		return ""
	}
	return fmt.Sprintf("asked for %s ago by %s and not done since: look again, and ask again", text.Duration(age),
		a.Author)
}

// GivesWay reports whether the action makes room for the same end, asked for by a person now:
// nobody is at it, and a pass planned it, which may hold it for ever, or it was asked for too
// long ago. That it was tried is no reason to keep it: who carries out the other one looks at
// the sandbox first.
func (a *Action) GivesWay(now time.Time) bool {
	idle := a.Step == StepTerminate && a.Outcome == OutcomePending && (a.ClaimedBy == "" || !a.ClaimEnds.After(now))
	return idle && (!a.Asked() || a.Outdated(now) != "")
}

// AskRestore are the actions that undo a quarantine, in one remedy: the sandbox comes back,
// and then the task row, when the remedy had written it. undone is that remedy, whole. What
// is withdrawn with them are the ends that wait, and the stops that are not seen yet: nobody
// asks for those again.
func AskRestore(undone []Action) (actions []Action, withdraw []string) {
	var row *Action
	for i := range undone {
		a := &undone[i]
		switch {
		case a.Step == StepQuarantine && a.Outcome == OutcomeDone:
			actions = append(actions, askBack(a, StepResume))
		case a.Step == StepQuarantine && !a.Outcome.Closed() && a.Begun():
			back := askBack(a, StepResume)
			back.NextAttempt = a.LastActed().Add(settling) // else it may still run, and be stopped after all
			actions, withdraw = append(actions, back), append(withdraw, a.ID)
		case a.Step == StepQuarantine && a.Outcome == OutcomePending && a.Seq > 0:
			withdraw = append(withdraw, a.ID)
		case a.InQuarantine() && a.Outcome == OutcomePending:
			withdraw = append(withdraw, a.ID)
		case a.Step.OnRow() && a.Outcome == OutcomeDone && a.Before != nil:
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

// AskRetry is the action that has a task run again which one of ours had failed: its row is requeued if it still is as
// that action left it.
func AskRetry(failed *Action) Action {
	id := AskedID()
	return Action{
		ID: id, Remedy: id, Rule: RuleOperator, Subject: TaskSubject(failed.Task), Task: failed.Task, Step: StepRequeue,
		Outcome: OutcomePending, Before: failed.Before, Signature: failed.Signature,
		// It ends nothing.
		RowOnly: true,
	}
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
