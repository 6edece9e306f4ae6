package storetest

import (
	"fmt"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// became is an action as the history of its subject has it, with its lines, as if its id were another one.
func (b *bench) became(id, as string) []string {
	b.Helper()
	h, err := b.Subject(b.Context(), "sandbox:daytona/sb-"+id)
	b.must(err)
	var said []string
	for _, a := range h.Actions {
		said = append(said, fmt.Sprintf("%+v", a))
	}
	for _, e := range h.Timeline {
		said = append(said, fmt.Sprintf("%s %s %s", e.At, e.Kind, e.What))
	}
	for _, s := range h.Sandboxes {
		said = append(said, fmt.Sprintf("%+v", s))
	}
	for _, v := range h.Verdicts {
		v.Number = 0
		said = append(said, fmt.Sprintf("%+v", v))
	}
	for i := range said {
		said[i] = strings.NewReplacer("sb-"+id, "sb-"+as, "ID:"+id+" ", "ID:"+as+" ", "Remedy:"+id+" ", "Remedy:"+as+" ").
			Replace(said[i])
	}
	return said
}

// leaked is a verdict on an orphan.
func leaked(id string) reconcile.Verdict {
	return reconcile.Verdict{Rule: "orphan", Subject: "sandbox:daytona/sb-" + id, Provider: "daytona", Sandbox: "sb-" + id,
		Reason: "leaked", At: noon}
}

// confirms say which terminations are confirmed together.
var confirms = map[string]func(*bench){
	"what is confirmed with others is as if it were confirmed by itself": func(b *bench) {
		b.pass(reconcile.Record{Actions: []reconcile.Action{orphan("one"), orphan("two"), orphan("x")},
			Verdicts: []reconcile.Verdict{leaked("one"), leaked("two"), leaked("x")}})
		for _, id := range []string{"one", "two", "x"} {
			b.settled(id, reconcile.OutcomeAccepted)
		}
		b.clock.move(3 * time.Second)
		alone := b.claimed("x")
		alone.Outcome = reconcile.OutcomeConfirmed
		b.must(b.Settle(b.Context(), b.lease, alone))
		ended := b.counted("actions", "orphan", "terminate:confirmed")
		within := b.goneBy()
		got, err := b.Confirm(b.Context(), b.lease, []string{"two", "one", "no-such"})
		b.must(err)
		if len(got) != 2 || got[0].ID != "one" || got[1].ID != "two" || got[0].Outcome != reconcile.OutcomeConfirmed {
			b.Errorf("confirmed %+v, want one and two", got)
		}
		b.equal("open", b.open(), []string{})
		for _, id := range []string{"one", "two"} {
			b.equal("the history of "+id, b.became(id, "x"), b.became("x", "x"))
		}
		b.equal("confirmed ends", b.counted("actions", "orphan", "terminate:confirmed"), 3*ended)
		for bound, n := range within {
			b.equal("gone within "+bound, b.goneBy()[bound], 3*n)
		}
	},
	"what was not accepted is not confirmed with others": func(b *bench) {
		later := orphan("later")
		later.NextAttempt = noon.Add(time.Hour)
		b.plan(orphan("pending"), orphan("withdrawn"), failing("t"), ending("t", 1, "y"), orphan("accepted"), later)
		b.settled("withdrawn", reconcile.OutcomeWithdrawn)
		b.settled("accepted", reconcile.OutcomeAccepted)
		got, err := b.Confirm(b.Context(), b.lease, []string{"pending", "withdrawn", "t", "t-y", "accepted", "later"})
		b.must(err)
		b.equal("confirmed", column(got), []string{"accepted"})
	},
	"what somebody is at is not confirmed with others, until he is not": func(b *bench) {
		b.plan(orphan("a"))
		b.settled("a", reconcile.OutcomeAccepted)
		_, err := b.as(bert, "a")
		b.must(err)
		got, err := b.Confirm(b.Context(), ann, []string{"a"})
		b.must(err)
		b.equal("confirmed", column(got), []string{})
		b.clock.move(15 * time.Second)
		got, err = b.Confirm(b.Context(), ann, []string{"a"})
		b.must(err)
		b.equal("confirmed", column(got), []string{"a"})
	},
	"who has lost the lease confirms nothing": func(b *bench) {
		b.plan(orphan("a"))
		b.settled("a", reconcile.OutcomeAccepted)
		lost := b.lease
		b.must(b.DropLease(b.Context(), b.lease))
		b.lease = b.take("two")
		_, err := b.Confirm(b.Context(), lost, []string{"a"})
		b.refused(err, reconcile.ErrFenced, "confirm 1 actions")
		b.equal("open", b.open(), []string{"a"})
	},
}
