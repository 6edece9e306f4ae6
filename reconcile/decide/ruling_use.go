package decide

import (
	"fmt"
	"slices"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/rules"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// The objections of [MayAct] that ask whose the sandbox is by now, and who works in it.

func anothers(_ *view.View, a *reconcile.Action, f *Facts) Ruling {
	//guard:later-other-task harm
	if task := f.Lookup.Sandbox.Task; follows(a, f) && task != "" && task != a.Task {
		return withdraw("the sandbox names another task by now, " + text.Clip(task, 60))
	}
	return Ruling{}
}

// unlinked: what ends with a task shows that it is that task's, when it is looked at. That a listing showed its label,
// now or once, is not enough: it may have shown another's.
func unlinked(v *view.View, a *reconcile.Action, f *Facts) Ruling {
	task, ofTask := reconcile.OfType(reconcile.SubjectTask, a.Subject)
	if !ofTask || !ends(a) || a.Asked() || f.hurries(a) || a.InQuarantine() {
		return Ruling{}
	}
	//guard:end-unlinked P1
	if b := v.Box(&f.Lookup.Sandbox); v.Unlabelled(&b, task) && !namedBy(task, f) {
		return withdraw("looked again: it does not name task " + text.Clip(task, 60) + ", and its row does not name it")
	}
	return Ruling{}
}

// heirOfTwo: all that links the sandbox to the task is its name, and another live task had a sandbox of that name.
func heirOfTwo(v *view.View, a *reconcile.Action, f *Facts) Ruling {
	if a.Task == "" || !ends(a) || a.Asked() || f.hurries(a) || a.InQuarantine() {
		return Ruling{}
	}
	b := v.Box(&f.Lookup.Sandbox)
	if b.Task != "" || namedBy(a.Task, f) {
		return Ruling{}
	}
	other := v.SharesName(&b, a.Task)
	//guard:end-heir-by-row harm
	for i := range f.Heirs {
		if t := &f.Heirs[i]; t.State.Live() && t.ID != a.Task {
			other = t.ID
		}
	}
	//guard:end-heir-of-two harm
	if other != "" {
		return withdraw("looked again: live task " + text.Clip(other, 60) + " had a sandbox of its name too")
	}
	return Ruling{}
}

// namedBy reports whether the row of the task that a step is about, or any that was read for it, names the sandbox.
func namedBy(task string, f *Facts) bool {
	sb, rows := &f.Lookup.Sandbox, f.Users
	if f.Row != nil {
		rows = append(slices.Clip(rows), *f.Row)
	}
	if f.Recheck != nil && f.Recheck.Subject != nil && f.Recheck.Subject.Task != nil {
		rows = append(slices.Clip(rows), *f.Recheck.Subject.Task)
	}
	return slices.ContainsFunc(rows, func(t reconcile.Task) bool { return t.ID == task && sb.CalledBy(t.Sandbox) })
}

// goesOn: the earlier step does not stand. Of a first step the sandbox itself is the ground: its
// task may well live.
func goesOn(v *view.View, a *reconcile.Action, f *Facts) Ruling {
	if !follows(a, f) || a.Seq == 0 || f.Row == nil {
		return Ruling{}
	}
	//guard:later-stands harm
	if why := stands(v, f.Row, a, &f.Lookup.Sandbox); why != "" {
		return withdraw(why)
	}
	return Ruling{}
}

// stands says why the earlier step's write does not stand. A terminal row lets the sandbox go,
// unless it is completed since we failed it; a live one only when it carries our own requeue and
// does not name the sandbox any more.
func stands(v *view.View, t *reconcile.Task, a *reconcile.Action, sb *reconcile.Sandbox) string {
	//guard:stands-completed harm
	if t.State == reconcile.TaskCompleted && !a.InQuarantine() && !reconcile.MarkedBy(t.Error, a.Remedy) {
		return "the task is completed by now: its work went on after it was failed"
	}
	if t.State.Terminal() {
		return taskKeptAlive(v, t, a)
	}
	if t.State.Rests() {
		return "the task is " + string(t.State) + " by now"
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
	if _, alive := v.Alive(t); of == reconcile.EndLifeless && sb.State == reconcile.SandboxFailed && !alive {
		return "" // nobody goes on in that
	}
	//guard:stands-elsewhere live
	if of == reconcile.EndLifeless && sb.State == reconcile.SandboxFailed && worksElsewhere(v, t, sb) {
		return ""
	}
	return "the task is live again: " + t.Status
}

// worksElsewhere reports whether the row names another sandbox, which the last passes saw run: who is heard works in
// that one, and not in what has failed.
func worksElsewhere(v *view.View, t *reconcile.Task, failed *reconcile.Sandbox) bool {
	if failed.SandboxKey == "" || t.Sandbox == "" || failed.CalledBy(t.Sandbox) {
		return false
	}
	for ref, seen := range v.S.Memory.Sandboxes.Each() {
		runs := seen.GoneAt.IsZero() && seen.State == reconcile.SandboxRunning
		named := ref.ID == t.Sandbox || seen.Name == t.Sandbox
		if runs && named && ref.Provider == failed.Provider && ref != failed.Ref {
			return true
		}
	}
	return false
}

// keptByAnother says why a task of another tenant, which is over, may still want the sandbox; "" when it does not: a
// row that names it as well must not end it before.
func keptByAnother(v *view.View, a *reconcile.Action, f *Facts, t *reconcile.Task) string {
	own := f.Row
	if own == nil && f.Recheck != nil && f.Recheck.Subject != nil {
		own = f.Recheck.Subject.Task
	}
	over := t.State == reconcile.TaskCompleted || t.State == reconcile.TaskFailed
	if !over || own == nil || own.Tenant == "" || t.Tenant == "" || own.Tenant == t.Tenant || a.Rule == "over-age" ||
		v.Elsewhere(t, &f.Lookup.Sandbox) {
		return ""
	}
	return rules.Wanted(v, t, &f.Lookup.Sandbox)
}

// taskKeptAlive says that the row asks to keep the sandbox for longer by now.
func taskKeptAlive(v *view.View, t *reconcile.Task, a *reconcile.Action) string {
	//guard:later-kept-alive harm
	if kept := rules.KeptUntil(v, t); reconcile.RuleNamed(a.Rule).KeptAlive && t.AsOf.Before(kept) {
		return "the row keeps it alive until " + text.Time(kept)
	}
	return ""
}

// used: another task's row names the sandbox. Rows that hold one value are several where tasks follow
// each other in one sandbox.
func used(v *view.View, a *reconcile.Action, f *Facts) Ruling {
	if a.Asked() || !ends(a) {
		return Ruling{}
	}
	var own view.OwnNamed
	for i := range f.Users {
		t := &f.Users[i]
		switch {
		//guard:used-kept harm
		case keptByAnother(v, a, f, t) != "":
			return withdraw(fmt.Sprintf("looked again: task %s of another tenant, which is %s, %s",
				text.Clip(t.ID, 60), t.State, keptByAnother(v, a, f, t)))
		//guard:later-used harm
		case t.ID == a.Task || t.State.Terminal():
		//guard:used-elsewhere live
		case v.Elsewhere(t, &f.Lookup.Sandbox):
		//guard:used-means-its-own live
		case meansItsOwn(v, &own, t, &f.Lookup.Sandbox):
		case t.State.Live():
			return withdraw("looked again: live task " + text.Clip(t.ID, 60) + " uses the sandbox")
		case t.State.Rests():
			return withdraw(fmt.Sprintf("looked again: task %s, which is %s, names the sandbox", text.Clip(t.ID, 60), t.State))
		default:
			return withdraw(fmt.Sprintf("looked again: task %s of status %s, which the config does not map, names the sandbox",
				text.Clip(t.ID, 60), text.Clip(t.Status, 60)))
		}
	}
	return Ruling{}
}

// meansItsOwn reports whether a row that was read just now holds a name that its task's own sandbox has too. Several
// actions are ruled side by side: each makes what it goes by, once and only where a row holds a name.
func meansItsOwn(v *view.View, own *view.OwnNamed, t *reconcile.Task, sb *reconcile.Sandbox) bool {
	if len(sb.Keys()) > 0 || t.Sandbox != sb.Name {
		return false
	}
	if *own == nil {
		*own = v.OwnNamed()
	}
	return v.MeansItsOwn(*own, t, sb)
}

func explained(_ *view.View, a *reconcile.Action, f *Facts) Ruling {
	//guard:asked-explained P1
	if f.Explained != "" && a.Asked() && ends(a) && !a.Running {
		return withdraw("a row of " + f.Explained + " explains it; ask with --include-running")
	}
	return Ruling{}
}

func maybeAnothers(v *view.View, a *reconcile.Action, f *Facts) Ruling {
	//guard:asked-shared P1
	if a.Rule == reconcile.RuleEmergency && ends(a) && !a.Anyway && v.MaybeAnothers(&f.Lookup.Sandbox, f.Users...) {
		return withdraw(reconcile.HeldShared().String() + "; ask with --anyway")
	}
	return Ruling{}
}

// alone: what is to be ended although a source is not trusted takes two operators, where there are two.
func alone(v *view.View, a *reconcile.Action, _ *Facts) Ruling {
	//guard:asked-alone harm
	if v.P.TwoOperators && a.Anyway && !a.Seconded() && a.ActedAt.IsZero() {
		return withdraw("--anyway takes a second operator, and " + text.Clip(a.Author, 60) +
			" asked alone; ask with --second")
	}
	return Ruling{}
}

func working(_ *view.View, a *reconcile.Action, f *Facts) Ruling {
	if !a.Asked() || !ends(a) {
		return Ruling{}
	}
	for i := range f.Users {
		//guard:asked-working harm
		if t := &f.Users[i]; TaskWorking(t) && !a.Running {
			return withdraw(fmt.Sprintf("task %s is %s in it; ask with --include-running",
				text.Clip(t.ID, 60), text.Clip(t.Status, 60)))
		}
	}
	return Ruling{}
}

// newborn: rows that are not trusted may not show yet whose a new sandbox is, to an operator neither.
func newborn(v *view.View, a *reconcile.Action, f *Facts) Ruling {
	if !a.Asked() || !ends(a) || a.Running || len(f.Users) > 0 {
		return Ruling{}
	}
	b := v.Box(&f.Lookup.Sandbox)
	if why := Newborn(v, &b); why != "" {
		return withdraw(why)
	}
	return Ruling{}
}

// Newborn says that the sandbox is so new that its task's row may not have been seen; "" when it is not,
// or the rows are trusted.
func Newborn(v *view.View, b *reconcile.SeenSandbox) string {
	most := v.P.Rules["orphan"].After
	//guard:asked-newborn harm
	if age := v.Born(*b); !v.Trusted(reconcile.SourceTasks) && age < most {
		return fmt.Sprintf("it is %s old, of %s, and the rows, which are not trusted, may not show its task yet; "+
			"ask with --include-running", text.Duration(age), text.Duration(most))
	}
	return ""
}

// TaskWorking reports whether a sandbox of the task may be in use: it is assigned or running, or
// has a status that the config does not map.
func TaskWorking(t *reconcile.Task) bool {
	return !t.State.Terminal() && t.State != reconcile.TaskPending
}
