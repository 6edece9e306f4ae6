package storetest

import (
	"sync"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// telling claims and settles an action of which the platform is to be told.
func (b *bench) telling(id string, o reconcile.Outcome) {
	b.Helper()
	a := b.claimed(id)
	a.Outcome, a.ActedAt, a.Announce = o, b.clock.read(), true
	b.must(b.Settle(b.Context(), b.lease, a))
}

func (b *bench) taken(most int) []reconcile.Notice {
	b.Helper()
	found, err := b.TakeNotices(b.Context(), most)
	b.must(err)
	return found
}

func noticeIDs(ns []reconcile.Notice) []string {
	var ids []string
	for _, n := range ns {
		ids = append(ids, n.Action)
	}
	return ids
}

// notices say what the platform is told, and how often that is tried.
var notices = map[string]func(*bench){
	"a row that was written and a sandbox of a task that is gone are told": func(b *bench) {
		b.plan(failing("t"), ending("t", 1, "x"), orphan("o"))
		b.telling("t", reconcile.OutcomeDone)
		b.telling("t-x", reconcile.OutcomeAccepted)
		b.telling("o", reconcile.OutcomeConfirmed)
		want := reconcile.Notice{
			Action: "t", Task: "t", Rule: "heartbeat-lost", Step: reconcile.StepFail, Outcome: reconcile.OutcomeDone,
			Reason: "no heartbeat", At: noon,
		}
		b.equal("notices", b.taken(9), []reconcile.Notice{want})
		b.clock.move(time.Second)
		b.telling("t-x", reconcile.OutcomeConfirmed)
		gone := b.taken(9)
		b.equal("notices", noticeIDs(gone), []string{"t-x"})
		b.equal("sandbox", gone[0].Provider+"/"+gone[0].Sandbox, "daytona/x")
		b.equal("open", b.measures().Notices, 2)
	},
	"nothing is told that was not asked to be, or that did not happen": func(b *bench) {
		b.plan(failing("a"), failing("b"), failing("c"))
		b.settled("a", reconcile.OutcomeDone)
		b.telling("b", reconcile.OutcomeWithdrawn)
		b.telling("c", reconcile.OutcomePending)
		b.equal("notices", len(b.taken(9)), 0)
		b.equal("open", b.measures().Notices, 0)
	},
	"a settlement that is refused tells nothing": func(b *bench) {
		b.plan(failing("t"))
		a := b.claimed("t")
		a.Outcome, a.Announce, a.Attempts = reconcile.OutcomeDone, true, 7
		b.refused(b.Settle(b.Context(), b.lease, a), reconcile.ErrFenced, "t")
		b.equal("notices", len(b.taken(9)), 0)
	},
	"the pauses between attempts double from 5s to 10m, whatever became of the attempt": func(b *bench) {
		b.plan(failing("t"))
		b.telling("t", reconcile.OutcomeDone)
		for i, pause := range []time.Duration{5, 10, 20, 40, 80, 160, 320, 600, 600} {
			got := b.taken(9)
			if len(got) != 1 || got[0].Attempts != i {
				b.Fatalf("attempt %d: took %+v, want the notice, tried %d times", i, got, i)
			}
			if i%2 == 0 {
				b.must(b.NoticeFailed(b.Context(), "t", "502"))
			}
			b.clock.move(pause*time.Second - time.Microsecond)
			b.equal("taken too early", len(b.taken(9)), 0)
			b.clock.move(time.Microsecond)
		}
	},
	"the oldest are taken first, no more than asked for": func(b *bench) {
		for _, id := range []string{"c", "a", "b"} {
			b.plan(failing(id))
			b.telling(id, reconcile.OutcomeDone)
			b.clock.move(time.Millisecond)
		}
		b.equal("none", len(b.taken(0)), 0)
		b.equal("first", noticeIDs(b.taken(2)), []string{"c", "a"})
		b.equal("then", noticeIDs(b.taken(2)), []string{"b"})
	},
	"a notice that was told is over, also when it is told again": func(b *bench) {
		b.plan(failing("t"))
		b.telling("t", reconcile.OutcomeDone)
		b.taken(1)
		b.must(b.NoticeTold(b.Context(), "t"))
		b.must(b.NoticeTold(b.Context(), "t"))
		b.must(b.NoticeFailed(b.Context(), "t", "late"))
		b.must(b.NoticeTold(b.Context(), "no-such"))
		b.clock.move(time.Hour)
		b.equal("notices", len(b.taken(9)), 0)
		b.equal("open", b.measures().Notices, 0)
		b.equal("told", b.counted("notices", "heartbeat-lost", "told"), int64(1))
	},
	"a notice is given up after three days, and not sooner": func(b *bench) {
		b.plan(failing("t"))
		b.telling("t", reconcile.OutcomeDone)
		b.clock.move(72*time.Hour - time.Microsecond)
		b.must(b.NoticeFailed(b.Context(), "t", "502"))
		b.equal("taken before", len(b.taken(9)), 1)
		b.clock.move(time.Microsecond)
		b.must(b.NoticeFailed(b.Context(), "t", "502"))
		b.clock.move(time.Hour)
		b.equal("taken", len(b.taken(9)), 0)
		b.equal("open", b.measures().Notices, 0)
		b.equal("given up", b.counted("notices", "heartbeat-lost", "given-up"), int64(1))
	},
	"many who take notices at once take each once": func(b *bench) {
		var ids []string
		for _, id := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} {
			b.plan(failing(id))
			b.telling(id, reconcile.OutcomeDone)
		}
		var mu sync.Mutex
		together(8, func(int) {
			got, err := b.TakeNotices(b.Context(), 2)
			if err != nil {
				b.Error(err)
			}
			mu.Lock()
			defer mu.Unlock()
			ids = append(ids, noticeIDs(got)...)
		})
		ids = append(ids, noticeIDs(b.taken(9))...)
		seen := map[string]bool{}
		for _, id := range ids {
			seen[id] = true
		}
		if len(ids) != 8 || len(seen) != 8 {
			b.Errorf("took %v, want each of eight once", ids)
		}
	},
	"what was told is kept until its retention ends, what was not stays": func(b *bench) {
		b.plan(failing("a"), failing("b"))
		b.telling("a", reconcile.OutcomeDone)
		b.telling("b", reconcile.OutcomeDone)
		b.must(b.NoticeTold(b.Context(), "a"))
		b.clock.move(2 * time.Hour)
		before := b.purge(noon, 9)
		b.purge(noon.Add(time.Second), 9)
		b.equal("deleted before", before, int64(0))
		b.equal("notices", noticeIDs(b.taken(9)), []string{"b"})
	},
}
