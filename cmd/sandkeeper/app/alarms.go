package app

import (
	"context"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/alerts"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// alarmTime is for all receivers together, after a pass.
const alarmTime = 30 * time.Second

// Announce tells the receivers of the config what is wrong and what is over. Each process writes the same
// into the ledger and one of them tells it, so it may be called after every pass of every replica. What
// cannot be told is tried again, and fails nothing.
func (a *App) Announce(ctx context.Context) {
	receivers := a.Receivers()
	if len(receivers) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), alarmTime)
	defer cancel()
	m, err := a.Ledger.Measures(ctx)
	if err != nil {
		a.Log.WarnContext(ctx, "nobody is notified, the ledger was not measured", "err", err)
		return
	}
	policy := a.Config.Policy()
	alarms := alerts.Alarms(&m, &policy, a.Config.Alerts.LeakingUSDPerHour)
	names := make([]string, len(receivers))
	for i := range receivers {
		names[i] = receivers[i].Called()
		if err := a.announceTo(ctx, &receivers[i], alarms); err != nil {
			a.Log.WarnContext(ctx, "not notified, it is tried again", "receiver", names[i], "err", err)
		}
	}
	if err := a.Ledger.KeepReceivers(ctx, names); err != nil {
		a.Log.WarnContext(ctx, "old notifications not deleted, the next pass goes on", "err", err)
	}
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
