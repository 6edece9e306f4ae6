package ledger

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/store/protocol"
)

// A Rate spaces the calls to one provider over all processes that share a ledger. Places
// for calls are given out by one row, at least 1/perSecond apart by the database's clock; a
// process reserves some at once and uses each at its time or up to [protocol.Late] later. So
// in any second all of them together make at most perSecond calls, and at most a burst of
// Late's worth more, plus one. While nobody calls, nothing is asked of the database.
type Rate struct {
	pool      *pgxpool.Pool
	provider  string
	perSecond float64

	queued atomic.Int64  // callers that have not got their place yet
	turn   chan struct{} // holds one while a caller waits for the next place; what follows is its
	slots  protocol.Slots
	chunk  int
	wasted bool
}

// lineTime bounds the question to the database, also where the caller has no deadline.
const lineTime = 5 * time.Second

// NewRate makes the rate of a provider: perSecond calls of all processes together, 0 for no
// limit. Another figure later needs another Rate, which goes on in the same line.
func NewRate(pool *pgxpool.Pool, provider string, perSecond float64) *Rate {
	return &Rate{pool: pool, provider: provider, perSecond: perSecond, turn: make(chan struct{}, 1)}
}

// Wait returns when a call may be made. A wait that does not fit into the context's
// deadline, or into [protocol.MostAhead], is refused at once with [reconcile.ErrThrottled].
func (r *Rate) Wait(ctx context.Context) error {
	if err := context.Cause(ctx); err != nil || r.perSecond <= 0 {
		return err
	}
	ahead := r.queued.Add(1) - 1
	defer r.queued.Add(-1)
	if err := r.fits(ctx, time.Duration(ahead)*protocol.Gap(r.perSecond)-protocol.Late); err != nil {
		return err // those before have places that are at most Late old, so it cannot go faster
	}
	select {
	case r.turn <- struct{}{}:
	case <-ctx.Done():
		return r.ended(ctx)
	}
	defer func() { <-r.turn }()
	return r.take(ctx)
}

// take waits for the next place and uses it. A caller that gives up leaves it to the next.
func (r *Rate) take(ctx context.Context) error {
	if err := r.reserve(ctx); err != nil {
		return err
	}
	wait := time.Until(r.slots.First)
	if err := r.fits(ctx, wait); err != nil {
		return err
	}
	if reconcile.Sleep(ctx, wait) != nil {
		return r.ended(ctx)
	}
	r.slots = r.slots.Take()
	return nil
}

// reserve makes sure that there is a place that is not too late.
func (r *Rate) reserve(ctx context.Context) error {
	var dropped bool
	r.slots, dropped = r.slots.Drop(time.Now())
	r.wasted = r.wasted || dropped
	if r.slots.Left > 0 {
		return nil
	}
	gap, size := protocol.Gap(r.perSecond), protocol.Chunk(r.chunk, int(r.queued.Load()), r.wasted, r.perSecond)
	first, err := r.line(ctx, time.Duration(size)*gap)
	if err != nil {
		return err
	}
	r.slots, r.chunk, r.wasted = protocol.Slots{First: first, Left: size, Gap: gap}, size, false
	return nil
}

// line takes the next piece of the line that all processes share, and says when it begins
// by the local clock.
func (r *Rate) line(ctx context.Context, span time.Duration) (time.Time, error) {
	longest := protocol.MostAhead
	if deadline, limited := ctx.Deadline(); limited {
		longest = min(longest, time.Until(deadline))
	}
	within, cancel := context.WithTimeout(ctx, lineTime)
	defer cancel()
	var ahead float64
	err := one(within, r.pool, "rate_reserve", pgx.StrictNamedArgs{
		"provider": r.provider, "span": span.Seconds(), "longest": longest.Seconds(),
		"sane": (protocol.MostAhead + 2*max(span, protocol.Late) + time.Second).Seconds(),
	}, &ahead)
	if errors.Is(err, pgx.ErrNoRows) {
		return time.Time{}, r.refused(longest)
	}
	if ctx.Err() != nil && err != nil {
		err = context.Cause(ctx) // the driver only says that it ended
	}
	if err != nil {
		return time.Time{}, fmt.Errorf("wait for the rate of %s: %w", r.provider, err)
	}
	return time.Now().Add(time.Duration(max(ahead, 0) * float64(time.Second))), nil
}

// fits refuses a wait that could not end well.
func (r *Rate) fits(ctx context.Context, wait time.Duration) error {
	deadline, limited := ctx.Deadline()
	if wait > protocol.MostAhead || limited && wait > 0 && time.Until(deadline) <= wait {
		return r.refused(wait)
	}
	return nil
}

func (r *Rate) refused(wait time.Duration) error {
	return fmt.Errorf("wait for the rate of %s, %g calls a second of all processes: %s or more is too long: %w",
		r.provider, r.perSecond, text.Duration(wait), reconcile.ErrThrottled)
}

func (r *Rate) ended(ctx context.Context) error {
	return fmt.Errorf("wait for the rate of %s: %w", r.provider, context.Cause(ctx))
}
