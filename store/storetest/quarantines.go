package storetest

import (
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// stopping is a step that stops a sandbox of the remedy's task.
func stopping(remedy string, seq int, sandbox string) reconcile.Action {
	a := ending(remedy, seq, sandbox)
	a.ID, a.Step = remedy+"-stop-"+sandbox, reconcile.StepQuarantine
	return a
}

// waiting is the terminate at the end of a quarantine of a day.
func waiting(remedy string, seq int, sandbox string) reconcile.Action {
	a := ending(remedy, seq, sandbox)
	a.NextAttempt = noon.Add(24 * time.Hour)
	return a
}

// quarantines say how steps on one sandbox and on several go together.
var quarantines = map[string]func(*bench){
	"a quarantine and the terminate after it are open side by side, and wait for each other": func(b *bench) {
		b.plan(failing("t"), stopping("t", 1, "x"), waiting("t", 2, "x"))
		b.equal("open", b.open(), []string{"t", "t-stop-x", "t-x"})
		b.settled("t", reconcile.OutcomeDone)
		b.settled("t-stop-x", reconcile.OutcomeDone)
		_, err := b.claim("t-x")
		b.refused(err, reconcile.ErrHeld, "not before 2026-11-22 12:00:00 UTC")
		b.clock.move(24*time.Hour - time.Microsecond)
		b.lease = b.take("one")
		_, err = b.claim("t-x")
		b.refused(err, reconcile.ErrHeld, "not before")
		b.clock.move(time.Microsecond)
		b.claimed("t-x")
	},
	"a quarantine counts from when the sandbox stood still": func(b *bench) {
		b.plan(failing("t"), stopping("t", 1, "x"), waiting("t", 2, "x"), stopping("t", 3, "y"), waiting("t", 4, "y"))
		b.settled("t", reconcile.OutcomeDone)
		b.settled("t-stop-x", reconcile.OutcomeDone)
		b.clock.move(25 * time.Hour) // the provider answered 503 all the time
		b.lease = b.take("one")
		b.settled("t-stop-y", reconcile.OutcomeDone)
		_, err := b.claim("t-y")
		b.refused(err, reconcile.ErrHeld, "not before 2026-11-23 13:00:00 UTC")
		b.claimed("t-x")
	},
	"a sandbox is stopped once and woken once, whatever the subject": func(b *bench) {
		other := stopping("u", 1, "x")
		wake, again := stopping("v", 0, "x"), stopping("w", 0, "x")
		wake.ID, wake.Remedy, wake.Subject, wake.Step = "v", "v", "sandbox:daytona/x", reconcile.StepResume
		again.ID, again.Remedy, again.Step = "w", "w", reconcile.StepResume
		b.plan(failing("t"), stopping("t", 1, "x"))
		b.plan(failing("u"), other, wake)
		b.plan(again)
		b.equal("open", b.open(), []string{"t", "t-stop-x", "u", "v"})
	},
	"the end of one quarantine holds no other sandbox": func(b *bench) {
		b.plan(failing("t"), stopping("t", 1, "x"), waiting("t", 2, "x"), stopping("t", 3, "y"), waiting("t", 4, "y"))
		b.settled("t", reconcile.OutcomeDone)
		b.settled("t-stop-x", reconcile.OutcomeDone)
		b.settled("t-stop-y", reconcile.OutcomeDone)
	},
	"a sandbox that was not stopped is not terminated later, another one is": func(b *bench) {
		b.plan(failing("t"), stopping("t", 1, "x"), stopping("t", 2, "y"), waiting("t", 3, "x"), waiting("t", 4, "y"))
		b.settled("t", reconcile.OutcomeDone)
		b.settled("t-stop-x", reconcile.OutcomeWithdrawn)
		b.equal("open", b.open(), []string{"t-stop-y", "t-y"})
		b.settled("t-stop-y", reconcile.OutcomeDone)
		b.clock.move(24 * time.Hour)
		b.lease = b.take("one")
		b.claimed("t-y")
	},
	"a stop that the provider only took holds the terminate of its sandbox": func(b *bench) {
		soon := ending("t", 2, "x")
		b.plan(failing("t"), stopping("t", 1, "x"), soon)
		b.settled("t", reconcile.OutcomeDone)
		b.settled("t-stop-x", reconcile.OutcomeAccepted)
		_, err := b.claim("t-x")
		b.refused(err, reconcile.ErrHeld, "its earlier step quarantine is accepted")
	},
	"a stop that failed ends the remedy": func(b *bench) {
		b.plan(failing("t"), stopping("t", 1, "x"), waiting("t", 2, "x"))
		b.settled("t", reconcile.OutcomeDone)
		b.settled("t-stop-x", reconcile.OutcomeFailed)
		b.equal("open", b.open(), []string{})
	},
	"the row before our write is kept with the action, and the first request": func(b *bench) {
		b.plan(failing("t"))
		a := b.claimed("t")
		value := "sb-1"
		a.Before = &reconcile.RowBefore{After: "8", Columns: map[string]*string{"sandbox_id": &value, "error": nil}}
		a.Outcome, a.ActedAt = reconcile.OutcomePending, noon
		b.must(b.Settle(b.Context(), b.lease, a))
		b.clock.move(time.Second)
		b.settled("t", reconcile.OutcomeDone)
		h, err := b.Subject(b.Context(), "t")
		b.must(err)
		b.equal("row before", h.Actions[0].Before, a.Before)
		b.equal("asked first", h.Actions[0].FirstActed, noon)
		b.equal("asked last", h.Actions[0].ActedAt, noon.Add(time.Second))
	},
}
