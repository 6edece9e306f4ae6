package decide

import (
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// over: what the step is to bring about is so already, or is on its way, by an attempt of ours that a
// crash cut short or by somebody else; or it never will be. Nothing is asked for twice.
func over(_ *view.View, a *reconcile.Action, f *Facts) Ruling {
	switch {
	case onSandbox(a) && f.Reissued && (f.Lookup.Gone || f.Lookup.Sandbox.State == reconcile.SandboxEnded):
		return wait("it is gone") // which the next look confirms
	case f.Reissued && a.Step == reconcile.StepResume && f.Lookup.Sandbox.State == reconcile.SandboxDeleting:
		return wait("it is being deleted")
	case onSandbox(a) && (f.hurries(a) || f.Lookup.Error != ""):
		return Ruling{}
	}
	switch a.Step {
	case reconcile.StepTerminate:
		return goneBefore(a, &f.Lookup)
	case reconcile.StepQuarantine:
		return stoppedBefore(a, &f.Lookup)
	case reconcile.StepResume:
		return backBefore(&f.Lookup)
	case reconcile.StepActivate:
		return activeBefore(f)
	case reconcile.StepFail, reconcile.StepRequeue:
		return writtenBefore(a, f)
	case stepProbe:
		return probedBefore(f)
	}
	return Ruling{}
}

func goneBefore(a *reconcile.Action, look *reconcile.Lookup) Ruling {
	asked := !a.ActedAt.IsZero() || !a.FirstActed.IsZero() // and never accepted: that waits to be confirmed
	switch {
	//guard:underway-gone lost
	case look.Gone, look.Sandbox.State == reconcile.SandboxEnded:
		gone := Ruling{Outcome: reconcile.OutcomeConfirmed, Why: "gone when looked at again"}
		if asked {
			gone.How = reconcile.HowUnheard
		}
		return gone
	// A sandbox on its way out is not ended once more. An attempt of a process that died may have asked for it.
	//guard:underway-adopted lost
	case look.Sandbox.State == reconcile.SandboxDeleting && a.Attempts <= 1 && !asked:
		return in(reconcile.OutcomeAccepted, reconcile.HowAdopted)
	case look.Sandbox.State == reconcile.SandboxDeleting && !asked:
		return in(reconcile.OutcomeAccepted, reconcile.HowUnsure)
	case look.Sandbox.State == reconcile.SandboxDeleting:
		return in(reconcile.OutcomeAccepted, reconcile.HowUnheard)
	}
	return Ruling{}
}

func stoppedBefore(a *reconcile.Action, look *reconcile.Lookup) Ruling {
	state := look.Sandbox.State
	words := reconcile.FirstOf(text.Clip(look.Sandbox.Raw, 60), string(state))
	switch {
	case look.Gone:
		return withdraw("the sandbox is gone")
	case state == reconcile.SandboxEnded, state == reconcile.SandboxDeleting:
		return withdraw("the sandbox is " + words)
	//guard:quarantine-again once
	case state.AtRest() && a.Attempts > 1:
		return Ruling{Outcome: reconcile.OutcomeDone, Why: "is " + words + " when looked at again"}
	case state == reconcile.SandboxFailed: // no provider stops it, and it would be asked for ever
		return Ruling{Outcome: reconcile.OutcomeDone, Why: "it has failed: nothing runs in it that could be stopped"}
	}
	return Ruling{}
}

func backBefore(look *reconcile.Lookup) Ruling {
	switch state := look.Sandbox.State; {
	case look.Gone, state == reconcile.SandboxEnded, state == reconcile.SandboxDeleting:
		return Ruling{Outcome: reconcile.OutcomeFailed, Why: "the sandbox is gone: it cannot come back"}
	//guard:resume-running once
	case state == reconcile.SandboxRunning, state == reconcile.SandboxCreating:
		return Ruling{Outcome: reconcile.OutcomeDone,
			Why: "it is " + reconcile.FirstOf(text.Clip(look.Sandbox.Raw, 60), string(state))}
	}
	return Ruling{}
}

// activeBefore: the template is usable, or on its way to be, or asking would not help.
func activeBefore(f *Facts) Ruling {
	if f.Template == nil {
		return Ruling{}
	}
	words := reconcile.FirstOf(text.Clip(f.Template.Raw, 60), string(f.Template.State), "in a state that is not known")
	switch {
	case f.Template.State == reconcile.TemplateInactive:
		return Ruling{}
	case f.Reissued:
		return wait("it is " + words)
	case f.Template.State == reconcile.TemplateActive:
		return Ruling{Outcome: reconcile.OutcomeConfirmed, Why: "is " + words}
	case f.Template.State == reconcile.TemplateBuilding:
		return Ruling{Outcome: reconcile.OutcomeAccepted, Why: "is " + words}
	}
	return withdraw("the template is " + words + ": activating it would not help")
}

func writtenBefore(a *reconcile.Action, f *Facts) Ruling {
	if f.Recheck == nil || f.Recheck.Subject == nil || f.Recheck.Subject.Task == nil {
		return Ruling{}
	}
	//guard:row-own-mark lost
	if reconcile.MarkedBy(f.Recheck.Subject.Task.Error, a.ID) {
		return Ruling{Outcome: reconcile.OutcomeDone, Why: "written by an earlier attempt"}
	}
	// The platform does not leave our mark.
	if !a.AskedAt.IsZero() && f.Recheck.Subject.Task.State.Terminal() {
		return Ruling{Outcome: reconcile.OutcomeDone, Why: "the platform did what it was asked for"}
	}
	// An earlier try may have ended the attempt that was then: the present one gets an action of its own.
	//guard:row-anew once
	if s := f.Recheck.Subject; a.Attempts > 1 && s.Known && a.PlannedAt.Before(s.Seen().Since) {
		return in(reconcile.OutcomeWithdrawn, reconcile.HowAnew)
	}
	return Ruling{}
}
