package reconcile

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// groundAsked is the ground of what a person asked for: the sandbox is there and ours, and
// nobody works in it, unless the person said also then.
func (r *run) groundAsked(ctx context.Context, a Action) (Sandbox, Action, bool) {
	look := r.k.lookAt(ctx, Ref{a.Provider, a.Sandbox})
	if look.Error != "" {
		return Sandbox{}, r.later(a, "look at the sandbox: "+look.Error), true
	}
	if out, settled := r.underway(a, look); settled {
		return Sandbox{}, out, true
	}
	//guard:asked-outdated harm
	if why := a.outdated(r.now); why != "" {
		return Sandbox{}, r.withdraw(a, why), true
	}
	users, err := r.users(ctx, &a, &look.Sandbox)
	//guard:asked-rows-read P4
	if err != nil {
		return Sandbox{}, r.later(a, err.Error()), true
	}
	explained, err := r.k.explainedBy(ctx, look.Sandbox)
	if err != nil {
		return Sandbox{}, r.later(a, err.Error()), true
	}
	//guard:asked-explained P1
	if explained != "" && !a.Running {
		return Sandbox{}, r.withdraw(a, "a row of "+explained+" explains it; ask with --include-running"), true
	}
	if why := r.refuses(&a, &look.Sandbox, users); why != "" {
		return Sandbox{}, r.withdraw(a, why), true
	}
	//guard:asked-held P8
	if waits := r.heldFor(ctx, &a, &look.Sandbox, users); waits != "" {
		return Sandbox{}, r.later(a, waits), true
	}
	return look.Sandbox, a, false
}

// refuses says why the sandbox is not ended although a person asked for it: it is not proven
// ours, or somebody works in it.
func (r *run) refuses(a *Action, sb *Sandbox, users []Task) string {
	known := len(users) > 0 || r.view.s.Memory.Sandboxes[sb.Ref].Task != ""
	//guard:asked-owned P1
	if !sb.Owned && !(known && r.policy.Providers[sb.Provider].byRow(sb)) {
		return "the sandbox is not proven ours"
	}
	//guard:asked-shared P1
	if a.Rule == RuleEmergency && !a.Anyway && r.view.maybeAnothers(sb, len(users) > 0) {
		return sharedWords + "; ask with --anyway"
	}
	for i := range users {
		//guard:asked-working harm
		if t := &users[i]; t.working() && !a.Running {
			return fmt.Sprintf("task %s is %s in it; ask with --include-running", text.Clip(t.ID, 60), text.Clip(t.Status, 60))
		}
	}
	return ""
}

const sharedWords = "not-exclusive: it names a task that nobody here ever knew, and the account may be shared"

// maybeAnothers reports whether a sandbox may be another environment's that shares the account:
// nothing here has ever known the task that it names.
func (v *view) maybeAnothers(sb *Sandbox, used bool) bool {
	_, known := v.s.Memory.Tasks[sb.Task]
	named := sb.Task != "" || sb.OddLink
	return named && !known && !used && !v.p.Tasks.None && !v.p.Providers[sb.Provider].Exclusive
}

// heldFor is what holds the end of a sandbox by the wishes of this very moment, whichever of
// its tasks they name.
func (r *run) heldFor(ctx context.Context, a *Action, sb *Sandbox, users []Task) string {
	controls, why := r.controlsNow(ctx, a)
	if why != "" {
		return why
	}
	t := target{rule: a.Rule, subject: a.Subject, provider: a.Provider, sandbox: a.Sandbox, task: a.Task,
		names: []string{sb.Name, sb.AlsoKey}, labels: sb.Labels}
	holds := stepHolds(&controls, a, t)
	for i := range users {
		t.task = users[i].ID
		holds = appendNew(holds, stepHolds(&controls, a, t)...)
	}
	return strings.Join(holds, "; ")
}

// working reports whether a sandbox of the task may be in use: it is assigned or running, or
// has a status that the config does not map.
func (t *Task) working() bool { return !t.State.Terminal() && t.State != TaskPending }

// users are the rows that the sandbox may belong to: those that name it, the one that it
// names, the one that the ledger remembers, and the one that was asked about.
func (r *run) users(ctx context.Context, a *Action, sb *Sandbox) ([]Task, error) {
	if r.policy.Tasks.None {
		return nil, nil
	}
	label := sb.Task
	if sb.OddLink {
		label = ""
	}
	var users []Task
	//guard:asked-labels-lost harm
	if ids := appendNew(nil, nonEmpty(a.Task, label, r.view.s.Memory.Sandboxes[sb.Ref].Task)...); len(ids) > 0 {
		rows, err := r.k.Tasks.ByID(ctx, ids)
		if err != nil {
			return nil, fmt.Errorf("read the rows that the sandbox may belong to: %w", err)
		}
		//guard:asked-rows-lost harm
		users = append(rows.Tasks, r.view.remembersWorking(ids, rows.Tasks)...)
	}
	keys := sb.keys()
	if len(keys) == 0 {
		return users, nil
	}
	rows, err := r.k.Tasks.BySandbox(ctx, keys)
	if err != nil {
		return nil, fmt.Errorf("read the rows that name the sandbox: %w", err)
	}
	//guard:asked-named-by-row harm
	return append(users, rows.Tasks...), nil
}

// remembersWorking are the tasks that no row shows and that lived when the rows were believed
// last: while the task database is not trusted, that it does not show one proves nothing.
func (v *view) remembersWorking(ids []string, shown []Task) (out []Task) {
	for _, id := range ids {
		seen := v.s.Memory.Tasks[id]
		if !seen.Live || v.trusted(sourceTasks) || slices.ContainsFunc(shown, func(t Task) bool { return t.ID == id }) {
			continue
		}
		out = append(out, Task{ID: id, Status: seen.Status, State: seen.State})
	}
	return out
}

// frozen are the sources that are not trusted and that tell who works where. A person may
// say that it is to be done anyway.
func (r *run) frozen(a *Action) []string {
	if a.Anyway || a.Step != StepTerminate {
		return nil
	}
	return r.view.frozenFor(a.Provider, a.Subject)
}

// frozenFor are the freezes of what tells who works in a sandbox of the provider, but for
// those that a person released the subject from.
func (v *view) frozenFor(provider, subject string) []string {
	var holds []string
	for _, name := range []string{listingOf(provider), sourceTasks, sourceLink} {
		if v.p.Has(name) && !v.trusted(name) && !v.letGo(name, subject) {
			holds = append(holds, FreezeName(name))
		}
	}
	return holds
}
