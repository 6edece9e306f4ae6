package storetest

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// operatorRequest is a terminate that an operator asks for.
func operatorRequest(id string) reconcile.Action {
	a := orphan(id)
	a.Rule, a.PlannedAt, a.Running = reconcile.RuleOperator, time.Time{}, true
	return a
}

func (b *bench) ask(withdraw []string, actions ...reconcile.Action) []reconcile.Action {
	b.Helper()
	asked, err := b.Ask(b.Context(), by, actions, withdraw)
	b.must(err)
	return asked
}

// asks say how a person has something done.
var asks = map[string]func(*bench){
	"what is asked for is planned now, by whom, and told": func(b *bench) {
		b.clock.move(time.Minute)
		emergency := operatorRequest("b")
		emergency.Rule, emergency.Reason = reconcile.RuleEmergency, ""
		asked := b.ask(nil, operatorRequest("a"), emergency)
		want := []reconcile.Action{operatorRequest("a"), emergency}
		for i := range want {
			want[i].Author, want[i].PlannedAt, want[i].Outcome = "ana", noon.Add(time.Minute), reconcile.OutcomePending
		}
		want[1].Reason = "drill"
		b.equal("asked", asked, want)
		b.equal("recalled", b.recall().Actions, want)
		b.equal("lines", b.told("sandbox:daytona/sb-a"), []string{"terminate daytona/sb-a asked for by ana: drill"})
		b.equal("lines", b.told("sandbox:daytona/sb-b"), []string{
			"terminate daytona/sb-b in an emergency asked for by ana: drill",
		})
	},
	"what somebody began, or asked for, stays as it is, and is not told again": func(b *bench) {
		b.plan(orphan("a"), orphan("c"))
		b.claimed("a")
		b.settled("c", reconcile.OutcomeAccepted)
		other, late := operatorRequest("other"), operatorRequest("late")
		other.Sandbox, late.Sandbox = "sb-a", "sb-c"
		asked := b.ask(nil, other, late, operatorRequest("b"))
		b.equal("asked", actionIDs(asked), []string{"b"})
		b.equal("open", b.open(), []string{"a", "b", "c"})
		b.equal("asked again", len(b.ask(nil, operatorRequest("b"))), 0)
		b.equal("lines", len(b.told("sandbox:daytona/sb-a"))+len(b.told("sandbox:daytona/sb-b")), 1)
	},
	"the end that a pass planned gives way, of this sandbox alone": func(b *bench) {
		elsewhere := orphan("c")
		elsewhere.Sandbox, elsewhere.Provider = "sb-a", "e2b"
		b.plan(orphan("a"), orphan("b"), elsewhere, failing("t"), stopping("t", 1, "sb-t"), waiting("t", 2, "sb-t"))
		mine, kept := operatorRequest("mine"), operatorRequest("kept")
		mine.Sandbox, mine.Subject, kept.Sandbox = "sb-a", "sandbox:daytona/sb-a", "sb-t"
		b.equal("asked", actionIDs(b.ask(nil, mine, kept)), []string{"mine", "kept"})
		b.equal("open", b.open(), []string{"b", "c", "kept", "mine", "t", "t-stop-sb-t"})
		b.equal("lines", b.told("sandbox:daytona/sb-a"), []string{
			"terminate daytona/sb-a asked for by ana: drill", "terminate daytona/sb-a taken back by ana: drill",
		})
		b.equal("counted", b.counted("actions", "orphan", "terminate:withdrawn"), int64(1))
		h, err := b.Subject(b.Context(), "daytona/sb-a")
		b.must(err)
		i := slices.IndexFunc(h.Actions, func(a reconcile.Action) bool { return a.ID == "a" })
		b.equal("taken back", h.Actions[i].How, reconcile.HowTakenBack)
		b.claimed("mine")
	},
	"an end that was tried gives way when nobody is at it, and what comes late of it is refused": func(b *bench) {
		b.plan(orphan("a"), orphan("b"))
		b.settled("a", reconcile.OutcomePending)
		late := b.claimed("b")
		one, two := operatorRequest("one"), operatorRequest("two")
		one.Sandbox, two.Sandbox = "sb-a", "sb-b"
		b.equal("asked", actionIDs(b.ask(nil, one, two)), []string{"one"})
		b.clock.move(15 * time.Second)
		b.equal("asked when the claim is over", actionIDs(b.ask(nil, two)), []string{"two"})
		b.equal("open", b.open(), []string{"one", "two"})
		late.Outcome = reconcile.OutcomeConfirmed
		b.refused(b.Settle(b.Context(), b.lease, late), reconcile.ErrFenced, "is no longer valid")
		b.claimed("two")
	},
	"a request of an hour ago stands, an older one gives way": func(b *bench) {
		b.ask(nil, operatorRequest("a"))
		again := operatorRequest("again")
		again.Sandbox = "sb-a"
		b.clock.move(time.Hour)
		b.equal("asked in time", len(b.ask(nil, again)), 0)
		b.clock.move(time.Microsecond)
		b.equal("asked later", actionIDs(b.ask(nil, again)), []string{"again"})
		b.equal("open", b.open(), []string{"again"})
	},
	"what brings back makes no end give way": func(b *bench) {
		b.plan(orphan("a"))
		wake := operatorRequest("w")
		wake.Step, wake.Sandbox = reconcile.StepResume, "sb-a"
		b.ask(nil, wake)
		b.equal("open", b.open(), []string{"a", "w"})
	},
	"a stop is taken back also when the provider took it, but not while somebody is at it": func(b *bench) {
		alone := stopping("o", 0, "y")
		alone.Remedy = alone.ID
		b.plan(failing("t"), stopping("t", 1, "x"), waiting("t", 2, "x"), alone)
		b.settled("t", reconcile.OutcomeDone)
		b.settled("t-stop-x", reconcile.OutcomeAccepted)
		_, err := b.Ask(b.Context(), by, nil, []string{alone.ID})
		b.refused(err, nil, "first step")
		b.settled(alone.ID, reconcile.OutcomeAccepted)
		b.claimed(alone.ID)
		_, err = b.Ask(b.Context(), by, nil, []string{alone.ID})
		b.refused(err, nil, "it was begun")
		wake := operatorRequest("w")
		wake.Step, wake.Sandbox = reconcile.StepResume, "x"
		b.ask([]string{"t-stop-x", "t-x"}, wake)
		b.equal("open", b.open(), []string{"o-stop-y", "w"})
		_, err = b.claim("t-stop-x")
		b.refused(err, reconcile.ErrHeld, "already withdrawn")
	},
	"many who ask for the same have it once": func(b *bench) {
		var got atomic.Int64
		together(8, func(int) {
			asked, err := b.Ask(b.Context(), by, []reconcile.Action{operatorRequest("a"), operatorRequest("b")}, nil)
			if err != nil {
				b.Error(err)
			}
			got.Add(int64(len(asked)))
		})
		b.equal("asked", got.Load(), int64(2))
	},
	"a restore takes back the terminate that waits, all at once": func(b *bench) {
		b.plan(failing("t"), stopping("t", 1, "x"), waiting("t", 2, "x"))
		b.settled("t", reconcile.OutcomeDone)
		b.settled("t-stop-x", reconcile.OutcomeDone)
		wake, row := operatorRequest("w"), operatorRequest("r")
		wake.Step, wake.Sandbox = reconcile.StepResume, "x"
		row.Step, row.Subject, row.Provider, row.Sandbox, row.Task = reconcile.StepRestore, "task:t", "", "", "t"
		b.equal("asked", actionIDs(b.ask([]string{"t-x"}, wake, row)), []string{"w", "r"})
		b.equal("open", b.open(), []string{"r", "w"})
		h, err := b.Subject(b.Context(), "t")
		b.must(err)
		for _, a := range h.Actions {
			if a.ID == "t-x" && (a.Outcome != reconcile.OutcomeWithdrawn || a.Detail != "by ana: drill") {
				b.Errorf("the terminate is %s: %s, want withdrawn by ana", a.Outcome, a.Detail)
			}
		}
		b.equal("told", b.told("task:t"), []string{
			"restore asked for by ana: drill", "terminate daytona/x taken back by ana: drill",
		})
		b.equal("counted", b.counted("actions", "heartbeat-lost", "terminate:withdrawn"), int64(1))
	},
	"a place that is taken back is free for what is asked": func(b *bench) {
		b.plan(failing("t"), stopping("t", 1, "x"), waiting("t", 2, "x"))
		now := operatorRequest("now")
		now.Sandbox = "x"
		b.equal("asked", actionIDs(b.ask([]string{"t-x"}, now)), []string{"now"})
	},
	"nothing happens when a step to be taken back was begun, is over, or is none": func(b *bench) {
		b.plan(failing("t"), stopping("t", 1, "x"), waiting("t", 2, "x"), ending("t", 3, "y"), ending("t", 4, "z"))
		b.settled("t", reconcile.OutcomeDone)
		b.settled("t-stop-x", reconcile.OutcomeDone)
		b.settled("t-y", reconcile.OutcomeAccepted)
		b.claimed("t-z")
		before := b.recall()
		for id, said := range map[string]string{
			"t-y": "it was begun", "t-z": "it was begun", "t-stop-x": "already done", "t": "already done",
			"no-such": "not found",
		} {
			_, err := b.Ask(b.Context(), by, []reconcile.Action{operatorRequest("a")}, []string{"t-x", id})
			b.refused(err, nil, said)
		}
		b.equal("memories", b.recall(), before)
		b.equal("told", len(b.told("task:t")), 0)
	},
	"the first step of a remedy is not taken back": func(b *bench) {
		b.plan(orphan("a"))
		_, err := b.Ask(b.Context(), by, nil, []string{"a"})
		b.refused(err, nil, "first step")
	},
	"what makes no sense is refused, with all that came with it": func(b *bench) {
		nameless, ruled, boxless := operatorRequest(""), operatorRequest("r"), operatorRequest("x")
		ruled.Rule, boxless.Sandbox = "orphan", ""
		for name, a := range map[string]reconcile.Action{"no id": nameless, "a rule's": ruled, "no sandbox": boxless} {
			if _, err := b.Ask(b.Context(), by, []reconcile.Action{operatorRequest("a"), a}, nil); err == nil {
				b.Errorf("%s: was taken", name)
			}
		}
		if _, err := b.Ask(b.Context(), reconcile.Attribution{Author: "ana"}, []reconcile.Action{operatorRequest("a")},
			nil); err == nil {
			b.Error("an action without a reason was taken")
		}
		b.equal("open", b.open(), []string{})
	},
	"a note is a line of its subject, signed": func(b *bench) {
		b.must(b.Note(b.Context(), by, "pass:full", "run now"))
		b.equal("lines", b.told("pass:full"), []string{"run now by ana: drill"})
		if err := b.Note(b.Context(), reconcile.Attribution{}, "pass:full", "run now"); err == nil {
			b.Error("an unsigned note was taken")
		}
	},
}
