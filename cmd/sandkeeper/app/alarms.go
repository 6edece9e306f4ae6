package app

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/sandkeeper/sandkeeper/alerts"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// alarmTime is for all receivers together, which are told side by side.
const alarmTime = 30 * time.Second

// Announce tells the receivers of the config what is wrong and what is over. Each process writes the same
// into the ledger and one of them tells it, so it may be called by every replica at once. What one receiver
// cannot be told is logged, tried again, and holds up no other.
func (a *App) Announce(ctx context.Context) error {
	receivers := a.Receivers()
	if len(receivers) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), alarmTime)
	defer cancel()
	m, err := a.Ledger.Measures(ctx)
	if err != nil {
		return fmt.Errorf("measure the ledger, to notify people: %w", err)
	}
	policy := a.Config.Policy()
	alarms := alerts.Alarms(&m, &policy, a.alarmBounds())
	names := make([]string, len(receivers))
	var told sync.WaitGroup
	for i := range receivers {
		names[i] = receivers[i].Called()
		told.Go(func() {
			if err := a.announceTo(ctx, &receivers[i], alarms); err != nil {
				a.Log.WarnContext(ctx, "not notified, it is tried again", "receiver", names[i], "err", err)
			}
		})
	}
	told.Wait()
	return a.Ledger.KeepReceivers(ctx, names)
}

func (a *App) alarmBounds() alerts.Bounds {
	c := &a.Config.Alerts
	return alerts.Bounds{LeakUSD: c.LeakingUSDPerHour, Frozen: c.FrozenFor, ManyOnOneTask: c.ManyOnOneTask,
		LedgerGiB: c.LedgerGiB, Detected: c.DetectedWithin}
}

// announceTo tells one receiver what it wants to hear.
func (a *App) announceTo(ctx context.Context, r *Receiver, alarms []reconcile.Alarm) error {
	name := r.Called()
	wanted := slices.DeleteFunc(slices.Clone(alarms), func(one reconcile.Alarm) bool { return !r.Wants(one) })
	if err := a.Ledger.Alarm(ctx, name, wanted); err != nil {
		return err
	}
	due, err := a.Ledger.TakeAlarms(ctx, name, r.Repeat)
	if err != nil || len(due) == 0 {
		return err
	}
	if err := r.Tell(ctx, due); err != nil {
		if failed := a.Ledger.AlarmsFailed(ctx, name, err.Error(), due); failed != nil {
			a.Log.WarnContext(ctx, "failure of a notification not written down", "receiver", name, "err", failed)
		}
		return err
	}
	return a.Ledger.AlarmsTold(ctx, name, due)
}
