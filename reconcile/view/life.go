package view

import (
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// SubjectPresentStart is the row's start time, unless it is of an earlier attempt.
func SubjectPresentStart(s *reconcile.Subject) time.Time {
	//guard:start-stale P5
	if s.Task.StartedAt.Equal(s.Seen().StaleStart) {
		return time.Time{}
	}
	return s.Task.StartedAt
}

// Started reports whether the worker of the task's present attempt has ever started: the row
// says that it runs, or there is a start time or any event. Many platforms have no column for
// the start; that a row runs by its status is their only word for it. A start time that was
// already there in an earlier state is of an earlier attempt, and so is a sign of life from before
// the task was handed out. That somebody changed the row proves no start.
func (v *signs) Started(s *reconcile.Subject) bool {
	t := s.Task
	//guard:started-running live
	if t.State == reconcile.TaskRunning {
		return true
	}
	sign := TaskTold(t).LastSeen()
	earlier := t.State == reconcile.TaskAssigned && v.ClockTrusted(t, "assigned_at") && sign.Before(t.AssignedAt)
	//guard:started-handed-out harm
	earlier = earlier || t.State == reconcile.TaskAssigned && v.stale(s, t.AsOf.Sub(sign))
	//guard:started-earlier live
	if !sign.IsZero() && !earlier {
		return true
	}
	//guard:started-stale harm
	return !t.StartedAt.IsZero() && !t.StartedAt.Equal(s.Seen().StaleStart)
}

// Alive reports whether the worker gave a sign of life inside the heartbeat limit: the veto
// against every verdict of absence or silence. It also tells how old the sign is.
func (v *signs) Alive(t *reconcile.Task) (age time.Duration, alive bool) {
	sign := v.Sign(t)
	if sign.IsZero() {
		return reconcile.Forever, false
	}
	age = t.AsOf.Sub(sign)
	return age, age <= v.Limit
}

// Heard is alive by what a worker gave: what shows that a sandbox must exist.
func (v *signs) Heard(t *reconcile.Task) bool {
	_, alive := v.Alive(TaskTold(t))
	return alive
}

// TaskTold is the task with what only its worker can tell. An activity that is read off the row's
// own clock of changes is, until the task runs, anybody's who changed the row: the platform's
// that sets it up, for example.
func TaskTold(t *reconcile.Task) *reconcile.Task {
	//guard:life-told live
	if t.State == reconcile.TaskRunning || t.ActivityAt.IsZero() || t.Mark == "" && !t.ActivityAt.Equal(t.UpdatedAt) {
		return t
	}
	own := *t
	own.ActivityAt = time.Time{}
	return &own
}

// TaskAhead reports whether the worker's newest sign of life lies in the future.
func TaskAhead(t *reconcile.Task) bool { return t.LastSeen().Sub(t.AsOf) > reconcile.Skew }

// Sign is when the worker gave its newest sign of life. A stamp from the future is a clock that
// its worker can wind, so it counts from when the ledger first saw it: a worker with a wrong
// clock lives as long as it keeps sending, and no longer, also when time gets to the stamp. When the
// database's own clock had been there, and was set back, no newer sign can show until it gets there again.
func (v *signs) Sign(t *reconcile.Task) time.Time {
	sign := t.LastSeen()
	given := sign
	if sign.Sub(t.AsOf) > reconcile.Skew {
		given = t.AsOf
	}
	//guard:sign-set-back harm
	if v.CameTo(sign) {
		return given
	}
	seen, rare := v.S.Memory.Tasks.Rare(t.ID)
	if !rare || sign.IsZero() || !seen.AheadSign.Equal(sign) {
		return given
	}
	first := t.AsOf.Add(-v.Since(seen.AheadSince))
	//guard:sign-ahead P5
	if first.Before(given) {
		return first
	}
	return given
}

// clockSetBack is how far the task database's clock had come before it was set back, the newest
// time if that happened twice: it is behind where it must be by the ledger's clock.
func (v listener) clockSetBack() time.Time {
	seen := v.S.Memory.Sources[reconcile.SourceTasks]
	gap := v.Now.Sub(seen.LastTrusted)
	if v.S.T0.Before(seen.Clock) { // the ledger's may be the same clock, and tell of no time in between
		gap = max(gap, 2*v.P.Full, 2*reconcile.UsualGap(&v.S.Memory))
	}
	now := seen.Clock.Add(gap)
	switch {
	case seen.Clock.IsZero() || v.S.T0.IsZero():
		return seen.SetBack
	case v.S.T0.Before(now.Add(-reconcile.Skew)):
		return reconcile.Latest(seen.SetBack, now)
	}
	return reconcile.Latest(seen.SetBack, v.cameUnseen(gap))
}

// cameUnseen is how far the database's clock may have come where it was set ahead and back between two
// passes, zero where nothing tells of it. Rows do that were made meanwhile: no worker writes when its
// task was made. Where such times always run ahead they tell nothing.
func (v listener) cameUnseen(gap time.Duration) time.Time {
	if before, known := v.S.Memory.Sources[reconcile.ClockOf("created_at")]; known && !before.Trusted {
		return time.Time{}
	}
	made := v.S.Plain.Made
	for i := range v.S.Tasks {
		made = reconcile.Latest(made, v.S.Tasks[i].CreatedAt)
	}
	//guard:set-back-unseen P14
	if made.Sub(v.S.T0) > reconcile.Skew {
		return made.Add(gap)
	}
	return time.Time{}
}

// clockSetAhead is by how much the task database's clock has been set ahead since the last pass,
// against the ledger's; 0 for not at all.
func (v listener) clockSetAhead() time.Duration {
	seen := v.S.Memory.Sources[reconcile.SourceTasks]
	if ahead := v.S.T0.Sub(seen.Clock) - v.Now.Sub(seen.LastTrusted); !seen.Clock.IsZero() && ahead > reconcile.Skew {
		return ahead
	}
	return 0
}

// CameTo reports whether the database's clock had come to a time before it was set back: what is
// stamped so is true, and hides whatever came after it.
func (v *signs) CameTo(at time.Time) bool { return at.Sub(v.setBack) <= reconcile.Skew }

// TaskWorkerSign is the newest sign that only a worker gives. When a sign is read off the row's own
// clock of changes, our write and a person's move it as well.
func TaskWorkerSign(t *reconcile.Task, rule string) time.Time {
	own := *t
	for _, at := range []*time.Time{&own.ActivityAt, &own.HeartbeatAt} {
		if at.Equal(t.UpdatedAt) {
			*at = time.Time{}
		}
	}
	return reconcile.SignOf(rule, &own)
}

// Activity is when the worker was last active. A stamp from the future comes from a clock that
// the worker can wind: it is taken against the worker's own newest sign.
func (v *signs) Activity(t *reconcile.Task) time.Time {
	act := t.Activity()
	if act.Sub(t.AsOf) <= reconcile.Skew {
		return act
	}
	//guard:activity-ahead P5
	return v.Sign(t).Add(act.Sub(t.LastSeen()))
}

// TaskHeartbeat is the newest heartbeat of the worker, zero when it never sent one.
func TaskHeartbeat(t *reconcile.Task) time.Time {
	return reconcile.Latest(t.Events.Heartbeat, t.HeartbeatAt)
}

// hasBeaten reports whether the worker sent a heartbeat that is not of the task's start. Some platforms write the
// column once, with the start, and never again.
func hasBeaten(t *reconcile.Task) bool {
	const withStart = time.Second
	start := reconcile.Latest(t.CreatedAt, t.AssignedAt, t.StartedAt)
	return !t.Events.Heartbeat.IsZero() || !t.HeartbeatAt.IsZero() && t.HeartbeatAt.Sub(start) > withStart
}

// taskActing reports whether the task's worker is one that should be doing something.
func taskActing(t *reconcile.Task) bool {
	return t.State == reconcile.TaskRunning && !t.Waits() && !t.Activity().IsZero()
}
