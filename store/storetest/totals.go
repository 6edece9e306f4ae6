package storetest

import (
	"strconv"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// gone terminates the sandbox of an orphan and confirms it after a time.
func (b *bench) gone(id string, after time.Duration) {
	b.Helper()
	b.plan(orphan(id))
	b.settled(id, reconcile.OutcomeAccepted)
	b.clock.move(after)
	a := b.claimed(id)
	a.Outcome = reconcile.OutcomeConfirmed
	b.must(b.Settle(b.Context(), b.lease, a))
}

// goneBy is how many sandboxes were gone within each bound, in seconds.
func (b *bench) goneBy() map[string]int64 {
	b.Helper()
	counters, err := b.Counters(b.Context())
	b.must(err)
	within := map[string]int64{}
	for _, c := range counters {
		if c.Name == "gone_seconds_bucket" && c.Rule == "orphan" && c.Provider == "daytona" {
			within[c.What] = c.Value
		}
	}
	return within
}

// totals say what is counted for good.
var totals = map[string]func(*bench){
	"tasks that leave the live set are counted once, by how they ended": func(b *bench) {
		states := []reconcile.TaskState{
			reconcile.TaskCompleted, reconcile.TaskFailed, reconcile.TaskStopped, reconcile.TaskRunning, reconcile.TaskUnknown,
			reconcile.TaskParked, reconcile.TaskWaiting,
		}
		var live, over []reconcile.TaskSeen
		for i, s := range states {
			id := strconv.Itoa(i)
			live = append(live, reconcile.TaskSeen{ID: id, State: reconcile.TaskRunning, Live: true})
			over = append(over, reconcile.TaskSeen{ID: id, State: s})
		}
		b.pass(reconcile.Record{Tasks: live})
		b.pass(reconcile.Record{Tasks: live})
		b.pass(reconcile.Record{Tasks: over})
		b.pass(reconcile.Record{Tasks: over})
		counts := map[string]int64{}
		for _, what := range []string{"completed", "failed", "stopped", "deleted", "", "parked", "waiting"} {
			counts[what] = b.counted("tasks_ended", "", what)
		}
		b.equal("tasks ended", counts, map[string]int64{"completed": 1, "failed": 1, "stopped": 1, "deleted": 1, "": 0,
			"parked": 0, "waiting": 0})
	},
	"a task that was never seen alive ended before our time": func(b *bench) {
		b.pass(reconcile.Record{Tasks: []reconcile.TaskSeen{{ID: "t", State: reconcile.TaskCompleted}}})
		b.equal("tasks ended", b.counted("tasks_ended", "", "completed"), int64(0))
	},
	"a task that lives again ends again": func(b *bench) {
		for _, live := range []bool{true, false, true, false} {
			state := reconcile.TaskFailed
			if live {
				state = reconcile.TaskPending
			}
			b.pass(reconcile.Record{Tasks: []reconcile.TaskSeen{{ID: "t", State: state, Live: live}}})
		}
		b.equal("tasks ended", b.counted("tasks_ended", "", "failed"), int64(2))
	},
	"a record that is refused counts nothing": func(b *bench) {
		live := reconcile.TaskSeen{ID: "t", State: reconcile.TaskRunning, Live: true}
		b.pass(reconcile.Record{Tasks: []reconcile.TaskSeen{live}})
		over := live
		over.State, over.Live = reconcile.TaskCompleted, false
		r := reconcile.Record{Pass: 99, Tasks: []reconcile.TaskSeen{over}}
		if err := b.Record(b.Context(), b.lease, r); err == nil {
			b.Error("a record of no pass was taken")
		}
		b.equal("tasks ended", b.counted("tasks_ended", "", "completed"), int64(0))
	},
	"the time from a terminate to its confirmation is counted, the bound included": func(b *bench) {
		b.gone("a", 2*time.Second)
		b.gone("b", 2*time.Second+time.Millisecond)
		b.gone("c", 301*time.Second)
		b.gone("d", 0)
		b.equal("gone within", b.goneBy(), map[string]int64{
			"1": 1, "2": 2, "5": 3, "10": 3, "30": 3, "60": 3, "120": 3, "300": 3, "+Inf": 4,
		})
		b.equal("count", b.counted("gone_seconds_count", "orphan", ""), int64(4))
		b.equal("sum", b.counted("gone_seconds_milli_sum", "orphan", ""), int64(305001))
	},
	"a sandbox that was gone when it was looked at first took no time of ours": func(b *bench) {
		b.plan(orphan("a"), failing("t"))
		a := b.claimed("a")
		a.Outcome, a.Detail = reconcile.OutcomeConfirmed, "gone when looked at again"
		b.must(b.Settle(b.Context(), b.lease, a))
		b.settled("t", reconcile.OutcomeDone)
		b.equal("gone within", b.goneBy(), map[string]int64{})
	},
	"a clock that ran back makes no negative time": func(b *bench) {
		b.gone("a", -time.Second)
		b.equal("sum", b.counted("gone_seconds_milli_sum", "orphan", ""), int64(0))
		b.equal("within a second", b.goneBy()["1"], int64(1))
	},
}
