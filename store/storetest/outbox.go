package storetest

import (
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// outbox says which actions get in, and which of them come out unclaimed.
var outbox = map[string]func(*bench){
	"an action comes back as it was planned, pending and free": func(b *bench) {
		a := orphan("a")
		a.Pass, a.RowOnly, a.NextAttempt, a.Task = 1, true, noon.Add(time.Minute), "t"
		a.Began, a.Signature, a.Author, a.Running, a.Anyway = noon.Add(-time.Hour), "s-1", "ana", true, true
		before := "sb-1"
		columns := map[string]*string{"sandbox_id": &before, "error": nil}
		a.Before = &reconcile.RowBefore{After: "7", Mark: "m", Columns: columns}
		b.plan(a)
		want := a
		want.Outcome = reconcile.OutcomePending
		got, err := b.OpenActions(b.Context())
		b.must(err)
		b.equal("actions", got, []reconcile.Action{want})
		b.equal("recalled actions", b.recall().Actions, got)
	},
	"one step of a subject is open once": func(b *bench) {
		again := failing("b")
		again.Subject = "task:a"
		b.plan(failing("a"))
		b.plan(again)
		b.equal("open", b.open(), []string{"a"})
	},
	"other subjects and other steps are open besides": func(b *bench) {
		requeue := failing("c")
		requeue.Subject, requeue.Step = "task:a", reconcile.StepRequeue
		b.plan(failing("a"), failing("b"), requeue)
		b.equal("open", b.open(), []string{"a", "b", "c"})
	},
	"a sandbox is terminated once, whatever the subject and rule": func(b *bench) {
		other := orphan("b")
		other.Sandbox, other.Subject, other.Rule = "sb-a", "task:x", "over-age"
		elsewhere := orphan("c")
		elsewhere.Sandbox, elsewhere.Provider = "sb-a", "e2b"
		b.plan(orphan("a"))
		b.plan(other, elsewhere)
		b.equal("open", b.open(), []string{"a", "c"})
	},
	"a closed step may be planned anew": func(b *bench) {
		b.plan(failing("a"))
		b.settled("a", reconcile.OutcomeDone)
		again := failing("b")
		again.Subject = "task:a"
		b.plan(again)
		b.equal("open", b.open(), []string{"b"})
	},
	"an open action is left as it is": func(b *bench) {
		b.plan(orphan("a"))
		b.claimed("a")
		changed := orphan("a")
		changed.Reason = "changed"
		b.plan(changed)
		got := b.recall().Actions
		if len(got) != 1 || got[0].Reason != "no task names it" || got[0].ClaimedBy != "one" {
			b.Errorf("actions = %+v, want the claimed one unchanged", got)
		}
	},
	"a remedy comes with its later steps, in order": func(b *bench) {
		b.plan(ending("t", 2, "y"), ending("t", 1, "x"), failing("t"))
		b.equal("open", b.open(), []string{"t", "t-x", "t-y"})
	},
	"later steps stay out when their first one is open already": func(b *bench) {
		second := failing("u")
		second.Subject = "task:t"
		b.plan(failing("t"))
		b.plan(second, ending("u", 1, "x"))
		b.equal("open", b.open(), []string{"t"})
	},
	"the oldest remedy comes first": func(b *bench) {
		young := orphan("a")
		young.PlannedAt = noon.Add(time.Second)
		b.plan(young, orphan("b"))
		b.equal("open", b.open(), []string{"b", "a"})
	},
	"a planned action is withdrawn with its finding, its later steps with it": func(b *bench) {
		b.plan(failing("t"), ending("t", 1, "x"), orphan("a"))
		b.pass(reconcile.Record{Withdrawn: []string{"t", "no-such"}})
		b.equal("open", b.open(), []string{"a"})
		b.equal("withdrawn", b.counted("actions", "heartbeat-lost", "terminate:withdrawn"), int64(1))
	},
	"a later step withdrawn alone leaves the first": func(b *bench) {
		b.plan(failing("t"), ending("t", 1, "x"))
		b.pass(reconcile.Record{Withdrawn: []string{"t-x"}})
		b.equal("open", b.open(), []string{"t"})
	},
	"a claimed action is not withdrawn, also when its holder died": func(b *bench) {
		b.plan(orphan("a"))
		b.claimed("a")
		b.pass(reconcile.Record{Withdrawn: []string{"a"}})
		b.equal("open", b.open(), []string{"a"})
		b.clock.move(time.Hour)
		b.lease = b.take("one")
		b.pass(reconcile.Record{Withdrawn: []string{"a"}})
		b.equal("open", b.open(), []string{"a"})
	},
	"an action that was begun and put off is not withdrawn by a pass that saw it before": func(b *bench) {
		b.plan(orphan("a"))
		b.settled("a", reconcile.OutcomePending)
		b.pass(reconcile.Record{Withdrawn: []string{"a"}})
		b.equal("open", b.open(), []string{"a"})
	},
	"what an operator asked for is not withdrawn by a pass": func(b *bench) {
		a := orphan("a")
		a.Author = "ana"
		b.plan(a, orphan("b"))
		b.pass(reconcile.Record{Withdrawn: []string{"a", "b"}})
		b.equal("open", b.open(), []string{"a"})
	},
	"an accepted action is not withdrawn: the provider has it": func(b *bench) {
		b.plan(orphan("a"))
		b.settled("a", reconcile.OutcomeAccepted)
		b.pass(reconcile.Record{Withdrawn: []string{"a"}})
		b.equal("open", b.open(), []string{"a"})
	},
	"a place that comes free by a withdrawal is free for the same record": func(b *bench) {
		b.plan(failing("a"))
		again := failing("b")
		again.Subject = "task:a"
		b.pass(reconcile.Record{Withdrawn: []string{"a"}, Actions: []reconcile.Action{again}})
		b.equal("open", b.open(), []string{"b"})
	},
}
