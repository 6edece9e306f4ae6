package storetest

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// claims say who may carry out an action, and when.
var claims = map[string]func(*bench){
	"a claim says by whom, since when, until when, and counts the attempt": func(b *bench) {
		b.plan(orphan("a"))
		a := b.claimed("a")
		want := orphan("a")
		want.Outcome, want.Attempts = reconcile.OutcomePending, 1
		want.ClaimedBy, want.ClaimedAt, want.ClaimEnds = "one", noon, noon.Add(15*time.Second)
		b.equal("claimed actions", a, want)
		b.equal("recalled actions", b.recall().Actions, []reconcile.Action{want})
	},
	"an action that is not on record cannot be claimed": func(b *bench) {
		_, err := b.claim("no-such")
		b.refused(err, reconcile.ErrNotFound, "claim action no-such")
	},
	"a claimed action is refused, with its holder": func(b *bench) {
		b.plan(orphan("a"))
		b.claimed("a")
		_, err := b.claim("a")
		b.refused(err, reconcile.ErrHeld, "claimed by one until 2026-11-21 12:00:15 UTC")
	},
	"one of many claimers gets the action": func(b *bench) {
		b.plan(orphan("a"))
		var got atomic.Int32
		together(20, func(int) {
			_, err := b.claim("a")
			if err == nil {
				got.Add(1)
			} else if !errors.Is(err, reconcile.ErrHeld) {
				b.Error(err)
			}
		})
		if got.Load() != 1 {
			b.Errorf("%d claimers got the action, want 1", got.Load())
		}
	},
	"a claim stands until just before its end": func(b *bench) {
		b.plan(orphan("a"))
		b.claimed("a")
		b.clock.move(15*time.Second - time.Microsecond)
		_, err := b.claim("a")
		b.refused(err, reconcile.ErrHeld, "claimed by one")
		b.clock.move(time.Microsecond)
		if a := b.claimed("a"); a.Attempts != 2 {
			b.Errorf("attempts = %d, want 2", a.Attempts)
		}
	},
	"a claim is free at once when the lease is taken over": func(b *bench) {
		b.plan(orphan("a"))
		b.claimed("a")
		b.must(b.DropLease(b.Context(), b.lease))
		b.lease = b.take("two")
		if a := b.claimed("a"); a.ClaimedBy != "two" || a.Attempts != 2 {
			b.Errorf("claimed by %s, attempt %d, want two and 2", a.ClaimedBy, a.Attempts)
		}
	},
	"a renewed claim stands longer": func(b *bench) {
		b.plan(orphan("a"))
		a := b.claimed("a")
		b.clock.move(14 * time.Second)
		b.must(b.RenewClaim(b.Context(), b.lease, a, 15*time.Second))
		b.clock.move(14 * time.Second)
		_, err := b.claim("a")
		b.refused(err, reconcile.ErrHeld, "claimed by one")
	},
	"a claim that ended cannot be renewed, though nobody took it": func(b *bench) {
		b.plan(orphan("a"))
		a := b.claimed("a")
		b.clock.move(15 * time.Second)
		b.refused(b.RenewClaim(b.Context(), b.lease, a, time.Minute), reconcile.ErrFenced, "is no longer valid")
	},
	"a claim taken over by the same holder is lost to its first goroutine": func(b *bench) {
		b.plan(orphan("a"))
		first := b.claimed("a")
		b.clock.move(15 * time.Second)
		second := b.claimed("a")
		b.refused(b.RenewClaim(b.Context(), b.lease, first, time.Minute), reconcile.ErrFenced, "attempt 1")
		first.Outcome, second.Outcome = reconcile.OutcomeDone, reconcile.OutcomeConfirmed
		b.refused(b.Settle(b.Context(), b.lease, first), reconcile.ErrFenced, "attempt 1")
		b.must(b.Settle(b.Context(), b.lease, second))
	},
	"a claim of a lease before is no use under the next, though the holder is the same": func(b *bench) {
		b.plan(orphan("a"))
		a := b.claimed("a")
		b.lease = b.take("one")
		b.refused(b.RenewClaim(b.Context(), b.lease, a, time.Minute), reconcile.ErrFenced, "is no longer valid")
		a.Outcome = reconcile.OutcomeConfirmed
		b.refused(b.Settle(b.Context(), b.lease, a), reconcile.ErrFenced, "is no longer valid")
		b.equal("open", b.open(), []string{"a"})
	},
	"an action is not claimed before its next attempt": func(b *bench) {
		a := orphan("a")
		a.NextAttempt = noon.Add(time.Minute)
		b.plan(a)
		b.clock.move(time.Minute - time.Microsecond)
		_, err := b.claim("a")
		b.refused(err, reconcile.ErrHeld, "not before 2026-11-21 12:01:00 UTC")
		b.clock.move(time.Microsecond)
		b.claimed("a")
	},
	"a closed action is not claimed": func(b *bench) {
		b.plan(orphan("a"))
		b.settled("a", reconcile.OutcomeConfirmed)
		_, err := b.claim("a")
		b.refused(err, reconcile.ErrHeld, "already confirmed")
	},
	"a later step waits for the first one to stand, and for the provider to take the others": func(b *bench) {
		b.plan(failing("t"), ending("t", 1, "x"), ending("t", 2, "y"))
		_, err := b.claim("t-x")
		b.refused(err, reconcile.ErrHeld, "its earlier step fail is pending")
		b.settled("t", reconcile.OutcomeDone)
		_, err = b.claim("t-y")
		b.refused(err, reconcile.ErrHeld, "its earlier step terminate is pending")
		b.settled("t-x", reconcile.OutcomeAccepted)
		b.claimed("t-y")
	},
	"a later step waits for a first one that is accepted, and goes on when it is confirmed": func(b *bench) {
		next := ending("o", 1, "y")
		next.Subject = "sandbox:daytona/sb-o"
		b.plan(orphan("o"), next)
		b.settled("o", reconcile.OutcomeAccepted)
		_, err := b.claim("o-y")
		b.refused(err, reconcile.ErrHeld, "its earlier step terminate is accepted")
		b.settled("o", reconcile.OutcomeConfirmed)
		b.claimed("o-y")
	},
	"a terminate withdrawn in the middle does not hold the next": func(b *bench) {
		b.plan(failing("t"), ending("t", 1, "x"), ending("t", 2, "y"))
		b.settled("t", reconcile.OutcomeDone)
		b.settled("t-x", reconcile.OutcomeWithdrawn)
		b.claimed("t-y")
	},
}

// settlements say what becomes of a claimed action.
var settlements = map[string]func(*bench){
	"a closed action is over, with its time, its detail and a line in the history": func(b *bench) {
		b.plan(orphan("a"))
		a := b.claimed("a")
		b.clock.move(time.Second)
		a.Outcome, a.Detail, a.ActedAt = reconcile.OutcomeConfirmed, "404", noon.Add(time.Second)
		a.Evidence = append(a.Evidence, reconcile.Evidence{Source: "daytona", At: noon, Fact: "log: killed"})
		b.must(b.Settle(b.Context(), b.lease, a))
		a.ClaimedBy, a.ClaimEnds, a.ClosedAt = "", time.Time{}, noon.Add(time.Second)
		a.FirstActed, a.AskedAt, a.Asks = a.ActedAt, a.ActedAt, 1
		h, err := b.Subject(b.Context(), "daytona/sb-a")
		b.must(err)
		b.equal("actions", h.Actions, []reconcile.Action{a})
		b.equal("timelines", h.Timeline, []reconcile.TimelineEvent{{
			At: noon.Add(time.Second), Subject: a.Subject, Kind: "action", What: "terminate daytona/sb-a: confirmed: 404",
		}})
		b.equal("open", b.open(), []string{})
		b.equal("counted", b.counted("actions", "orphan", "terminate:confirmed"), int64(1))
	},
	"how often and when the outside was asked is counted by its times, not by claims": func(b *bench) {
		b.plan(orphan("a"))
		settle := func(change func(*reconcile.Action)) reconcile.Action {
			b.clock.move(time.Second)
			a := b.claimed("a")
			a.Outcome = reconcile.OutcomeAccepted
			change(&a)
			b.must(b.Settle(b.Context(), b.lease, a))
			return b.recall().Actions[0]
		}
		want := func(a reconcile.Action, asks int, first, last time.Time) {
			b.Helper()
			if a.Asks != asks || !a.FirstActed.Equal(first) || !a.ActedAt.Equal(first) || !a.AskedAt.Equal(last) {
				b.Errorf("asked %d times, acted at %s, first %s, last %s; want %d, %s, %s, %s",
					a.Asks, a.ActedAt, a.FirstActed, a.AskedAt, asks, first, first, last)
			}
		}
		at := func(s int) time.Time { return noon.Add(time.Duration(s) * time.Second) }
		want(settle(func(*reconcile.Action) {}), 0, time.Time{}, time.Time{})
		want(settle(func(a *reconcile.Action) { a.ActedAt = at(2) }), 1, at(2), at(2))
		want(settle(func(*reconcile.Action) {}), 1, at(2), at(2))
		want(settle(func(a *reconcile.Action) { a.AskedAt = at(4) }), 2, at(2), at(4))
		want(settle(func(*reconcile.Action) {}), 2, at(2), at(4))
		want(settle(func(a *reconcile.Action) { a.AskedAt = at(6) }), 3, at(2), at(6))
	},
	"pending and accepted free the claim and stay open until the next attempt": func(b *bench) {
		for _, o := range []reconcile.Outcome{reconcile.OutcomePending, reconcile.OutcomeAccepted} {
			id := string(o)
			b.plan(orphan(id))
			a := b.claimed(id)
			a.Outcome, a.Detail, a.NextAttempt = o, "502", b.clock.read().Add(time.Minute)
			b.must(b.Settle(b.Context(), b.lease, a))
			got := b.recall().Actions
			if len(got) != 1 || got[0].Outcome != o || got[0].ClaimedBy != "" || got[0].Detail != "502" {
				b.Errorf("actions = %+v, want one free and %s", got, o)
			}
			_, err := b.claim(id)
			b.refused(err, reconcile.ErrHeld, "not before")
			b.clock.move(time.Minute)
			b.settled(id, reconcile.OutcomeConfirmed)
		}
	},
	"how it came so and what holds it are kept, each as the newest attempt says": func(b *bench) {
		b.plan(orphan("a"))
		for _, way := range []struct {
			how reconcile.How
			by  reconcile.HeldBy
		}{{reconcile.HowRefused, nil}, {"", reconcile.HeldBy{reconcile.HeldFrozen("tasks"),
			{Kind: reconcile.HeldHold, What: "task:1", Reason: "in it", By: "ana"}}}, {reconcile.HowAdopted, nil}} {
			a := b.claimed("a")
			a.Outcome, a.How, a.WaitsFor = reconcile.OutcomePending, way.how, way.by
			b.must(b.Settle(b.Context(), b.lease, a))
			got := b.recall().Actions[0]
			b.equal("how", got.How, way.how)
			b.equal("held by", got.WaitsFor, way.by)
		}
	},
	"an action is settled once": func(b *bench) {
		b.plan(orphan("a"))
		a := b.claimed("a")
		a.Outcome = reconcile.OutcomeConfirmed
		b.must(b.Settle(b.Context(), b.lease, a))
		b.refused(b.Settle(b.Context(), b.lease, a), reconcile.ErrFenced, "is no longer valid")
	},
	"an action that was not claimed is not settled": func(b *bench) {
		b.plan(orphan("a"))
		a := orphan("a")
		a.Outcome = reconcile.OutcomeConfirmed
		b.refused(b.Settle(b.Context(), b.lease, a), reconcile.ErrFenced, "is no longer valid")
	},
	"a word that is no outcome is refused": func(b *bench) {
		b.plan(orphan("a"))
		a := b.claimed("a")
		a.Outcome = "vanished"
		if err := b.Settle(b.Context(), b.lease, a); err == nil {
			b.Error("outcome vanished was taken")
		}
	},
	"what was done is written down late, when lease and claim ran out and nobody took them": func(b *bench) {
		b.plan(orphan("a"))
		a := b.claimed("a")
		b.clock.move(48 * time.Hour)
		a.Outcome = reconcile.OutcomeConfirmed
		b.must(b.Settle(b.Context(), b.lease, a))
		b.equal("open", b.open(), []string{})
	},
	"a failed step withdraws the later ones, not the earlier": func(b *bench) {
		b.plan(failing("t"), ending("t", 1, "x"), ending("t", 2, "y"))
		b.settled("t", reconcile.OutcomeDone)
		b.settled("t-x", reconcile.OutcomeFailed)
		b.equal("open", b.open(), []string{})
		h, err := b.Subject(b.Context(), "t")
		b.must(err)
		outcomes := map[string]string{}
		for _, a := range h.Actions {
			outcomes[a.ID] = string(a.Outcome) + " " + a.Detail
		}
		b.equal("outcomes", outcomes, map[string]string{
			"t": "done ", "t-x": "failed ", "t-y": "withdrawn the earlier step failed",
		})
	},
	"a withdrawn first step withdraws the later ones": func(b *bench) {
		b.plan(failing("t"), ending("t", 1, "x"))
		b.settled("t", reconcile.OutcomeWithdrawn)
		b.equal("open", b.open(), []string{})
	},
	"a confirmed terminate marks the sandbox gone by us, a fail does not": func(b *bench) {
		s := reconcile.SandboxSeen{
			Ref: ref("x"), Task: "t", State: reconcile.SandboxRunning, StateSince: noon.Add(-time.Hour),
		}
		b.pass(reconcile.Record{
			Sandboxes: []reconcile.SandboxSeen{s},
			Actions:   []reconcile.Action{failing("t"), ending("t", 1, "x")},
		})
		b.settled("t", reconcile.OutcomeDone)
		b.settled("t-x", reconcile.OutcomeAccepted)
		b.equal("sandboxes", b.recall().Sandboxes.Of(s.Ref), s)
		b.clock.move(time.Second)
		b.settled("t-x", reconcile.OutcomeConfirmed)
		s.State, s.GoneByUs = reconcile.SandboxEnded, true
		s.StateSince, s.GoneAt = noon.Add(time.Second), noon.Add(time.Second)
		b.equal("sandboxes", b.recall().Sandboxes.Of(s.Ref), s)
	},
	"a confirmed terminate of what no pass took down is remembered, where we asked for it": func(b *bench) {
		b.plan(failing("t"), ending("t", 1, "x"))
		b.settled("t", reconcile.OutcomeDone)
		b.settled("t-x", reconcile.OutcomeAccepted)
		b.settled("t-x", reconcile.OutcomeConfirmed)
		b.equal("sandbox", b.recall().Sandboxes.Of(ref("x")), reconcile.SandboxSeen{Ref: ref("x"), GoneByUs: true,
			State: reconcile.SandboxEnded, FirstSeen: noon, StateSince: noon, GoneAt: noon})
	},
	"what no pass took down, and was gone when it was looked at, is not": func(b *bench) {
		b.plan(failing("t"), ending("t", 1, "x"))
		b.settled("t", reconcile.OutcomeDone)
		a := b.claimed("t-x")
		a.Outcome = reconcile.OutcomeConfirmed
		b.must(b.Settle(b.Context(), b.lease, a))
		b.equal("known", b.recall().Sandboxes.Has(ref("x")), false)
	},
}
