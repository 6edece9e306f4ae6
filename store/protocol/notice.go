package protocol

import (
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// How notices are delivered: the pauses between attempts double from the shortest to the
// longest, and after MostNotice nobody tries again.
const (
	ShortestPause = 5 * time.Second
	LongestPause  = 10 * time.Minute
	MostNotice    = 72 * time.Hour
)

// FirstTold is how long nobody else tells a receiver of what a process has just begun to tell it: longer than
// that may take, so that nothing is told twice because a receiver is slow.
const FirstTold = 30 * time.Second

// Notice is what the platform is told of a settled action, and whether it is told at all:
// when that was asked for, once a row was written or the sandbox of a task is gone.
func Notice(a reconcile.Action, now time.Time) (reconcile.Notice, bool) {
	row := Fails(a) || Retries(a) || a.Step == reconcile.StepRestore && a.Outcome == reconcile.OutcomeDone
	return reconcile.Notice{
		Action: a.ID, Task: a.Task, Provider: a.Provider, Sandbox: a.Sandbox, Rule: a.Rule, Step: a.Step,
		Outcome: a.Outcome, Reason: a.Reason, At: now,
	}, a.Announce && a.Task != "" && (row || EndsSandbox(a))
}

// Pause is how long to wait after an attempt that follows so many others.
func Pause(tried int) time.Duration {
	pause := ShortestPause
	for range tried {
		if pause = min(2*pause, LongestPause); pause == LongestPause {
			break
		}
	}
	return pause
}

// GivenUp reports whether a notice of that time is too old to be tried again.
func GivenUp(at, now time.Time) bool { return now.Sub(at) >= MostNotice }
