package app

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/web/api"
)

// An ending is what somebody wants terminated who cannot look for himself: the page holds no provider's key. It is
// chosen from what the ledger remembers, and never more than a verb would end: right before each termination the
// keeper looks at both worlds and rules on it as on a verb's.
type ending struct {
	m       *reconcile.Memory
	rule    string
	running bool
	known   func(provider string) bool // the config names it
	users   map[string][]string        // tasks by what their rows name as their sandbox

	end  []reconcile.SandboxSeen
	left []api.PreviewLine
}

func (a Operator) endingOf(ctx context.Context, rule string, running bool) (*ending, error) {
	m, err := a.Ledger.Recall(ctx)
	if err != nil {
		return nil, err
	}
	e := &ending{m: &m, rule: rule, running: running, known: a.Config.HasProvider}
	e.index()
	return e, nil
}

// index finds out which tasks name which sandbox.
func (e *ending) index() {
	e.users = map[string][]string{}
	for id := range e.m.Tasks.Keys() {
		if key := e.m.Tasks.Of(id).Sandbox; key != "" {
			e.users[key] = append(e.users[key], id)
		}
	}
}

// one weighs a sandbox by its id, its name or provider/id, or all sandboxes of a task.
func (e *ending) one(id string) error {
	var boxes, of []reconcile.SandboxSeen
	name, _ := reconcile.OfType(reconcile.SubjectSandbox, id)
	task, _ := reconcile.OfType(reconcile.SubjectTask, id)
	for _, b := range e.m.Sandboxes.All() {
		switch {
		case !b.GoneAt.IsZero():
		case b.Ref.String() == name, b.ID == name, b.Name == name && name != "":
			boxes = append(boxes, b)
		case b.Task == task && task != "", slices.ContainsFunc([]string{b.ID, b.Name}, func(key string) bool {
			return key != "" && slices.Contains(e.users[key], task)
		}):
			of = append(of, b)
		}
	}
	switch {
	case len(boxes) > 1 || len(boxes) == 1 && len(of) > 0:
		return &api.Refusal{Status: http.StatusConflict, Why: fmt.Sprintf("several go by %s: %s; say which: the "+
			"task's id, or "+
			"provider/id", id, strings.Join(refs(append(boxes, of...)), ", "))}
	case len(boxes)+len(of) == 0:
		return &api.Refusal{Status: http.StatusNotFound,
			Why: "no sandbox of " + text.Clip(id, 100) + " is on record as existing"}
	}
	e.weigh(append(boxes, of...))
	return nil
}

// all weighs all that exists, or all of one provider.
func (e *ending) all(provider string) {
	var boxes []reconcile.SandboxSeen
	for _, b := range e.m.Sandboxes.All() {
		if b.GoneAt.IsZero() && (provider == "" || b.Provider == provider) {
			boxes = append(boxes, b)
		}
	}
	e.weigh(boxes)
}

func refs(boxes []reconcile.SandboxSeen) []string {
	var out []string
	for i := range boxes {
		out = append(out, boxes[i].Ref.String())
	}
	slices.Sort(out)
	return out
}

func (e *ending) weigh(boxes []reconcile.SandboxSeen) {
	slices.SortFunc(boxes, func(a, b reconcile.SandboxSeen) int { return reconcile.CompareRefs(a.Ref, b.Ref) })
	for _, b := range boxes {
		if b.State == reconcile.SandboxEnded || b.State == reconcile.SandboxDeleting {
			continue
		}
		if why := e.spares(&b); why != "" {
			e.left = append(e.left, said(reconcile.BoxSubject(b.Ref), why))
			continue
		}
		e.end = append(e.end, b)
	}
}

// spares says why the sandbox is not asked to be ended, as far as the ledger knows.
func (e *ending) spares(b *reconcile.SandboxSeen) string {
	if !e.known(b.Provider) {
		return "the config does not name its provider any more"
	}
	for i := range e.m.Actions {
		a := &e.m.Actions[i]
		if a.Step == reconcile.StepTerminate && a.Provider == b.Provider && a.Sandbox == b.ID && !a.GivesWay(e.m.Now) {
			return fmt.Sprintf("its end is recorded already, by %s (action %s)", a.Rule, a.ID)
		}
	}
	tasks := e.tasksOf(b)
	if holds := e.holds(b, tasks); len(holds) > 0 {
		return holds.String()
	}
	for _, id := range tasks {
		t := e.m.Tasks.Of(id)
		if !e.running && !t.State.Terminal() && t.State != reconcile.TaskPending {
			return fmt.Sprintf("task %s is %s in it (include_running)", text.Clip(id, 60), text.Clip(t.Status, 60))
		}
	}
	for _, source := range []string{reconcile.ListingOf(b.Provider), reconcile.SourceTasks, reconcile.SourceLink} {
		if s, seen := e.m.Sources[source]; seen && !s.Trusted {
			return reconcile.HeldFrozen(source).String() + " (only the verb ends it, with --anyway)"
		}
	}
	return ""
}

// tasksOf are the tasks on record that it may belong to.
func (e *ending) tasksOf(b *reconcile.SandboxSeen) []string {
	ids := map[string]bool{}
	for _, id := range slices.Concat([]string{b.Task}, e.users[b.ID], e.users[b.Name]) {
		if known := e.m.Tasks.Has(id); known && id != "" {
			ids[id] = true
		}
	}
	return slices.Sorted(maps.Keys(ids))
}

func (e *ending) holds(b *reconcile.SandboxSeen, tasks []string) reconcile.HeldBy {
	a := reconcile.Action{Rule: e.rule, Subject: reconcile.BoxSubject(b.Ref), Step: reconcile.StepTerminate}
	requests := e.m.Controls
	requests.Pauses = nil
	var holds reconcile.HeldBy
	for _, task := range append(tasks, b.Task) {
		holds = holds.With(reconcile.StepHolds(&requests, &a, reconcile.ControlTarget{Rule: a.Rule, Subject: a.Subject,
			Provider: b.Provider, Sandbox: b.ID, Task: task, Names: []string{b.Name}})...)
	}
	return holds
}

// preview is what would be recorded.
func (e *ending) preview() api.Preview {
	var subjects []string // in their order, as weighed
	for i := range e.end {
		subjects = append(subjects, reconcile.BoxSubject(e.end[i].Ref))
	}
	p := api.Preview{Subjects: subjects, Left: e.left, Count: len(subjects), Hash: reconcile.SubjectsHash(subjects)}
	p.Will = append(p.Will, "The termination of "+console.Plural(len(subjects), "sandbox")+" is recorded.",
		"Right before each the keeper looks at both worlds again and leaves what is held, used or not ours.")
	for _, pause := range e.m.Controls.Pauses {
		of, isProvider := reconcile.OfType(reconcile.SubjectProvider, pause.Scope)
		concerned := slices.ContainsFunc(e.end, func(b reconcile.SandboxSeen) bool { return b.Provider == of })
		if pause.Scope == "all" || isProvider && concerned {
			p.Will = append(p.Will, text.Line(fmt.Sprintf("It waits for the end of the %s, for an hour at most.", pause.Held())))
		}
	}
	return p
}

// ask records it.
func (e *ending) ask(ctx context.Context, a Operator, by *Request) (api.Done, error) {
	if len(e.end) == 0 {
		p := e.preview()
		return api.Done{}, &api.Refusal{Status: http.StatusConflict, Preview: &p,
			Why: reconcile.FirstOf(joined(e.left), "there is nothing to end")}
	}
	var actions []reconcile.Action
	for i := range e.end {
		b := &e.end[i]
		actions = append(actions, reconcile.AskTerminate(e.rule, b.Ref, b.Task, reconcile.AskOptions{Running: e.running}))
	}
	asked, err := a.Ledger.Ask(ctx, by.Signed(), actions, nil)
	if err != nil {
		return api.Done{}, err
	}
	said := fmt.Sprintf("recorded: the end of %s\n%s", console.Plural(len(asked), "sandbox"), a.Kicked(ctx, asked))
	return api.Done{Said: said, Actions: api.ListOf(asked, api.ActionOf).Items}, nil
}
