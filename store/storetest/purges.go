package storetest

import (
	"context"
	"fmt"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// aged is a bench with something of each kind that ended at noon, a month ago.
func (b *bench) aged() {
	b.Helper()
	b.passOf(reconcile.Full, true, reconcile.Record{
		Tasks: []reconcile.TaskSeen{{ID: "over"}, {ID: "named"}, {ID: "live", Live: true}},
		Sandboxes: []reconcile.SandboxSeen{
			{Ref: ref("gone"), GoneAt: noon}, {Ref: ref("there"), Task: "named"},
			{Ref: ref("of-live"), Task: "live", GoneAt: noon},
		},
		Findings: []reconcile.Finding{
			{Rule: "orphan", Subject: "sandbox:daytona/closed"}, {Rule: "orphan", Subject: "sandbox:daytona/open"},
		},
		Actions: []reconcile.Action{orphan("closed"), orphan("open"), failing("t"), ending("t", 1, "x")},
		Events:  []reconcile.TimelineEvent{{At: noon, Subject: "task:over", Kind: "seen", What: "seen"}},
	})
	b.pass(reconcile.Record{Resolved: []reconcile.FindingKey{{Rule: "orphan", Subject: "sandbox:daytona/closed"}}})
	probe := reconcile.ProbeResult{Ref: ref("gone"), Outcome: reconcile.Hung, At: noon}
	b.must(b.SaveProbes(b.Context(), b.lease, []reconcile.ProbeResult{probe}))
	b.settled("closed", reconcile.OutcomeConfirmed)
	b.settled("t", reconcile.OutcomeDone)
	b.clock.move(30 * 24 * time.Hour)
	b.lease = b.take("one")
}

func (b *bench) purge(before time.Time, batch int) int64 {
	b.Helper()
	n, err := b.Purge(b.Context(), before, batch)
	b.must(err)
	return n
}

// purges say what retention deletes, and what it never does.
var purges = map[string]func(*bench){
	"what ended before is deleted, what ended at that instant is not": func(b *bench) {
		b.aged()
		before := b.recall()
		if n := b.purge(noon, 100); n != 0 {
			b.Errorf("%d rows were deleted, want none: nothing ended before noon", n)
		}
		b.purge(noon.Add(time.Microsecond), 100)
		for _, id := range []string{"over", "gone", "closed"} {
			_, err := b.Subject(b.Context(), id)
			b.refused(err, reconcile.ErrNotFound, id)
		}
		b.equal("memories", b.recall(), before)
		if n := b.purge(noon.Add(time.Microsecond), 100); n != 0 {
			b.Errorf("a second purge deleted %d rows, want none", n)
		}
	},
	"a finished step stays while a later one is open": func(b *bench) {
		b.aged()
		b.purge(b.clock.read(), 100)
		b.claimed("t-x")
	},
	"what the budgets still count stays": func(b *bench) {
		b.orphans(1)
		b.settled("o-0", reconcile.OutcomeConfirmed)
		b.clock.move(59 * time.Minute)
		b.purge(b.clock.read(), 100)
		b.equal("spent", b.recall().Spent.Hour, 1)
	},
	"the passes that the next one measures itself against stay": func(b *bench) {
		b.passOf(reconcile.Full, true, reconcile.Record{})
		for range 9 {
			b.clock.move(time.Minute)
			b.pass(reconcile.Record{})
		}
		b.clock.move(time.Hour)
		before := b.recall()
		b.purge(b.clock.read(), 100)
		b.equal("memories", b.recall(), before)
		left, err := b.LastPasses(b.Context(), 100)
		b.must(err)
		if len(left) != 7 {
			b.Errorf("%d passes are left, want the full one and the last six", len(left))
		}
	},
	"controls are kept while they are in force": func(b *bench) {
		b.must(b.Pause(b.Context(), reconcile.Pause{Scope: "all", Author: "ana", Reason: "drill"}))
		h := reconcile.Hold{Target: "task:t", Author: "ana", Reason: "drill", Until: noon.Add(time.Hour)}
		_, err := b.Hold(b.Context(), h)
		b.must(err)
		b.clock.move(30 * time.Minute)
		before := b.controls()
		b.purge(b.clock.read(), 100)
		b.equal("controls", b.controls(), before)
	},
	"more rows than a batch are all deleted": func(b *bench) {
		var events []reconcile.TimelineEvent
		for i := range 25 {
			subject := fmt.Sprint("task:", i)
			events = append(events, reconcile.TimelineEvent{At: noon, Subject: subject, Kind: "seen", What: "seen"})
		}
		b.pass(reconcile.Record{Events: events})
		if n := b.purge(noon.Add(time.Second), 10); n != 25 {
			b.Errorf("%d rows were deleted, want 25", n)
		}
	},
	"a purge ends with its context": func(b *bench) {
		b.aged()
		ctx, cancel := context.WithCancel(b.Context())
		cancel()
		if _, err := b.Purge(ctx, b.clock.read(), 1); err == nil {
			b.Error("a canceled purge went on")
		}
	},
}
