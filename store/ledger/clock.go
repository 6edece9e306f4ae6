package ledger

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
)

// drift is how far the local monotonic clock is from the database's, as last measured.
// All replicas measure against the same database, so they share one clock.
type drift struct {
	mu    sync.Mutex
	local time.Time // with its monotonic reading; zero when never measured
	far   time.Time // what the database said at local
}

// now is the database's now by the last measurement, false when there is none.
func (d *drift) now() (time.Time, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.local.IsZero() {
		return time.Time{}, false
	}
	return micro(d.far.Add(time.Since(d.local))), true
}

// fresh is now where the last measurement was made less than a moment ago.
func (d *drift) fresh() (time.Time, bool) {
	d.mu.Lock()
	recent := !d.local.IsZero() && time.Since(d.local) < measuredFor
	d.mu.Unlock()
	if !recent {
		return time.Time{}, false
	}
	return d.now()
}

// measuredFor is how long the database's clock need not be asked again: a pass asks some questions in a row, and each
// would measure it.
const measuredFor = time.Second

// measured takes what the database said between two local instants to be true of the
// middle: the error is at most half the round trip.
func (d *drift) measured(before, after, far time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.local, d.far = before.Add(after.Sub(before)/2), far
}

// Now reads the ledger's clock. It is the database's clock, carried forward by the local
// monotonic one, so that reading it needs the database only once.
func (g *base) Now(ctx context.Context) (time.Time, error) {
	if g.clock != nil {
		return micro(g.clock()), nil
	}
	if now, ok := g.drift.now(); ok {
		return now, nil
	}
	return g.setClock(ctx)
}

// setClock measures the database's clock again, unless that was done a moment ago, and reads it.
func (g *base) setClock(ctx context.Context) (time.Time, error) {
	if g.clock != nil {
		return micro(g.clock()), nil
	}
	if now, ok := g.drift.fresh(); ok {
		return now, nil
	}
	before := time.Now()
	var far time.Time
	if err := one(ctx, g.pool, "clock", pgx.StrictNamedArgs{}, &far); err != nil {
		return time.Time{}, fmt.Errorf("read ledger's clock: %w", err)
	}
	g.drift.measured(before, time.Now(), far)
	now, _ := g.drift.now()
	return now, nil
}

// micro cuts a time to what the database can hold, so that a time read back is the same.
func micro(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }
