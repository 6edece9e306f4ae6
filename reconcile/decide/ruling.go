package decide

import (
	"errors"
	"fmt"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// Facts are what is known of an action's target right before its effect. Who gathers them
// reads the sandbox first, then the rows, then the operators' requests, and then looks whether
// its claim still counts.
type Facts struct {
	Now      time.Time // the ledger's
	Read     time.Time // when the last of them began to be read, by this process's own clock
	Quick    bool      // a quick pass acts
	Uncalled bool      // the pass does not call for it
	Reissued bool      // the provider accepted the action long ago, and is asked once more
	Busy     bool      // of a probe: an action of ours is at the sandbox
	Unnamed  bool      // of a probe: only a row could prove the sandbox ours, and none is there that names it or it

	Lookup    reconcile.Lookup    // of the sandbox that a step is about
	Template  *reconcile.Template // that an activate is about
	Recheck   *Recheck            // of a rule's first step: its verdict, judged again
	Row       *reconcile.Task     // of a later step: its own row; nil when there is none
	Users     []reconcile.Task    // rows that name the sandbox; for a request also those that it may belong to
	Heirs     []reconcile.Task    // rows that name a former sandbox of its name, where names last
	Explained string              // the further table of the platform that explains the sandbox
	Probe     ProbeFact           // of the final probe
	ProbeSaid string              // in its own words

	Controls reconcile.Controls        // the operators' requests of this moment
	Targets  []reconcile.ControlTarget // each name under which a request may mean the target

	Unread  string // what could not be read, and why
	Expired string // why the claim may be over
}

// A ProbeFact is what a final probe says of the verdict that it was made for.
type ProbeFact int

// What a final probe may say.
const (
	NotProbed    ProbeFact = iota // the verdict does not rest on probes, or there is nothing to probe
	ProbeAgrees                   // the verdict holds
	ProbeRefutes                  // the sandbox answered, or its executions move
	ProbeUnsure                   // nothing was learnt
)

// A Ruling says whether an action may have its effect. Only [MayAct] makes one that allows.
type Ruling struct {
	Outcome reconcile.Outcome // what becomes of the action instead: pending means that it waits
	Why     string
	How     reconcile.How
	HeldBy  reconcile.HeldBy // what holds it, where it waits for that
	Blind   bool             // it waits because something could not be read
	Read    time.Time        // when the last fact that it rests on began to be read, by this process's own clock

	allows string // key of the one action that may be done
}

// errNotAllowed is what an effect without a ruling comes to. It is a mistake of this program.
var errNotAllowed = errors.New("no ruling allows this effect")

// Allows is nil when the ruling allows the action's effect.
func (r Ruling) Allows(a *reconcile.Action) error {
	if r.allows == "" || r.allows != effectOf(a) {
		return fmt.Errorf("%s of %s: %w", a.Step, a.ID, errNotAllowed)
	}
	return nil
}

// Goes reports whether the ruling allows the effect that it was asked for.
func (r Ruling) Goes() bool { return r.allows != "" }

func effectOf(a *reconcile.Action) string {
	return fmt.Sprint(a.ID, " ", a.Step, " ", a.Provider, "/", a.Sandbox)
}

// Over reports whether the lookup alone settles the action: nothing more has to be read.
func Over(v *view.View, a *reconcile.Action, f *Facts) bool { return over(v, a, f).Outcome != "" }

func wait(why string) Ruling { return Ruling{Outcome: reconcile.OutcomePending, Why: why} }

func in(out reconcile.Outcome, how reconcile.How) Ruling {
	return Ruling{Outcome: out, How: how, Why: how.Words()}
}

func waitFor(by ...reconcile.Held) Ruling {
	return Ruling{Outcome: reconcile.OutcomePending, Why: reconcile.HeldBy(by).String(), HeldBy: by}
}

func withdraw(why string) Ruling { return Ruling{Outcome: reconcile.OutcomeWithdrawn, Why: why} }

// An objection is one thing that an action is asked before its effect. A zero ruling is none.
type objection func(*view.View, *reconcile.Action, *Facts) Ruling

// objections are all of them, in the one order in which they are asked, whatever the step and whoever
// planned it: is it known, is it done, is it ours, is it still wrong, is it in use, may it be now.
var objections = []objection{
	rowLater, leftToFull, unread, over, outdated,
	notOwned,
	refuted, notFound, woken, atRest,
	anothers, unlinked, heirOfTwo, goesOn, used, explained, maybeAnothers, working, newborn, alone,
	expired, held, noRequeue,
}

// MayAct rules on an action right before its effect: the first objection decides, and without
// any it goes.
func MayAct(v *view.View, a *reconcile.Action, f *Facts) Ruling {
	if a.Unsigned != "" {
		return withdraw(a.Unsigned) // also what is under way: whoever wrote that it is may have made it up
	}
	for _, object := range objections {
		out := object(v, a, f)
		if out.Outcome == "" {
			continue
		}
		if f.hurries(a) && out.Outcome == reconcile.OutcomeWithdrawn {
			return wait(out.Why) // it is under way: taking it back would stop nothing
		}
		return out
	}
	return Ruling{allows: effectOf(a), Read: f.Read}
}

// hurries reports whether the provider is only asked to hurry: the sandbox comes back, or is on
// its way out.
func (f *Facts) hurries(a *reconcile.Action) bool {
	return f.Reissued && (a.Step == reconcile.StepResume ||
		a.Step == reconcile.StepTerminate && f.Lookup.Sandbox.State == reconcile.SandboxDeleting)
}

// judged reports whether the ground of the action is a verdict, which is judged again: of a
// rule's first step. A later step rests on the first, and a request on who asked.
func judged(a *reconcile.Action, f *Facts) bool {
	rests := ends(a) || a.Step == reconcile.StepFail || a.Step == reconcile.StepRequeue
	return rests && a.Seq == 0 && !a.Asked() && !f.hurries(a)
}

func ends(a *reconcile.Action) bool {
	return a.Step == reconcile.StepTerminate || a.Step == reconcile.StepQuarantine
}

func onSandbox(a *reconcile.Action) bool { return ends(a) || a.Step == reconcile.StepResume }
