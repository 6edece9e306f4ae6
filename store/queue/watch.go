package queue

import (
	"context"
	"log/slog"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// The times of a watch.
const (
	slack   = time.Second      // how late a pass may be before the watch kicks one
	retry   = 5 * time.Second  // the longest time between looks while a pass stays overdue
	longest = time.Hour        // between looks at a schedule that rarely fires
	asking  = 10 * time.Second // for one look or kick
	nearly  = time.Minute      // how late a pass may be that this process is making
)

// A watch sees to it that passes of one kind come, whatever becomes of River's leader.
type watch struct {
	kind      reconcile.PassKind
	ledger    Passes
	kick      func(context.Context, reconcile.PassKind) error
	making    func(reconcile.PassKind) bool // whether this process makes such a pass at the moment
	schedules *schedules
	log       *seldom
	early     float64 // 0 to 1: how much before the others this one kicks, so that not all do
}

// run looks and sleeps until ctx ends. The first look has no slack: nobody else is known to
// run.
func (w *watch) run(ctx context.Context) {
	slack := time.Duration(0)
	for ctx.Err() == nil {
		schedule, changed := w.schedules.of(w.kind)
		making := w.making(w.kind) // asked before the look, which does not show a pass that has not ended
		began, now, err := w.lastBegan(ctx)
		wait := retry
		if err == nil {
			if !began.IsZero() {
				w.schedules.saw(w.kind, time.Now().Add(-now.Sub(began)))
			}
			overdue := false
			missed := turnAfter(schedule, began)
			overdue, wait = lookout(missed, began, now, slack)
			switch {
			case overdue && making && now.Sub(missed.due) < nearly:
				wait = min(missed.gap, retry) // it takes that long: a job for another would find nothing to do
			case overdue:
				err = w.kickOne(ctx)
			}
			slack = w.slack(turnAfter(schedule, now).gap)
		}
		if err != nil && ctx.Err() == nil {
			w.log.warn(ctx, "passes cannot be watched", slog.String("kind", string(w.kind)), slog.Any("err", err))
		}
		pause(ctx, wait, changed)
	}
}

// slack is how late a pass may be: less than a second on a schedule of seconds, and a
// little less on some processes than on others.
func (w *watch) slack(gap time.Duration) time.Duration {
	most := min(slack, gap/4)
	return most - time.Duration(w.early*float64(most/4))
}

func (w *watch) lastBegan(ctx context.Context) (began, now time.Time, err error) {
	ctx, cancel := context.WithTimeout(ctx, asking)
	defer cancel()
	return w.ledger.LastBegan(ctx, w.kind)
}

func (w *watch) kickOne(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, asking)
	defer cancel()
	return w.kick(ctx, w.kind)
}

// lookout decides whether a pass is overdue, and how long to wait until the next look. The
// turn is the first one after the newest pass began; both times are the ledger's.
func lookout(t turn, began, now time.Time, slack time.Duration) (overdue bool, wait time.Duration) {
	switch late := now.Sub(t.due.Add(slack)); {
	case began.IsZero() || began.After(now) || !t.due.IsZero() && late >= 0:
		return true, min(t.gap, retry)
	case t.due.IsZero():
		return false, longest
	default:
		return false, min(-late, longest)
	}
}

// pause waits, and reports whether it came to the end of it.
func pause(ctx context.Context, d time.Duration, cut <-chan struct{}) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-cut:
	case <-ctx.Done():
	}
	return false
}
