package app

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/store/tasks"
	"github.com/sandkeeper/sandkeeper/web/api"
)

// mostRetried is how many tasks one request runs again: the newest of an incident first, and it may be asked again.
const mostRetried = 200

// A retrying is what somebody wants run again: tasks that sandkeeper itself has marked failed. It is chosen from what
// the ledger remembers; right before each write the keeper reads the row and rules on it.
type retrying struct {
	m     *reconcile.Memory
	again []reconcile.Action // to be asked for
	left  []api.PreviewLine
}

// retryingOf weighs one task, or those that were affected by an incident.
func (a Operator) retryingOf(ctx context.Context, target string) (*retrying, error) {
	if why := a.noRetry(); why != "" {
		return nil, conflict("%s", why)
	}
	ids, err := a.retryable(ctx, target)
	if err != nil {
		return nil, err
	}
	m, err := a.Ledger.Recall(ctx)
	if err != nil {
		return nil, err
	}
	r := &retrying{m: &m}
	for _, id := range ids {
		h, err := a.Ledger.Subject(ctx, reconcile.TaskSubject(id))
		if err != nil && !errors.Is(err, reconcile.ErrNotFound) {
			return nil, err
		}
		r.weigh(id, h.Actions)
	}
	return r, nil
}

// noRetry says why this config cannot have a task run again; "" when it can.
func (a Operator) noRetry() string {
	if a.Config.Tasks.None {
		return "the config says `tasks: none`: there is no row to set back"
	}
	compiled, err := tasks.Compile(a.Config.Mapping().WithPreset()) // has passed when the config was read
	if err != nil {
		return err.Error()
	}
	return compiled.NoRetry()
}

// retryable are the tasks that a target means, those of an incident by their newest verdict.
func (a Operator) retryable(ctx context.Context, target string) ([]string, error) {
	incident, is := reconcile.OfType(reconcile.SubjectIncident, target)
	if !is {
		id, _ := reconcile.OfType(reconcile.SubjectTask, target)
		return []string{id}, nil
	}
	found, err := a.Ledger.Affected(ctx, incident)
	if errors.Is(err, reconcile.ErrNotFound) {
		return nil, &api.Refusal{Status: http.StatusNotFound,
			Why: fmt.Sprintf("incident %s: not on record; `sandkeeper incidents` lists them", text.Clip(incident, 60))}
	}
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(found, func(a, b reconcile.Verdict) int { return b.FailedAt.Compare(a.FailedAt) })
	var ids []string
	for i := range found {
		if id := found[i].Task; id != "" && !found[i].FailedAt.IsZero() && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids[:min(len(ids), mostRetried)], nil
}

// weigh takes a task by its newest action, or says why it is left alone. Actions come newest first.
func (r *retrying) weigh(task string, actions []reconcile.Action) {
	at := slices.IndexFunc(actions, func(a reconcile.Action) bool {
		written := a.Outcome == reconcile.OutcomeDone || !a.Outcome.Closed() && a.Asked()
		return a.Step.OnRow() && a.Task == task && written
	})
	if at < 0 {
		r.leave(task, "sandkeeper has not marked it failed")
		return
	}
	last := &actions[at]
	again := reconcile.AskRetry(last)
	if why := reconcile.FirstOf(written(last), r.held(&again), r.alive(last)); why != "" {
		r.leave(task, why)
		return
	}
	r.again = append(r.again, again)
}

// written says why the newest write of a row is none that a retry undoes.
func written(last *reconcile.Action) string {
	switch {
	case last.Step == reconcile.StepRequeue && !last.Outcome.Closed():
		return "a retry is asked for already (action " + last.ID + ")"
	case last.Step == reconcile.StepRequeue:
		return fmt.Sprintf("it was requeued once already, by action %s: what became of it since is the platform's", last.ID)
	case last.Step == reconcile.StepRestore:
		return "its row was restored by action " + last.ID
	case last.Before == nil:
		return "nothing is known of its row as sandkeeper left it; see `sandkeeper affected INCIDENT -o sql`"
	}
	return ""
}

// alive says that the task lives again, where a pass has seen it come back to life since.
func (r *retrying) alive(last *reconcile.Action) string {
	if t, seen := r.m.Tasks.Get(last.Task); seen && !t.State.Terminal() && t.Since.After(last.ActedAt) {
		return "it is alive again: " + text.Clip(t.Status, 60)
	}
	return ""
}

// held says what the retry would wait for: an operator's hold, an incident, the sandbox of the attempt that failed.
func (r *retrying) held(again *reconcile.Action) string {
	requests := r.m.Controls
	requests.Pauses = nil // it waits for their end, which the preview says
	holds := reconcile.StepHolds(&requests, again, reconcile.ControlTarget{Rule: again.Rule, Subject: again.Subject,
		Task: again.Task})
	if len(holds) > 0 {
		return holds.String()
	}
	return reconcile.RetryWaits(r.m, &r.m.Controls, again)
}

func (r *retrying) leave(task, why string) {
	r.left = append(r.left, said(reconcile.TaskSubject(task), why))
}

// preview is what would be recorded.
func (r *retrying) preview() api.Preview {
	var subjects []string
	for i := range r.again {
		subjects = append(subjects, r.again[i].Subject)
	}
	slices.Sort(subjects)
	p := api.Preview{Subjects: subjects, Left: r.left, Count: len(subjects), Hash: reconcile.SubjectsHash(subjects)}
	p.Will = append(p.Will, "The retry of "+console.Plural(len(subjects), "task")+" is recorded: each row is set to what "+
		"tasks.requeue says, and the platform runs it again.",
		"Right before each the keeper reads the row again and leaves what has moved since sandkeeper marked it failed.")
	for _, pause := range r.m.Controls.Pauses {
		if pause.Scope == "all" {
			p.Will = append(p.Will, text.Line(fmt.Sprintf("It waits for the end of the %s, for an hour at most.", pause.Held())))
		}
	}
	return p
}

// ask records it.
func (r *retrying) ask(ctx context.Context, a Operator, by *Request) (api.Done, error) {
	p := r.preview()
	if len(r.again) == 0 {
		return api.Done{}, &api.Refusal{Status: http.StatusConflict, Preview: &p,
			Why: reconcile.FirstOf(joined(r.left[:min(len(r.left), 20)]), "no task was marked failed under it")}
	}
	for i := range r.again {
		r.again[i].Reason = "retried by " + by.Signed().Author + ": " + by.Signed().Reason
	}
	asked, err := a.Ledger.Ask(ctx, by.Signed(), r.again, nil)
	if err != nil {
		return api.Done{}, err
	}
	said := fmt.Sprintf("recorded: the retry of %s\n%s", console.Plural(len(asked), "task"),
		a.Kicked(ctx, asked))
	return api.Done{Said: said, Actions: api.ListOf(asked, api.ActionOf).Items}, nil
}

// Retry has tasks run again that sandkeeper marked failed, when the hash is that of the list; without one it shows the
// list.
func (a Operator) Retry(ctx context.Context, target, hash string, by *Request) (string, error) {
	r, err := a.retryingOf(ctx, target)
	if err != nil {
		return "", err
	}
	p := r.preview()
	switch {
	case hash == "" && len(r.again) > 0:
		return fmt.Sprintf("%s\n%s to be run again; retry with: sandkeeper retry %s --hash %s --reason …",
			strings.Join(append(p.Subjects, leftLines(p.Left)...), "\n"), console.Plural(p.Count, "task"), text.Line(target),
			p.Hash), nil
	case hash != "" && hash != p.Hash && len(r.again) > 0:
		return "", fmt.Errorf("retry of %s: the list has changed, its hash is %s and not %s; look at it again", target,
			p.Hash, hash)
	}
	done, err := r.ask(ctx, a, by)
	return done.Said, err
}

func leftLines(left []api.PreviewLine) []string {
	out := make([]string, len(left))
	for i, line := range left {
		out[i] = "left alone: " + line.String()
	}
	return out
}

// joined are lines as a sentence has them.
func joined(lines []api.PreviewLine) string {
	out := make([]string, len(lines))
	for i, line := range lines {
		out[i] = line.String()
	}
	return strings.Join(out, "; ")
}
