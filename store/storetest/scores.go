package storetest

import (
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// ends makes a terminate of a rule, asked for and settled after these times. What it ends
// began so long before it was asked for; 0 for not known.
func (b *bench) ends(id, rule string, began, asked, gone time.Duration, o reconcile.Outcome) {
	b.Helper()
	a := orphan(id)
	a.Rule = rule
	if began > 0 {
		a.Began = b.clock.read().Add(asked - began)
	}
	b.plan(a)
	b.clock.move(asked)
	b.settled(id, reconcile.OutcomeAccepted)
	b.clock.move(gone)
	b.settled(id, o)
}

// scores say what the targets are held against.
var scores = map[string]func(*bench){
	"an empty ledger has measured nothing": func(b *bench) {
		b.equal("scores", b.overview(1).Scores, reconcile.Scores{Window: 24 * time.Hour, Active: -1, Live: -1})
	},
	"terminates that were begun are counted when they are settled or overdue": func(b *bench) {
		b.plan(orphan("never"), orphan("planned"), failing("t"), orphan("open"))
		b.settled("t", reconcile.OutcomeDone)
		b.settled("open", reconcile.OutcomeAccepted)
		never := b.claimed("never") // it was gone when we came to it
		never.Outcome = reconcile.OutcomeConfirmed
		b.must(b.Settle(b.Context(), b.lease, never))
		b.ends("fast", "orphan", 0, 0, 30*time.Second, reconcile.OutcomeConfirmed)
		b.ends("slow", "orphan", 0, 0, 30*time.Second+time.Microsecond, reconcile.OutcomeConfirmed)
		b.ends("lost", "orphan", 0, 0, 0, reconcile.OutcomeFailed)
		b.ends("spared", "orphan", 0, 0, 0, reconcile.OutcomeWithdrawn)
		s := b.overview(1).Scores
		b.equal("asked, confirmed, gone, fast", []int{s.Asked, s.Confirmed, s.Gone, s.GoneFast}, []int{3, 2, 2, 1})
		b.clock.move(time.Minute)
		s = b.overview(1).Scores
		b.equal("asked with the overdue one", []int{s.Asked, s.Confirmed}, []int{4, 2})
	},
	"a stop and a deadline are timed from their word to the end of the sandbox": func(b *bench) {
		b.ends("a", "stop-ignored", 5*time.Second, 5*time.Second, 5*time.Second, reconcile.OutcomeConfirmed)
		b.ends("b", "stop-ignored", 5001*time.Millisecond, 5001*time.Millisecond, 15*time.Second, reconcile.OutcomeConfirmed)
		b.ends("c", "stop-ignored", 0, 0, time.Second, reconcile.OutcomeConfirmed)
		b.ends("d", "deadline-exceeded", time.Minute, time.Second, time.Second, reconcile.OutcomeConfirmed)
		b.ends("e", "over-age", time.Hour, 0, time.Second, reconcile.OutcomeConfirmed)
		s := b.overview(1).Scores
		b.equal("stops", []int{s.Stops, s.StopsFast}, []int{2, 1})
		b.equal("stop to gone", s.StopGone, reconcile.Quantiles{
			Count: 2, P50: 10 * time.Second, P95: 20001 * time.Millisecond,
		})
		b.equal("deadline to gone", s.DeadlineGone, reconcile.Quantiles{
			Count: 1, P50: 61 * time.Second, P95: 61 * time.Second,
		})
		for name, want := range map[string]int64{
			"stop_gone_seconds_count": 2, "stop_gone_seconds_milli_sum": 30001, "stop_asked_seconds_count": 2,
			"stop_asked_seconds_milli_sum": 10001, "gone_seconds_count": 3,
		} {
			b.equal(name, b.counted(name, "stop-ignored", ""), want)
		}
		b.equal("asked within", b.counted("stop_asked_seconds_bucket", "stop-ignored", "5"), int64(1))
		b.equal("deadline to gone", b.counted("deadline_gone_seconds_milli_sum", "deadline-exceeded", ""), int64(61000))
		b.equal("over-age", b.counted("stop_asked_seconds_count", "over-age", ""), int64(0))
	},
	"verdicts on stuck workers are soon until a minute after their threshold": func(b *bench) {
		var r reconcile.Record
		for i, late := range []time.Duration{time.Minute, time.Minute + time.Microsecond, 0} {
			for _, rule := range []string{"inactive", "orphan"} {
				v := b.dead(rule, string(rune('a'+i)))
				v.Late = late
				if i < 2 {
					v.Began = noon.Add(-time.Hour)
				}
				r.Verdicts = append(r.Verdicts, v)
			}
		}
		b.pass(r)
		s := b.overview(1).Scores
		b.equal("stuck, soon, inactive", []int{s.Stuck, s.StuckFast, s.Inactive}, []int{2, 1, 3})
	},
	"what the totals have no time of is summed by the hour": func(b *bench) {
		b.probing()
		b.saved(probed(1, reconcile.Answered), probed(2, reconcile.Hung), probed(3, reconcile.Infrastructure))
		b.pass(reconcile.Record{Tasks: []reconcile.TaskSeen{{ID: "t", State: reconcile.TaskRunning, Live: true}}})
		b.pass(reconcile.Record{
			Tasks: []reconcile.TaskSeen{{ID: "t", State: reconcile.TaskCompleted}},
			Tallies: []reconcile.Counter{
				{Name: "recreations", Provider: "daytona", Value: 4}, {Name: "recreations_back", Value: 3},
				{Name: "recreations", Provider: "e2b", Value: 1}, {Name: "resumes", Value: 2}, {Name: "resumes_worked", Value: 1},
				{Name: "work_after_stop", Value: 7}, {Name: "resumes", Value: 2},
			},
		})
		want := reconcile.Scores{
			Window: 24 * time.Hour, Ended: map[string]int{"completed": 1}, Recreated: 5, Back: 3, Resumed: 4, Worked: 1,
			WorkAfterStop: 7, Probes: 2, ProbesFailed: 1, Active: -1, Live: -1,
		}
		b.equal("scores", b.overview(1).Scores, want)
		b.equal("recreations", b.counted("recreations", "", ""), int64(5))
		b.clock.move(25*time.Hour - time.Microsecond)
		b.equal("scores while the hour overlaps the window", b.overview(1).Scores, want)
		b.clock.move(time.Microsecond)
		b.equal("scores after", b.overview(1).Scores, reconcile.Scores{
			Window: 24 * time.Hour, Before: 2, BeforeFailed: 1, Active: -1, Live: -1,
		})
	},
	"what lives is counted by the newest full pass, and was not measured where it says nothing": func(b *bench) {
		live := func() []int {
			s := b.overview(1).Scores
			return []int{s.Active, s.Live}
		}
		b.passOf(reconcile.Full, true, reconcile.Record{Counts: map[string]int{
			"tasks:pending": 1, "tasks:running": 2, "tasks:unknown": 9, "sandboxes:daytona:running": 3,
			"sandboxes:e2b:running": 4, "sandboxes:e2b:stopped": 9, "owned:daytona": 12,
		}})
		b.equal("active and live", live(), []int{7, 3})
		b.pass(reconcile.Record{Counts: map[string]int{"tasks:running": 5}})
		b.equal("after a quick pass", live(), []int{7, 3})
		b.passOf(reconcile.Full, false, reconcile.Record{Counts: map[string]int{"tasks:pending": 0, "owned:daytona": 0}})
		b.equal("with nothing there", live(), []int{0, 0})
		b.passOf(reconcile.Full, false, reconcile.Record{Counts: map[string]int{"tasks:pending": 0}})
		b.equal("without a listing", live(), []int{-1, 0})
	},
	"what happened before the window is no part of it": func(b *bench) {
		b.ends("a", "orphan", 0, 0, 0, reconcile.OutcomeConfirmed)
		b.judged("inactive", "t")
		b.clock.move(24*time.Hour - time.Microsecond)
		s := b.overview(1).Scores
		b.equal("within", []int{s.Asked, s.Inactive}, []int{1, 1})
		b.clock.move(time.Microsecond)
		s = b.overview(1).Scores
		b.equal("after", []int{s.Asked, s.Inactive}, []int{0, 0})
	},
}
