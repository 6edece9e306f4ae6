package ledger

import (
	"context"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Trends reads so many slots of the time up to now, in one snapshot but for how long they are. While the ledger is
// younger than all of them together they are shorter, so that its first hours can be seen as well.
func (g *Reader) Trends(ctx context.Context, slot time.Duration, slots int) (reconcile.Trends, error) {
	now, err := g.setClock(ctx)
	if err != nil {
		return reconcile.Trends{}, err
	}
	var t reconcile.Trends
	var moved []slotMoves
	open := 0
	var past pastPasses
	since := now.Add(-time.Duration(slots) * slot)
	within := pgx.StrictNamedArgs{"from": since, "now": now}
	if err = g.lately(ctx, g.pool); err == nil {
		err = readAtOnce(ctx, g.pool, []reading{each("trend_span", within, scanPast, func(p pastPasses) { past = p })})
	}
	if err != nil {
		return reconcile.Trends{}, fmt.Errorf("read the span of trends: %w", err)
	}
	t.Slot, slots = finer(now.Sub(past.first), past.passes, slot, slots)
	t.From, t.Slots = now.Add(-time.Duration(slots)*t.Slot), make([]reconcile.TrendSlot, slots)
	err = readAtOnce(ctx, g.pool, append(trendReadings(&t, since, now, &moved),
		each("overview_rules", nil, scanRuleCount, func(c ruleCount) { open += c.count })))
	if err != nil {
		return reconcile.Trends{}, fmt.Errorf("read trends: %w", err)
	}
	openFindings(t.Slots, moved, open)
	return t, nil
}

// shortest is the shortest slot of trends.
const shortest = 5 * time.Second

// finer are the slots of a history of this age: as many as it may be where that gives each the counts of two passes,
// and none longer than it may be.
func finer(age time.Duration, passes int, slot time.Duration, slots int) (time.Duration, int) {
	each := max(age/time.Duration(slots), 2*age/time.Duration(max(passes, 1)), shortest)
	each = min(each.Round(time.Second), slot)
	return each, min(int(age/each)+1, slots)
}

func trendReadings(t *reconcile.Trends, since, now time.Time, moved *[]slotMoves) []reading {
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
		each("trend_saved", pgx.StrictNamedArgs{"from": since, "now": now}, scanAmount,
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

// pastPasses are the complete full passes of some time.
type pastPasses struct {
	first  time.Time
	passes int
}

func scanPast(r pgx.Rows) (pastPasses, error) {
	var p pastPasses
	err := r.Scan(&p.first, &p.passes)
	return p, err
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
