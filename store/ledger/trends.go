package ledger

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Trends reads so many slots of the time up to now, in one snapshot.
func (g *Ledger) Trends(ctx context.Context, slot time.Duration, slots int) (reconcile.Trends, error) {
	now, err := g.setClock(ctx)
	if err != nil {
		return reconcile.Trends{}, err
	}
	from := now.Add(-time.Duration(slots) * slot)
	t := reconcile.Trends{From: from, Slot: slot, Slots: make([]reconcile.TrendSlot, slots)}
	var moved []slotMoves
	open := 0
	err = g.inSnapshot(ctx, func(tx pgx.Tx) error {
		return read(ctx, tx, append(trendReadings(&t, now, &moved),
			each("overview_rules", nil, scanRuleCount, func(c ruleCount) { open += c.count })))
	})
	if err != nil {
		return reconcile.Trends{}, fmt.Errorf("read trends: %w", err)
	}
	openFindings(t.Slots, moved, open)
	return t, nil
}

func trendReadings(t *reconcile.Trends, now time.Time, moved *[]slotMoves) []reading {
	within := pgx.StrictNamedArgs{"from": t.From, "slot": t.Slot}
	in := func(n int) *reconcile.TrendSlot { return &t.Slots[min(max(n, 0), len(t.Slots)-1)] }
	return []reading{
		each("trend_passes", pgx.StrictNamedArgs{"from": t.From, "slot": t.Slot, "slots": len(t.Slots)}, scanSlotCounts,
			func(c slotCounts) { in(c.slot).Counts = c.counts }),
		each("trend_findings", within, scanSlotMoves, func(m slotMoves) { *moved = append(*moved, m) }),
		each("trend_actions", within, scanSlotActions, func(a slotActions) {
			in(a.slot).Acted += a.count
			in(a.slot).Gone = max(in(a.slot).Gone, a.gone)
		}),
		each("trend_leaking", cleanUps(), scanAmount, func(usd float64) { t.Leaking = usd }),
		each("trend_saved", pgx.StrictNamedArgs{"from": t.From, "now": now}, scanAmount,
			func(usd float64) { t.Saved = usd }),
	}
}

// openFindings goes back from what is open now, slot by slot.
func openFindings(slots []reconcile.TrendSlot, moved []slotMoves, open int) {
	by := map[int]slotMoves{}
	for _, m := range moved {
		n := min(max(m.slot, 0), len(slots)-1)
		by[n] = slotMoves{n, by[n].opened + m.opened, by[n].resolved + m.resolved}
	}
	for n := len(slots) - 1; n >= 0; n-- {
		slots[n].Findings = max(open, 0)
		open += by[n].resolved - by[n].opened
	}
}

type slotCounts struct {
	slot   int
	counts map[string]int
}

func scanSlotCounts(r pgx.Rows) (slotCounts, error) {
	var c slotCounts
	err := r.Scan(&c.slot, &c.counts)
	return c, err
}

type slotMoves struct{ slot, opened, resolved int }

func scanSlotMoves(r pgx.Rows) (slotMoves, error) {
	var m slotMoves
	err := r.Scan(&m.slot, &m.opened, &m.resolved)
	return m, err
}

type slotActions struct {
	slot, count int
	gone        time.Duration
}

func scanSlotActions(r pgx.Rows) (slotActions, error) {
	var a slotActions
	var seconds float64
	err := r.Scan(&a.slot, &a.count, &seconds)
	a.gone = time.Duration(seconds * float64(time.Second))
	return a, err
}

func scanAmount(r pgx.Rows) (float64, error) {
	var usd float64
	err := r.Scan(&usd)
	return usd, err
}
