package ledger

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/protocol"
)

// mostTold is how many things one receiver is told at once.
const mostTold = 50

// Alarm writes down what is wrong now for one receiver. All replicas write the same; it is told once.
func (g *Outbox) Alarm(ctx context.Context, receiver string, alarms []reconcile.Alarm) error {
	now, err := g.Now(ctx)
	if err != nil {
		return err
	}
	type alarm = reconcile.Alarm
	words := func(pick func(alarm) string) []string {
		return column(alarms, func(a alarm) string { return clean(pick(a)) })
	}
	_, err = exec(ctx, g.pool, "notifications_put", pgx.StrictNamedArgs{
		"receiver": receiver, "now": now,
		"keys":       words(func(a alarm) string { return a.Key }),
		"kinds":      words(func(a alarm) string { return a.Kind }),
		"severities": words(func(a alarm) string { return string(a.Severity) }),
		"titles":     words(func(a alarm) string { return a.Title }),
		"words":      words(func(a alarm) string { return a.Text }),
		"since": column(alarms, func(a alarm) pgtype.Timestamptz {
			if a.Since.IsZero() {
				return stamp(now)
			}
			return stamp(a.Since)
		}),
		"versions": words(func(a alarm) string { return a.Version }),
	})
	if err != nil {
		return fmt.Errorf("write down what %s is to be told: %w", receiver, err)
	}
	return nil
}

// TakeAlarms takes what a receiver is to be told now, and puts the next attempt off. What is wrong
// still and was told longer ago than repeat is told again.
func (g *Outbox) TakeAlarms(ctx context.Context, receiver string, repeat time.Duration) ([]reconcile.Alarm, error) {
	now, err := g.Now(ctx)
	if err != nil {
		return nil, err
	}
	taken, err := all(ctx, g.pool, "notifications_take", pgx.StrictNamedArgs{
		"receiver": receiver, "now": now, "repeat": now.Add(-repeat), "most": mostTold,
		"shortest": protocol.FirstTold, "longest": protocol.LongestPause,
	}, scanAlarm)
	if err != nil {
		return nil, fmt.Errorf("take what %s is to be told: %w", receiver, err)
	}
	return taken, nil
}

func scanAlarm(r pgx.Rows) (reconcile.Alarm, error) {
	var a reconcile.Alarm
	err := r.Scan(&a.Key, &a.Kind, (*string)(&a.Severity), &a.Title, &a.Text, at(&a.Since), &a.Version)
	return a, err
}

// AlarmsTold notes that a receiver was told.
func (g *Outbox) AlarmsTold(ctx context.Context, receiver string, told []reconcile.Alarm) error {
	now, err := g.Now(ctx)
	if err != nil {
		return err
	}
	_, err = exec(ctx, g.pool, "notifications_told", pgx.StrictNamedArgs{
		"receiver": receiver, "now": now,
		"keys":     column(told, func(a reconcile.Alarm) string { return a.Key }),
		"versions": column(told, func(a reconcile.Alarm) string { return a.Version }),
	})
	if err != nil {
		return fmt.Errorf("note what %s was told: %w", receiver, err)
	}
	return nil
}

// AlarmsFailed notes why a receiver could not be told.
func (g *Outbox) AlarmsFailed(ctx context.Context, receiver, why string, untold []reconcile.Alarm) error {
	_, err := exec(ctx, g.pool, "notifications_failed", pgx.StrictNamedArgs{
		"receiver": receiver, "why": clean(why),
		"keys": column(untold, func(a reconcile.Alarm) string { return a.Key }),
	})
	if err != nil {
		return fmt.Errorf("note that %s was not told: %w", receiver, err)
	}
	return nil
}

// KeepReceivers forgets what is over and told, and all of receivers that are not among these.
func (g *Outbox) KeepReceivers(ctx context.Context, receivers []string) error {
	_, err := exec(ctx, g.pool, "notifications_drop", pgx.StrictNamedArgs{"receivers": append([]string{}, receivers...)})
	if err != nil {
		return fmt.Errorf("forget what was told: %w", err)
	}
	return nil
}
