package run

import (
	"context"
	"fmt"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// groundAsked is the ground of what a person asked for: the sandbox is there and ours, and
// nobody works in it, unless the person said also then.
func (r *run) groundAsked(ctx context.Context, a reconcile.Action) (reconcile.Sandbox, reconcile.Action, bool) {
	look := r.k.lookAt(ctx, reconcile.Ref{Provider: a.Provider, ID: a.Sandbox})
	if look.Error != "" {
		return reconcile.Sandbox{}, r.later(a, "look at the sandbox: "+look.Error), true
	}
	if out, settled := r.underway(a, look); settled {
		return reconcile.Sandbox{}, out, true
	}
	//guard:asked-outdated harm
	if why := a.Outdated(r.now); why != "" {
		return reconcile.Sandbox{}, r.withdraw(a, why), true
	}
	users, err := r.users(ctx, &a, &look.Sandbox)
	//guard:asked-rows-read P4
	if err != nil {
		return reconcile.Sandbox{}, r.later(a, err.Error()), true
	}
	explained, err := r.k.explainedBy(ctx, look.Sandbox)
	if err != nil {
		return reconcile.Sandbox{}, r.later(a, err.Error()), true
	}
	//guard:asked-explained P1
	if explained != "" && !a.Running {
		return reconcile.Sandbox{}, r.withdraw(a, "a row of "+explained+" explains it; ask with --include-running"), true
	}
	if why := r.refuses(&a, &look.Sandbox, users); why != "" {
		return reconcile.Sandbox{}, r.withdraw(a, why), true
	}
	//guard:asked-held P8
	if waits := r.heldFor(ctx, &a, &look.Sandbox, users); waits != "" {
		return reconcile.Sandbox{}, r.later(a, waits), true
	}
	return look.Sandbox, a, false
}

// refuses says why the sandbox is not ended although a person asked for it: it is not proven
// ours, or somebody works in it.
func (r *run) refuses(a *reconcile.Action, sb *reconcile.Sandbox, users []reconcile.Task) string {
	known := len(users) > 0 || r.view.S.Memory.Sandboxes[sb.Ref].Task != ""
	//guard:asked-owned P1
	if !sb.Owned && !(known && r.policy.Providers[sb.Provider].ByRow(sb)) {
		return "the sandbox is not proven ours"
	}
	//guard:asked-shared P1
	if a.Rule == reconcile.RuleEmergency && !a.Anyway && r.view.MaybeAnothers(sb, len(users) > 0) {
		return reconcile.HeldShared().String() + "; ask with --anyway"
	}
	for i := range users {
		//guard:asked-working harm
		if t := &users[i]; taskWorking(t) && !a.Running {
			return fmt.Sprintf("task %s is %s in it; ask with --include-running", text.Clip(t.ID, 60), text.Clip(t.Status, 60))
		}
	}
	return ""
}

// heldFor is what holds the end of a sandbox by the wishes of this very moment, whichever of
// its tasks they name.
func (r *run) heldFor(ctx context.Context, a *reconcile.Action, sb *reconcile.Sandbox, users []reconcile.Task) string {
	controls, why := r.controlsNow(ctx, a)
	if why != "" {
		return why
	}
	t := reconcile.ControlTarget{Rule: a.Rule, Subject: a.Subject, Provider: a.Provider, Sandbox: a.Sandbox, Task: a.Task,
		Names: []string{sb.Name, sb.AlsoKey}, Labels: sb.Labels}
	holds := reconcile.StepHolds(&controls, a, t)
	for i := range users {
		t.Task = users[i].ID
		holds = holds.With(reconcile.StepHolds(&controls, a, t)...)
	}
	return holds.String()
}

// taskWorking reports whether a sandbox of the task may be in use: it is assigned or running, or
// has a status that the config does not map.
func taskWorking(t *reconcile.Task) bool {
	return !t.State.Terminal() && t.State != reconcile.TaskPending
}

// users are the rows that the sandbox may belong to: those that name it, the one that it
// names, the one that the ledger remembers, and the one that was asked about.
func (r *run) users(ctx context.Context, a *reconcile.Action, sb *reconcile.Sandbox) ([]reconcile.Task, error) {
	if r.policy.Tasks.None {
		return nil, nil
	}
	label := sb.Task
	if sb.OddLink {
		label = ""
	}
	var users []reconcile.Task
	//guard:asked-labels-lost harm
	if ids := reconcile.AppendNew(nil, reconcile.NonEmpty(a.Task, label,
		r.view.S.Memory.Sandboxes[sb.Ref].Task)...); len(ids) > 0 {
		rows, err := r.k.Tasks.ByID(ctx, ids)
		if err != nil {
			return nil, fmt.Errorf("read the rows that the sandbox may belong to: %w", err)
		}
		//guard:asked-rows-lost harm
		users = append(rows.Tasks, r.view.RemembersWorking(ids, rows.Tasks)...)
	}
	keys := sb.Keys()
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

// frozen are the sources that are not trusted and that tell who works where. A person may
// say that it is to be done anyway.
func (r *run) frozen(a *reconcile.Action) reconcile.HeldBy {
	if a.Anyway || a.Step != reconcile.StepTerminate {
		return nil
	}
	return r.view.FrozenFor(a.Provider, a.Subject)
}
