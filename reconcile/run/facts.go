package run

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/decide"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// gathered are the facts of one action, and what else was read on the way.
type gathered struct {
	decide.Facts
	saved string    // the end of the sandbox's log, which is gone with it
	acted time.Time // the ledger's now, right before the effect

	asked time.Time // when the sandbox was looked at, by this process's clock
	mixed bool      // a probe or a log was read since: what it showed may have changed meanwhile
}

// lookHolds is how long a look at a sandbox is as good as another one.
const lookHolds = 2 * time.Second

// fresh reports whether nothing would be learnt from another look: the last one was a moment ago.
func (f *gathered) fresh() bool { return !f.asked.IsZero() && time.Since(f.asked) < lookHolds }

// seen is the look that a second one need not repeat; none when something that takes its time came since.
func (f *gathered) seen(a *reconcile.Action) map[reconcile.Ref]reconcile.Lookup {
	if f.mixed || !f.fresh() {
		return nil
	}
	return map[reconcile.Ref]reconcile.Lookup{{Provider: a.Provider, ID: a.Sandbox}: f.Lookup}
}

// target is the sandbox as it was looked at. The look that the ruling rests on is that of who ends it, too, unless what
// came after it took its time, or this process stood still.
func (f *gathered) target() reconcile.Sandbox {
	sb := f.Lookup.Sandbox
	if !f.mixed {
		sb.Looked = f.asked
	}
	return sb
}

func (r *gatherer) factsOf(a *reconcile.Action) *gathered {
	return &gathered{Facts: decide.Facts{
		Now: r.now, Quick: r.result.Kind != reconcile.Full, Uncalled: !r.due[a.ID],
		Targets: []reconcile.ControlTarget{r.target(a)},
	}}
}

// rule says whether the action may have its effect, by all that was gathered.
func (r *gatherer) rule(a *reconcile.Action, f *gathered) decide.Ruling {
	return decide.MayAct(r.view, a, &f.Facts)
}

// gatherEnd gathers what the end of a sandbox, or its stop, rests on. What takes time comes
// first: the final probe, and saving the end of its log. Where there was any of it the sandbox is
// got once more, then the rows that could explain it are read, and then the requests of the operators.
func (r *gatherer) gatherEnd(ctx context.Context, a *reconcile.Action) *gathered {
	f := r.factsOf(a)
	if r.leavesToFull(a) || !r.lookUp(ctx, a, f) || !r.probeBefore(ctx, a, f) {
		return f
	}
	f.saved = r.saveEvidence(ctx, a, f)
	r.gatherGround(ctx, a, f)
	return f
}

// gatherReissue gathers what asking once more rests on. What somebody may use is judged like the
// first time; what comes back, or is on its way out, is only asked to hurry.
func (r *gatherer) gatherReissue(ctx context.Context, a *reconcile.Action) *gathered {
	f := r.factsOf(a)
	f.Reissued = true
	switch {
	case a.Step == reconcile.StepActivate:
		r.lookUpTemplate(ctx, a, f)
	case r.leavesToFull(a) || !r.lookUp(ctx, a, f):
	case a.Step == reconcile.StepResume:
		r.readWishes(ctx, a, f)
	case f.Lookup.Sandbox.State == reconcile.SandboxDeleting && a.Step == reconcile.StepTerminate:
		r.readUsers(ctx, a, f)
	case r.probeBefore(ctx, a, f):
		r.gatherGround(ctx, a, f)
	}
	return f
}

// gatherGround reads the sandbox once more, unless that was just done, and the rows and the requests.
func (r *gatherer) gatherGround(ctx context.Context, a *reconcile.Action, f *gathered) {
	if a.Asked() || a.Seq > 0 {
		if f.seen(a) != nil || r.lookUp(ctx, a, f) {
			r.readUsers(ctx, a, f)
		}
		return
	}
	found := r.gatherRecheck(ctx, a, f)
	if !found {
		return
	}
	// A sandbox without a task was looked for in all rows just now.
	//guard:end-used P4
	if reconcile.TypeOf(a.Subject) != reconcile.SubjectTask {
		r.readWishes(ctx, a, f)
		return
	}
	r.readUsers(ctx, a, f)
}

// lookUp gets the sandbox by its id, and reports whether more has to be known.
func (r *gatherer) lookUp(ctx context.Context, a *reconcile.Action, f *gathered) bool {
	f.asked, f.mixed = time.Now(), false
	r.k.endsThatFailed(r.now, []reconcile.Action{*a})
	f.Lookup = r.k.observer().lookupOne(ctx, reconcile.Ref{Provider: a.Provider, ID: a.Sandbox})
	if f.Lookup.Error != "" {
		f.Unread = "look at the sandbox: " + f.Lookup.Error
		return false
	}
	return !decide.Over(r.view, a, &f.Facts)
}

// gatherRecheck looks at the subject of a verdict again and judges it, and reports whether more has to be
// known.
func (r *gatherer) gatherRecheck(ctx context.Context, a *reconcile.Action, f *gathered) bool {
	seen, asked := f.seen(a), time.Now()
	o, err := r.recheck(ctx, a, seen)
	if err != nil {
		f.Unread = err.Error()
		return false
	}
	f.Recheck = &o.Recheck
	look, again := o.View.S.Lookups[reconcile.Ref{Provider: a.Provider, ID: a.Sandbox}]
	if again {
		f.Lookup = look
	}
	if again && seen == nil {
		f.asked, f.mixed = asked, false
	}
	return f.Recheck.Finding != nil
}

// readUsers reads the rows that the sandbox may belong to, and then the requests.
func (r *gatherer) readUsers(ctx context.Context, a *reconcile.Action, f *gathered) {
	var err error
	if a.Asked() {
		err = r.readRequested(ctx, a, f)
	} else {
		err = r.readFollowed(ctx, a, f)
	}
	if err != nil {
		f.Unread = err.Error()
		return
	}
	r.readWishes(ctx, a, f)
}

// readRequested reads what an operator's request rests on: all rows that may have to do with the
// sandbox, whichever of its tasks they name.
func (r *gatherer) readRequested(ctx context.Context, a *reconcile.Action, f *gathered) (err error) {
	if f.Users, err = r.users(ctx, a, &f.Lookup.Sandbox); err != nil || f.Reissued {
		return err
	}
	f.Explained, err = r.k.observer().explainedBy(ctx, f.Lookup.Sandbox)
	return err
}

// readFollowed reads the row of a later step, and the rows that name the sandbox.
func (r *gatherer) readFollowed(ctx context.Context, a *reconcile.Action, f *gathered) error {
	b := r.view.Box(&f.Lookup.Sandbox) // a name that is another one's id does not count
	keys := b.Called()
	if r.policy.Tasks.None {
		return nil
	}
	if a.Seq > 0 && a.Task != "" {
		rows, err := r.k.Tasks.ByID(ctx, []string{a.Task})
		if err != nil {
			return fmt.Errorf("read the row again: %w", err)
		}
		for i := range rows.Tasks {
			f.Row = &rows.Tasks[i]
		}
	}
	if len(keys) == 0 {
		return nil
	}
	formers := r.view.FormersOf(&b)
	users, err := r.k.Tasks.BySandbox(ctx, append(slices.Clip(keys), formers...))
	if err != nil {
		return fmt.Errorf("read the rows that name the sandbox: %w", err)
	}
	for _, t := range users.Tasks {
		if slices.Contains(formers, t.Sandbox) && !slices.Contains(keys, t.Sandbox) {
			f.Heirs = append(f.Heirs, t)
		} else {
			f.Users = append(f.Users, t) // also one that was found by a name which its row writes another way
		}
	}
	return nil
}

// readWishes comes last, and with nothing after it: looking takes its time, and a hold or a pause
// counts at once. A process that stood still meanwhile finds that its claim is over.
func (r *gatherer) readWishes(ctx context.Context, a *reconcile.Action, f *gathered) {
	f.acted, f.Read = r.ledgerNow(ctx), time.Now()
	controls, err := r.actions.Controls(ctx)
	if err != nil {
		f.Unread = "read the controls once more: " + text.Clip(err.Error(), 200)
		return
	}
	f.Controls = controls
	f.Targets = append(f.Targets, r.targetsIn(a, f)...)
	f.Expired = r.expired(a)
}

// targetsIn are the names under which a request may mean what was just seen.
func (r *gatherer) targetsIn(a *reconcile.Action, f *gathered) []reconcile.ControlTarget {
	named := func(sb *reconcile.Sandbox, task string) reconcile.ControlTarget {
		return reconcile.ControlTarget{Rule: a.Rule, Subject: a.Subject, Provider: sb.Provider, Sandbox: sb.ID, Task: task,
			Names: []string{sb.Name, sb.AltKey}, Labels: sb.Labels}
	}
	var targets []reconcile.ControlTarget
	if f.Lookup.Sandbox.ID != "" {
		targets = append(targets, named(&f.Lookup.Sandbox, a.Task))
	}
	if f.Recheck != nil && f.Recheck.Subject != nil {
		for i := range f.Recheck.Subject.Boxes {
			targets = append(targets, named(f.Recheck.Subject.Boxes[i].Sandbox, a.Task))
		}
		for _, sb := range view.NamedElsewhere(f.Recheck.View, f.Recheck.Subject) {
			//guard:hold-named-elsewhere P8
			targets = append(targets, named(sb, a.Task))
		}
	}
	if a.Asked() {
		for i := range f.Users {
			targets = append(targets, named(&f.Lookup.Sandbox, f.Users[i].ID))
		}
	}
	return targets
}

// instead is what becomes of an action that the ruling does not allow.
func (r *executor) instead(a reconcile.Action, ruling decide.Ruling) reconcile.Action {
	a.How, a.WaitsFor = cmp.Or(ruling.How, a.How), ruling.HeldBy
	switch ruling.Outcome {
	case reconcile.OutcomeWithdrawn:
		return r.withdraw(a, ruling.Why)
	case reconcile.OutcomeFailed:
		return r.giveUp(a, ruling.Why)
	case reconcile.OutcomeConfirmed, reconcile.OutcomeDone:
		a.Outcome, a.Detail, a.ClosedAt = ruling.Outcome, ruling.Why, r.now
		return a
	case reconcile.OutcomeAccepted:
		a.Outcome, a.Detail = ruling.Outcome, ruling.Why
		if a.ActedAt.IsZero() {
			a.ActedAt = r.now
		}
		return a
	}
	if ruling.Blind && (a.Step == reconcile.StepResume || a.Step == reconcile.StepRestore) {
		return r.laterOrNever(a, ruling.Why)
	}
	return r.later(a, ruling.Why)
}
