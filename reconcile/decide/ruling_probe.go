package decide

import (
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// stepProbe is no step of a remedy and is never recorded: a look inside of a sandbox. It runs a command
// there, so it is ruled on like what changes something.
const stepProbe reconcile.Step = "probe"

// ProbeOf is a probe of the sandbox, for [MayAct] to rule on.
func ProbeOf(ref reconcile.Ref) *reconcile.Action {
	return &reconcile.Action{Step: stepProbe, Provider: ref.Provider, Sandbox: ref.ID, Subject: reconcile.BoxSubject(ref)}
}

// probedBefore: only what runs is probed, so that no probe wakes anything, and not what an action of
// ours is at: that makes a final probe of its own.
func probedBefore(f *Facts) Ruling {
	switch {
	case f.Lookup.Gone:
		return withdraw("the sandbox is gone")
	//guard:probe-now-running P10
	case f.Lookup.Sandbox.State != reconcile.SandboxRunning:
		return withdraw("the sandbox does not run: " +
			reconcile.FirstOf(text.Clip(f.Lookup.Sandbox.Raw, 60), string(f.Lookup.Sandbox.State)))
	//guard:probe-unnamed P1
	case f.Unnamed:
		return withdraw("looked again: no row is there that it names or that names it, so that it is not proven ours")
	//guard:probe-busy P10
	case f.Busy:
		return withdraw("an action is at it")
	}
	return Ruling{}
}
