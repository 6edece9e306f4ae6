package decide

import (
	"fmt"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/rules"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// Holds are what keeps an open action from being carried out, whoever planned it and when: the
// operators' requests, the mode that is in force now, and, for one that nobody has begun, that the
// pass does not call for it.
func Holds(v *view.View, a *reconcile.Action, f *Facts) reconcile.HeldBy {
	var holds reconcile.HeldBy
	for _, target := range f.Targets {
		holds = holds.With(reconcile.StepHolds(&f.Controls, a, target)...)
	}
	holds = holds.With(v.P.Holds(&f.Controls, a)...)
	if _, ours := v.P.Providers[a.Provider]; !ours && a.Sandbox != "" && a.Provider != "" {
		holds = append(holds, reconcile.Held{Kind: reconcile.HeldNoEntry,
			Reason: fmt.Sprintf("no entry %q: the config does not name it any more", a.Provider)})
	}
	if a.Asked() {
		//guard:asked-frozen P3
		return append(holds, frozenForRequest(v, a, f)...)
	}
	//guard:step-unknown-rule P9
	if _, known := v.P.Rules[a.Rule]; !known {
		holds = holds.With(reconcile.Off.Held()) // of another version
	}
	if a.InQuarantine() && !a.Begun() && a.NextAttempt.After(f.Now) {
		return append(holds, reconcile.Held{Kind: reconcile.HeldQuarantineEnd,
			Reason: "in quarantine until " + text.Time(a.NextAttempt)})
	}
	//guard:stop-only lost
	if v.P.Rules[a.Rule].Remedy == reconcile.Stop && a.Step == reconcile.StepTerminate && !a.InQuarantine() && !a.Begun() {
		holds = append(holds, reconcile.Held{Kind: reconcile.HeldOnlyReports, Reason: "the rule only stops by now"})
	}
	//guard:quarantine-end-held P3
	holds = append(holds, holdsOfQuarantine(v, a, f)...)
	if a.Seq > 0 || a.Begun() {
		return holds
	}
	//guard:step-rollout P9
	if percent := v.P.Rules[a.Rule].Rollout; !reconcile.RolledOut(a.Rule, a.Subject, percent) {
		holds = append(holds, reconcile.HeldByRollout(percent))
	}
	//guard:step-due P7
	if f.Uncalled {
		holds = append(holds, reconcile.Held{Kind: reconcile.HeldUncalled, Reason: "this pass does not call for it"})
	}
	return holds
}

// frozenForRequest are the sources that are not trusted and that tell who works where. An operator may
// say that it is to be done anyway.
func frozenForRequest(v *view.View, a *reconcile.Action, f *Facts) reconcile.HeldBy {
	if a.Anyway || a.Step != reconcile.StepTerminate {
		return nil
	}
	return v.FrozenFor(a.Provider, a.Subject, f.Users...)
}

// holdsOfQuarantine are what holds the end of a quarantine as it would hold a first step: it comes
// long after its verdict, which is a decision of its own.
func holdsOfQuarantine(v *view.View, a *reconcile.Action, f *Facts) reconcile.HeldBy {
	rule, known := v.P.Rules[a.Rule]
	if !a.InQuarantine() || !known {
		return nil
	}
	holds := v.FrozenFor(a.Provider, a.Subject, f.Users...)
	//guard:quarantine-unproven P9
	holds = append(holds, unproven(v, &f.Controls, a.Rule, nil)...)
	if !reconcile.RolledOut(a.Rule, a.Subject, rule.Rollout) {
		holds = append(holds, reconcile.HeldByRollout(rule.Rollout))
	}
	if endsNothing(rule.Remedy) {
		holds = append(holds, reconcile.HeldReported())
	}
	return holds
}

// endsNothing reports whether a remedy lets every sandbox be there.
func endsNothing(remedy reconcile.Remedy) bool {
	return remedy == reconcile.Report || remedy == reconcile.Stop
}

// handedOn is the live task whose row names, by its id or its name, a sandbox that labels alone link to a task which is
// over, or to none.
func handedOn(v *view.View, s *reconcile.Subject, b *reconcile.SeenSandbox, remedy reconcile.Remedy) string {
	if !endsSandbox(remedy) || b == nil || !b.Here || s.LinkState == reconcile.LinkLive || len(b.Keys()) > 0 {
		return ""
	}
	own := b.Task
	if s.Task != nil {
		own = s.Task.ID
	}
	return rules.UsedBut(v, own, b)
}

// heldForUser holds a sandbox for the task whose row names it: by its id, or by a name, which others may have too.
func heldForUser(v *view.View, b *reconcile.SeenSandbox, user string) reconcile.Held {
	why := reconcile.NamedAlike
	for o := range v.Naming(b.Sandbox) {
		if o.ID == user && o.Sandbox == b.ID {
			why = reconcile.NamesAnother
		}
	}
	return reconcile.Held{Kind: reconcile.HeldDoubtful, What: why,
		Reason: reconcile.DoubtfulOf(text.Clip(b.ID, 60)) + ", while task " + text.Clip(user, 60) + " may work in it"}
}
