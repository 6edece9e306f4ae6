package decide

import (
	"fmt"
	"slices"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/rules"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// The objections that [MayAct] asks. Their order is the list objections in ruling.go.

// rowLater: a rule writes a task's row first, by a verdict that is judged again, within a budget. No pass plans it
// behind another step, where it would rest on neither: such a row of the ledger is somebody else's.
func rowLater(_ *view.View, a *reconcile.Action, _ *Facts) Ruling {
	//guard:row-later harm
	if a.Seq > 0 && !a.Asked() && (a.Step == reconcile.StepFail || a.Step == reconcile.StepRequeue) {
		return withdraw("no pass plans to write a row behind another step")
	}
	return Ruling{}
}

func leftToFull(_ *view.View, a *reconcile.Action, f *Facts) Ruling {
	if f.Quick && judged(a, f) && reconcile.RuleNamed(a.Rule).FullOnly {
		return wait("only a full pass judges by this rule")
	}
	return Ruling{}
}

func unread(_ *view.View, _ *reconcile.Action, f *Facts) Ruling {
	//guard:ruling-unread P4
	if f.Unread != "" {
		return Ruling{Outcome: reconcile.OutcomePending, Why: f.Unread, Blind: true}
	}
	return Ruling{}
}

func outdated(_ *view.View, a *reconcile.Action, f *Facts) Ruling {
	//guard:asked-outdated harm
	if why := a.Outdated(f.Now); why != "" && !f.hurries(a) {
		return withdraw(why)
	}
	return Ruling{}
}

// notOwned: nothing is touched that is not proven ours. Where only rows tell what is ours, an
// operator's word alone is no proof: a row names the sandbox, or the ledger remembers one that did. Who cleans
// up has not looked at each: there the row itself has to prove it.
func notOwned(v *view.View, a *reconcile.Action, f *Facts) Ruling {
	if !onSandbox(a) && a.Step != stepProbe {
		return Ruling{}
	}
	sb := &f.Lookup.Sandbox
	known := v.S.Memory.Sandboxes.Of(sb.Ref).Task != "" || slices.ContainsFunc(f.Users, func(t reconcile.Task) bool {
		//guard:asked-no-proof P1
		return a.Rule == reconcile.RuleOperator || view.NoProof(v.S, &t, sb) == ""
	})
	//guard:ruling-owned P1
	if !Proven(v, sb) {
		return withdraw("looked again: the sandbox is not proven ours any more")
	}
	//guard:asked-owned P1
	if a.Asked() && ends(a) && !sb.Owned && !known {
		return withdraw("the sandbox is not proven ours")
	}
	return Ruling{}
}

// Proven reports whether the sandbox is ours by its labels or name, or may be by a row.
func Proven(v *view.View, sb *reconcile.Sandbox) bool {
	return sb.Owned || v.P.Providers[sb.Provider].ByRow(sb)
}

func refuted(_ *view.View, _ *reconcile.Action, f *Facts) Ruling {
	switch {
	//guard:ruling-refuted live
	case f.Probe == ProbeRefutes:
		return withdraw(f.ProbeSaid)
	//guard:ruling-unsure P3
	case f.Probe == ProbeUnsure:
		return wait(f.ProbeSaid)
	}
	return Ruling{}
}

// notFound: what a verdict began ends when it does not hold any more.
func notFound(_ *view.View, a *reconcile.Action, f *Facts) Ruling {
	if !judged(a, f) {
		return Ruling{}
	}
	if f.Recheck == nil {
		return wait("its verdict was not judged again")
	}
	found := f.Recheck.Finding
	//guard:ruling-found harm
	if found == nil {
		return withdraw("looked again: " + f.Recheck.Kept)
	}
	//guard:end-other-box harm
	if ends(a) && (found.Sandbox != a.Sandbox || found.Provider != a.Provider) {
		return withdraw("looked again: " + f.Recheck.Kept)
	}
	return Ruling{}
}

// woken: a sandbox that a quarantine stopped and that does not stand still any more, or did not all
// the time, is in use. In a state that says nothing it waits.
func woken(v *view.View, a *reconcile.Action, f *Facts) Ruling {
	if !a.InQuarantine() || f.hurries(a) {
		return Ruling{}
	}
	//guard:quarantine-used harm
	if why := v.Used(a, &f.Lookup.Sandbox, f.Now); why != "" {
		return withdraw(why)
	}
	//guard:quarantine-unknown harm
	if f.Lookup.Sandbox.State == reconcile.SandboxUnknown {
		return wait("it is in a state that is not known: " + text.Clip(f.Lookup.Sandbox.Raw, 60))
	}
	return Ruling{}
}

func atRest(v *view.View, a *reconcile.Action, f *Facts) Ruling {
	//guard:later-at-rest harm
	if follows(a, f) && !f.hurries(a) && v.P.IsLeft(&f.Lookup.Sandbox) && !a.InQuarantine() {
		return withdraw("it does not run any more, and what does not run is left (at_rest: keep)")
	}
	return Ruling{}
}

// follows reports whether the step ends a sandbox because an earlier step, or an earlier call, was
// made: not a request, and not judged again.
func follows(a *reconcile.Action, f *Facts) bool { return ends(a) && !a.Asked() && !judged(a, f) }

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
	//guard:end-heir-of-two harm
	if other := v.SharesName(&b, a.Task); b.Task == "" && other != "" && !namedBy(a.Task, f) {
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
	return "the task is live again: " + t.Status
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
	for i := range f.Users {
		t := &f.Users[i]
		switch {
		//guard:later-used harm
		case t.ID == a.Task || t.State.Terminal():
		//guard:used-elsewhere live
		case v.Elsewhere(t, &f.Lookup.Sandbox):
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

func explained(_ *view.View, a *reconcile.Action, f *Facts) Ruling {
	//guard:asked-explained P1
	if f.Explained != "" && a.Asked() && ends(a) && !a.Running {
		return withdraw("a row of " + f.Explained + " explains it; ask with --include-running")
	}
	return Ruling{}
}

func maybeAnothers(v *view.View, a *reconcile.Action, f *Facts) Ruling {
	//guard:asked-shared P1
	if a.Rule == reconcile.RuleEmergency && ends(a) && !a.Anyway && v.MaybeAnothers(&f.Lookup.Sandbox, len(f.Users) > 0) {
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

func expired(_ *view.View, _ *reconcile.Action, f *Facts) Ruling {
	//guard:deed-late once
	if f.Expired != "" {
		return wait(f.Expired)
	}
	return Ruling{}
}

// held: what the operators asked for, what the verdict itself is held by, and what keeps the action
// from being carried out in any case. A probe is not held: what is wrong is to be seen while nothing is
// done about it, in a pause as in observe mode; `probe: off` ends it.
func held(v *view.View, a *reconcile.Action, f *Facts) Ruling {
	if a.Step == stepProbe {
		return Ruling{}
	}
	holds := Holds(v, a, f)
	if judged(a, f) && f.Recheck.Finding != nil {
		holds = holds.With(f.Recheck.Finding.HeldBy...)
	}
	if judged(a, f) && asksForProof(a, f) {
		//guard:ruling-unproven P9
		holds = holds.With(unproven(v, &f.Controls, a.Rule, f.Recheck.Subject)...)
	}
	//guard:held-instead live
	if rule := instead(v, a, f); len(holds) > 0 && rule != "" {
		return withdraw("held by " + holds.String() + "; " + rule + " finds it too, and may act")
	}
	//guard:ruling-held P4
	if len(holds) > 0 {
		return wait(holds.String())
	}
	return Ruling{}
}

// instead is a rule that finds the subject too and that nothing holds, where the verdict of an action that never had
// an effect is held, and the last pass would not have planned it: an action that waits would keep that rule from acting
// for as long.
func instead(v *view.View, a *reconcile.Action, f *Facts) string {
	if !judged(a, f) || f.Recheck == nil || f.Reissued || !a.ActedAt.IsZero() || !a.FirstActed.IsZero() {
		return ""
	}
	before, found := v.S.Memory.Findings[reconcile.FindingKey{Rule: a.Rule, Subject: a.Subject}]
	lastRead := v.S.Memory.Sources[reconcile.SourceTasks].LastTrusted
	planned := found && len(before.HeldBy) == 0 && !before.LastSeen.Before(lastRead)
	if planned || f.Recheck.Finding == nil || len(f.Recheck.Finding.HeldBy) == 0 {
		return ""
	}
	for _, other := range f.Recheck.Others {
		as := *a
		as.Rule = other.Rule
		if len(Holds(v, &as, f)) == 0 && len(restraints(f.Recheck.View, other, f.Recheck.Subject)) == 0 {
			return other.Rule
		}
	}
	return ""
}

func noRequeue(v *view.View, a *reconcile.Action, f *Facts) Ruling {
	if a.Step != reconcile.StepRequeue {
		return Ruling{}
	}
	if a.Asked() {
		return noRetry(v, a, f)
	}
	why := NoRequeue(f.Recheck.View, f.Recheck.Subject)
	if id := f.Controls.Incident(a.Signature); id != "" {
		why = "incident " + id + " explains it"
	}
	//guard:row-requeue-again once
	if why != "" {
		return withdraw(why + ": it will be failed instead")
	}
	return Ruling{}
}
