package storetest

import (
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// ends counts open terminates at daytona.
func ends(rule string, o reconcile.Outcome, n int) reconcile.ActionCount {
	return reconcile.ActionCount{
		Rule: rule, Provider: "daytona", Step: reconcile.StepTerminate, Outcome: o, Count: n,
	}
}

// measurements say what the metrics are made of.
var measurements = map[string]func(*bench){
	"an empty ledger measures nothing, and says when": func(b *bench) {
		m := b.measures()
		m.Bytes, m.Stamped = 0, time.Time{} // what a ledger knows of its own tables
		b.equal("measures", m, reconcile.Measures{Now: noon, Controls: b.controls()})
	},
	"the newest complete pass of each kind is measured, a full one as a quick one too": func(b *bench) {
		full := b.passOf(reconcile.Full, true, reconcile.Record{Kept: 3})
		passes := b.measures().Passes
		b.equal("passes", []int64{passes[reconcile.Quick].ID, passes[reconcile.Full].ID}, []int64{full, full})
		b.clock.move(time.Minute)
		quick := b.pass(reconcile.Record{})
		b.passOf(reconcile.Full, false, reconcile.Record{Error: "daytona: 502"})
		b.begin()
		passes = b.measures().Passes
		b.equal("passes", []int64{passes[reconcile.Quick].ID, passes[reconcile.Full].ID}, []int64{quick, full})
		b.equal("full pass", passes[reconcile.Full], reconcile.PassSeen{
			ID: full, Kind: reconcile.Full, Holder: "one", BeganAt: noon, EndedAt: noon, Complete: true, Kept: 3,
		})
	},
	"a kind of pass that was never complete is absent": func(b *bench) {
		b.passOf(reconcile.Full, false, reconcile.Record{})
		b.equal("passes", b.measures().Passes, map[reconcile.PassKind]reconcile.PassSeen{})
		quick := b.pass(reconcile.Record{})
		if passes := b.measures().Passes; len(passes) != 1 || passes[reconcile.Quick].ID != quick {
			b.Errorf("passes = %v, want the quick one alone", passes)
		}
	},
	"tasks are counted by the newest pass that ended, sandboxes by the newest full one": func(b *bench) {
		b.passOf(reconcile.Full, true, reconcile.Record{Counts: map[string]int{
			"tasks:running": 1, "tasks:pending": 9, "sandboxes:daytona:running": 7, "owned:daytona": 7, "foreign:daytona": 2,
		}})
		b.pass(reconcile.Record{Counts: map[string]int{"tasks:running": 2, "sandboxes:daytona:running": 99}})
		b.begin()
		want := map[string]int{
			"tasks:running": 2, "sandboxes:daytona:running": 7, "owned:daytona": 7, "foreign:daytona": 2,
		}
		b.equal("counts", b.measures().Counts, want)
		b.equal("counts on the page", b.overview(1).Counts, want)
	},
	"what the newest full pass did not measure is absent, though it is not complete": func(b *bench) {
		b.passOf(reconcile.Full, true, reconcile.Record{Counts: map[string]int{
			"tasks:running": 1, "sandboxes:daytona:running": 7, "sandboxes:e2b:running": 3,
		}})
		b.passOf(reconcile.Full, false, reconcile.Record{Counts: map[string]int{"sandboxes:e2b:running": 4}})
		b.equal("counts", b.measures().Counts, map[string]int{"sandboxes:e2b:running": 4})
	},
	"open findings are counted by rule and provider, with the oldest": func(b *bench) {
		b.pass(reconcile.Record{Findings: []reconcile.Finding{
			found("looping", "x"), at("daytona", "orphan", "a"), at("e2b", "orphan", "b"),
		}})
		b.clock.move(time.Minute)
		due := at("daytona", "orphan", "c")
		due.Due = true
		b.pass(reconcile.Record{
			Findings: []reconcile.Finding{due, at("daytona", "orphan", "a")},
			Resolved: []reconcile.FindingKey{{Rule: "looping", Subject: "task:x"}},
		})
		b.equal("findings", b.measures().Findings, []reconcile.FindingCount{
			{Rule: "orphan", Provider: "daytona", Open: 2, Due: 1, Oldest: noon},
			{Rule: "orphan", Provider: "e2b", Open: 1, Oldest: noon},
		})
	},
	"what holds due findings is counted once for each kind, never by its words": func(b *bench) {
		early := found("looping", "early", "observe")
		early.Due = false
		b.pass(reconcile.Record{Findings: []reconcile.Finding{
			early, found("looping", "free"),
			found("looping", "x", "pause: all (drill) by ana", "pause: rule:looping (drill) by bob", "rollout: 10%"),
			found("looping", "y", "pause: all (other) by eve", "listing-untrusted daytona", "listing-untrusted e2b"),
			found("orphan", "z", "observe", "unmatched pair: task 7 shows life and has no sandbox, this may be it"),
		}})
		b.equal("held", b.measures().Held, []reconcile.HeldCount{
			{Rule: "looping", By: "listing:daytona", Count: 1}, {Rule: "looping", By: "listing:e2b", Count: 1},
			{Rule: "looping", By: "pause", Count: 2}, {Rule: "looping", By: "rollout", Count: 1},
			{Rule: "orphan", By: "observe", Count: 1}, {Rule: "orphan", By: "unmatched-pair", Count: 1},
		})
	},
	"open actions are counted by how far they are": func(b *bench) {
		b.plan(orphan("a"), orphan("b"), orphan("c"), orphan("d"), failing("t"), ending("t", 1, "x"))
		b.settled("b", reconcile.OutcomeAccepted)
		b.settled("c", reconcile.OutcomeConfirmed)
		b.settled("d", reconcile.OutcomePending)
		b.settled("t", reconcile.OutcomeDone)
		b.equal("actions", b.measures().Actions, []reconcile.ActionCount{
			ends("heartbeat-lost", reconcile.OutcomePending, 1),
			ends("orphan", reconcile.OutcomeAccepted, 1),
			ends("orphan", reconcile.OutcomePending, 2),
		})
	},
	"a terminate is overdue two minutes after the provider was first asked": func(b *bench) {
		b.plan(orphan("asked"), orphan("refused"), orphan("done"), orphan("never"), failing("t"))
		for _, id := range []string{"asked", "refused", "done"} {
			b.settled(id, reconcile.OutcomeAccepted)
		}
		never := b.claimed("never")
		never.Outcome = reconcile.OutcomePending
		b.must(b.Settle(b.Context(), b.lease, never))
		b.settled("t", reconcile.OutcomePending)
		b.settled("done", reconcile.OutcomeConfirmed)
		b.clock.move(time.Minute)
		b.settled("refused", reconcile.OutcomePending) // asked again: no reason to begin to count anew
		b.clock.move(time.Minute - time.Microsecond)
		b.equal("overdue before", b.measures().Overdue, 0)
		b.clock.move(time.Microsecond)
		b.equal("overdue", b.measures().Overdue, 2)
	},
	"the totals are those that the ledger keeps": func(b *bench) {
		b.gone("a", 3*time.Second)
		b.pass(reconcile.Record{Findings: []reconcile.Finding{found("looping", "x")}})
		want, err := b.Counters(b.Context())
		b.must(err)
		if len(want) < 5 {
			b.Fatalf("%d totals, want several", len(want))
		}
		b.equal("totals", b.measures().Counters, want)
	},
}
