package run

import (
	"context"
	"fmt"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// groundLater is the ground of a later step of a remedy: the earlier step's write stands,
// or the row is over; the sandbox is the same; and no other live task links to it.
func (r *run) groundLater(ctx context.Context, a reconcile.Action) (reconcile.Sandbox, reconcile.Action, bool) {
	look := r.k.lookAt(ctx, reconcile.Ref{Provider: a.Provider, ID: a.Sandbox})
	if look.Error != "" {
		return reconcile.Sandbox{}, r.later(a, "look at the sandbox: "+look.Error), true
	}
	if out, settled := r.underway(a, look); settled {
		return reconcile.Sandbox{}, out, true
	}
	sb := look.Sandbox
	//guard:later-owned P1
	if !sb.Owned && !r.policy.Providers[a.Provider].ByRow(&sb) {
		return reconcile.Sandbox{}, r.withdraw(a, "the sandbox is not proven ours any more"), true
	}
	if out, settled := r.woken(a, &sb); settled {
		return reconcile.Sandbox{}, out, true
	}
	//guard:later-at-rest harm
	if r.policy.IsLeft(&sb) && !a.InQuarantine() {
		return reconcile.Sandbox{}, r.withdraw(a, "it does not run any more, and what does not run is left (at_rest: keep)"),
			true
	}
	why, err := r.linkedAgain(ctx, &a, sb)
	//guard:later-rows-read P4
	if err != nil {
		return reconcile.Sandbox{}, r.later(a, err.Error()), true
	}
	if why != "" {
		return reconcile.Sandbox{}, r.withdraw(a, why), true
	}
	//guard:later-held P4
	if waits := r.heldWith(ctx, &a, sb); waits != "" {
		return reconcile.Sandbox{}, r.later(a, waits), true
	}
	return sb, a, false
}

// heldWith is what holds a step against a sandbox as it was just seen, by the wishes of this
// very moment.
func (r *run) heldWith(ctx context.Context, a *reconcile.Action, sb reconcile.Sandbox) string {
	controls, why := r.controlsNow(ctx, a)
	if why != "" {
		return why
	}
	return reconcile.StepHolds(&controls, a, reconcile.ControlTarget{Rule: a.Rule, Subject: a.Subject,
		Provider: a.Provider,
		Sandbox:  a.Sandbox, Task: a.Task, Names: []string{sb.Name, sb.AlsoKey}, Labels: sb.Labels}).String()
}

// linkedAgain says why the sandbox must not be ended: a live task that uses it.
func (r *run) linkedAgain(ctx context.Context, a *reconcile.Action, sb reconcile.Sandbox) (string, error) {
	//guard:later-other-task harm
	if sb.Task != "" && sb.Task != a.Task {
		return "the sandbox names another task by now, " + text.Clip(sb.Task, 60), nil
	}
	if r.policy.Tasks.None {
		return "", nil
	}
	if why, err := r.standsAgain(ctx, a, sb); err != nil || why != "" {
		return why, err
	}
	return r.usedAgain(ctx, a, sb)
}

// usedAgain says which other task's row names the sandbox: rows that hold one value are several
// where tasks follow each other in one sandbox.
func (r *run) usedAgain(ctx context.Context, a *reconcile.Action, sb reconcile.Sandbox) (string, error) {
	b := r.view.Box(&sb) // a name that is another one's id does not count
	keys := b.Keys()
	if r.policy.Tasks.None || len(keys) == 0 {
		return "", nil
	}
	users, err := r.k.Tasks.BySandbox(ctx, keys)
	if err != nil {
		return "", fmt.Errorf("read the rows that name the sandbox: %w", err)
	}
	for _, t := range users.Tasks {
		switch {
		//guard:later-used harm
		case t.ID == a.Task || t.State.Terminal():
		//guard:used-elsewhere live
		case r.view.Elsewhere(&t, &sb):
		case t.State.Live():
			return "live task " + text.Clip(t.ID, 60) + " uses the sandbox", nil
		default:
			return fmt.Sprintf("task %s of status %s, which the config does not map, names the sandbox", text.Clip(t.ID, 60),
				text.Clip(t.Status, 60)), nil
		}
	}
	return "", nil
}

// standsAgain reads the action's row and says why the earlier step does not stand. Of a first
// step the sandbox itself is the ground: its task may well live.
func (r *run) standsAgain(ctx context.Context, a *reconcile.Action, sb reconcile.Sandbox) (string, error) {
	if a.Seq == 0 || a.Task == "" {
		return "", nil
	}
	ids, err := r.k.Tasks.ByID(ctx, []string{a.Task})
	if err != nil {
		return "", fmt.Errorf("read the row again: %w", err)
	}
	for i := range ids.Tasks {
		//guard:later-stands harm
		if why := r.stands(&ids.Tasks[i], a, sb); why != "" {
			return why, nil
		}
	}
	return "", nil
}

// stands says why the earlier step's write does not stand. A terminal row always lets the
// sandbox go; a live one only when it carries our own requeue and does not name the
// sandbox any more.
func (r *run) stands(t *reconcile.Task, a *reconcile.Action, sb reconcile.Sandbox) string {
	if t.State.Terminal() {
		return taskKeptAlive(t, a)
	}
	if !t.State.Live() {
		return "the row has a status that the config does not map: " + text.Clip(t.Status, 60)
	}
	of := reconcile.RuleNamed(a.Rule).OfLiveTask
	if of == reconcile.EndUnnamed && sb.SandboxKey != "" && t.Sandbox != "" && !sb.CalledBy(t.Sandbox) {
		return "" // the row names another one: this one was too many from the start
	}
	ours := reconcile.MarkedBy(t.Error, a.Remedy)
	if t.State == reconcile.TaskPending && ours {
		return ""
	}
	if ours && sb.SandboxKey != "" && !sb.CalledBy(t.Sandbox) {
		return ""
	}
	//guard:stands-failed live
	if _, alive := r.view.Alive(t); of == reconcile.EndLifeless && sb.State == reconcile.SandboxFailed && !alive {
		return "" // nobody goes on in that
	}
	return "the task is live again: " + t.Status
}

// taskKeptAlive says that the row asks to keep the sandbox for longer by now.
func taskKeptAlive(t *reconcile.Task, a *reconcile.Action) string {
	//guard:later-kept-alive harm
	if reconcile.RuleNamed(a.Rule).KeptAlive && t.AsOf.Before(t.KeepAliveUntil) {
		return "the row keeps it alive until " + text.Time(t.KeepAliveUntil)
	}
	return ""
}
