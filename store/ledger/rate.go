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
	lanes     [reconcile.Lanes]lane
}

// A lane is the line of those callers of one process who take their places alike.
type lane struct {
	of     *Rate
	is     reconcile.Lane
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
	r := &Rate{pool: pool, provider: provider, perSecond: perSecond}
	for i := range r.lanes {
		r.lanes[i].of, r.lanes[i].is, r.lanes[i].turn = r, reconcile.Lane(i), make(chan struct{}, 1)
	}
	return r
}

// Wait returns when a call may be made, in the lane that its context is in. A wait that does not fit into the context's
// deadline, or into [protocol.MostAhead], is refused at once with [reconcile.ErrThrottled]; one that has to wait for
// higher lanes, when its time is over.
func (r *Rate) Wait(ctx context.Context) error {
	if err := context.Cause(ctx); err != nil || r.perSecond <= 0 {
		return err
	}
	return r.lanes[reconcile.LaneOf(ctx)].wait(ctx)
}

func (l *lane) wait(ctx context.Context) error {
	ahead := l.queued.Add(1) - 1
	defer l.queued.Add(-1)
	if err := l.of.fits(ctx, time.Duration(ahead)*protocol.Gap(l.of.perSecond)-protocol.Late); err != nil {
		return err // those before have places that are at most Late old, so it cannot go faster
	}
	select {
	case l.turn <- struct{}{}:
	case <-ctx.Done():
		return l.of.ended(ctx)
	}
	defer func() { <-l.turn }()
	return l.take(ctx)
}

// take waits for the next place and uses it. A caller that gives up leaves it to the next.
func (l *lane) take(ctx context.Context) error {
	if err := l.reserve(ctx); err != nil {
		return err
	}
	wait := time.Until(l.slots.First)
	if err := l.of.fits(ctx, wait); err != nil {
		return err
	}
	if reconcile.Sleep(ctx, wait) != nil {
		return l.of.ended(ctx)
	}
	l.slots = l.slots.Take()
	return nil
}

// reserve makes sure that there is a place that is not too late.
func (l *lane) reserve(ctx context.Context) error {
	var dropped bool
	l.slots, dropped = l.slots.Drop(time.Now())
	l.wasted = l.wasted || dropped
	if l.slots.Left > 0 {
		return nil
	}
	for began := time.Now(); ; {
		lead := protocol.Lead(l.is, time.Since(began), l.of.perSecond)
		gap := protocol.Gap(l.of.perSecond)
		size := protocol.Chunk(l.chunk, int(l.queued.Load()), l.wasted, l.of.perSecond, lead)
		first, err := l.of.line(ctx, time.Duration(size)*gap, lead)
		if err == nil {
			l.slots, l.chunk, l.wasted = protocol.Slots{First: first, Left: size, Gap: gap}, size, false
		}
		if lead >= protocol.MostAhead || !errors.Is(err, reconcile.ErrThrottled) {
			return err
		}
		if reconcile.Sleep(ctx, giveWay) != nil {
			return err // its time was over before those of higher lanes were through
		}
	}
}

// giveWay is how long a lower lane lets others go first before it asks again.
const giveWay = 50 * time.Millisecond

// line takes the next piece of the line that all processes share, unless that is longer, and
// says when it begins by the local clock.
func (r *Rate) line(ctx context.Context, span, longest time.Duration) (time.Time, error) {
	if deadline, limited := ctx.Deadline(); limited {
		longest = min(longest, time.Until(deadline))
	}
	within, cancel := context.WithTimeout(ctx, lineTime)
	defer cancel()
	var ahead float64
	err := one(within, r.pool, "rate_reserve", pgx.StrictNamedArgs{
		"provider": r.provider, "span": span.Seconds(), "longest": longest.Seconds(),
		"resumed": protocol.Resumed.Seconds(),
		"sane":    (protocol.MostAhead + 2*max(span, protocol.Late) + time.Second).Seconds(),
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
	return time.Now().Add(max(time.Duration(ahead*float64(time.Second)), -protocol.Resumed)), nil
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
