package view

import (
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// beatsMissed is how many heartbeats in a row a worker may miss before it counts as silent.
const beatsMissed = 3

// beatMost is the longest interval that is believed: who speaks seldom must not hide for how long the
// others are silent.
const beatMost = 10 * time.Minute

// BeatWanes is the part that a measured interval loses with each pass that shows only shorter ones.
const BeatWanes = 50

// RememberBeat keeps the newest heartbeat, and how far it was from the one before while the worker
// did nothing else: some platforms send heartbeats only while a worker waits, and the time in which
// it worked is no interval.
func (v *signs) RememberBeat(seen *reconcile.TaskSeen, t *reconcile.Task) {
	beat := TaskHeartbeat(t)
	if !beat.After(seen.BeatAt) || beat.Sub(t.AsOf) > reconcile.Skew {
		return
	}
	if gap := beat.Sub(seen.BeatAt); !seen.BeatAt.IsZero() && !v.Activity(t).After(seen.BeatAt) {
		seen.BeatGap = gap
	} else {
		seen.BeatGap = 0
	}
	seen.BeatAt = beat
}

// measuredBeat is how far apart heartbeats come here: the longest that some worker took twice in a
// row, so that an outage, which every worker meets once, does not count. What is not longer than the
// time between two passes may hide a heartbeat, and counts for nothing. It wanes slowly.
func (v listener) measuredBeat() time.Duration {
	before := v.S.Memory.Sources[reconcile.SourceEvents].Beat
	between := v.Now.Sub(v.S.Memory.LastPass)
	longest := max(before-before/BeatWanes, v.S.Plain.BeatGap)
	for i := range v.S.Tasks {
		seen := v.SeenTask(i)
		longest = max(longest, v.beatKept(&v.S.Tasks[i], &seen, between))
	}
	return longest
}

// beatKept is the interval that a worker took twice in a row, where passes come more often.
func (v *signs) beatKept(t *reconcile.Task, seen *SeenTask, between time.Duration) time.Duration {
	if !seen.Known || seen.BeatGap == 0 || t.State != reconcile.TaskRunning {
		return 0
	}
	after := seen.TaskSeen
	v.RememberBeat(&after, t)
	gap := min(after.BeatGap, seen.BeatGap)
	if !after.BeatAt.After(seen.BeatAt) || gap-between <= between/5 {
		return 0
	}
	//guard:beat-bounded live
	return min(gap, beatMost)
}

// TaskDue reports whether the worker's newest sign promised another one: a heartbeat, or that it waits,
// as workers send heartbeats while they do. A worker in the middle of its work may be silent for as
// long as one command takes.
func TaskDue(t *reconcile.Task) bool {
	beat := reconcile.Latest(TaskHeartbeat(t), t.Events.Waiting)
	return !beat.IsZero() && !beat.Before(reconcile.Latest(t.Events.Activity, t.Events.Started, t.ActivityAt))
}
