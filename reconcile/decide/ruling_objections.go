package decide

import (
	"slices"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// The objections that [MayAct] asks. Their order is the list objections in ruling.go; those that ask who works in the
// sandbox stand in ruling_use.go.

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
		out := withdraw("looked again: " + f.Recheck.Kept)
		// Nobody can read any more whether an earlier try, of which nothing was written down, had written it.
		//guard:ruling-vanished lost
		if f.Recheck.Subject == nil && a.Step.OnRow() && a.Attempts > 1 {
			out.How = reconcile.HowVanished
		}
		return out
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
		return waitFor(holds...)
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
