package serve

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/web"
)

const (
	patience = 5 * time.Second        // that a reading of the ledger may take
	reuse    = time.Second            // that it may be shown
	ahead    = 700 * time.Millisecond // after which the next one is made while this one is still shown
)

// most is how much of each list is read, so that groups are counted whole; the page shows
// fewer of each.
const most = 300

// A reader reads the ledger for everybody who looks: at most one reading is under way, and
// its answer serves all who ask within a second of its beginning.
type reader struct {
	ledger Ledger
	ready  func(context.Context) error
	calls  singleflight.Group
	fit    atomic.Bool // database and schema were as they must be, when that was asked last

	mu     sync.Mutex
	last   web.Reading
	at     time.Time           // when the last one began; zero: there was none
	number int64               // of the last one
	good   *reconcile.Overview // the last one that could be read

	trends   *reconcile.Trends // of the last time that they could be read
	trendsAt time.Time         // when they were asked for
	trendsOf time.Time         // the same by the ledger's clock
}

func newReader(o Options) *reader { return &reader{ledger: o.Ledger, ready: o.Ready} }

// read returns a reading that is at most a second old when it begins. It does not wait
// longer than its patience, also for a ledger that does not heed it.
func (r *reader) read(ctx context.Context) web.Reading {
	last, age := r.recent()
	if age < ahead {
		return last
	}
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("no answer within %s", patience))
	defer cancel()
	// Whoever asked first may leave: the others still wait for the answer.
	answer := r.calls.DoChan("", func() (any, error) { return r.readNow(context.WithoutCancel(ctx)), nil })
	if age < reuse {
		return last // while many look, nobody waits for the next one
	}
	select {
	case <-ctx.Done():
		return r.failed(context.Cause(ctx))
	case a := <-answer:
		now, _ := a.Val.(web.Reading)
		return now
	}
}

// failed is a reading of a ledger that does not answer: all that is known is what it said last.
func (r *reader) failed(err error) web.Reading {
	r.mu.Lock()
	defer r.mu.Unlock()
	return web.Reading{Err: err, Trends: r.trends, Past: r.good}
}

// forget makes the next reading a new one: something changed.
func (r *reader) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.at = time.Time{}
}

// recent is the last reading, and how old it is.
func (r *reader) recent() (web.Reading, time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last, time.Since(r.at) // of none, or one that was forgotten, as long as there is
}

func (r *reader) readNow(ctx context.Context) web.Reading {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("no answer within %s", patience))
	defer cancel()
	if last, age := r.recent(); age < ahead {
		return last // of a call that ended while this one was on its way
	}
	began := time.Now()
	var now web.Reading
	if now.Overview, now.Err = r.ledger.Overview(ctx, most); now.Err != nil {
		now.Overview = reconcile.Overview{}
	}
	// An overview of a schema that is not this program's is refused: what was ready still is where there is one.
	if now.Err != nil || now.Overview.Fresh || !r.fit.Load() {
		now.Unready = r.ready(ctx)
		r.fit.Store(now.Unready == nil)
	}
	trends, asked := r.newTrends(ctx, &now)
	r.mu.Lock()
	defer r.mu.Unlock()
	if asked {
		r.trends, r.trendsAt, r.trendsOf = trends, began, now.Overview.Now
	}
	now.Trends, now.Past = trends, r.good
	r.number++
	now.Number = r.number
	if now.Err == nil {
		r.good, now.Past = &now.Overview, nil
	}
	r.last, r.at = now, began
	return now
}

// What the trends are of, and for how long they are shown: shortly where something was done since, which stands beside
// them.
const (
	trendSlot  = 15 * time.Minute
	trendSlots = 96
	trendReuse = 30 * time.Second
	trendMoved = 5 * time.Second
)

// newTrends are the trends of the day, and whether they were asked for: again once they are old. Without them the page
// has no charts, and all else.
func (r *reader) newTrends(ctx context.Context, now *web.Reading) (trends *reconcile.Trends, asked bool) {
	r.mu.Lock()
	last, at, of := r.trends, r.trendsAt, r.trendsOf
	r.mu.Unlock()
	shown := trendReuse
	if o := &now.Overview; len(o.Recent) > 0 && o.Recent[0].ClosedAt.After(of) {
		shown = trendMoved
	}
	if now.Err != nil || now.Overview.Fresh || !at.IsZero() && time.Since(at) < shown {
		return last, false
	}
	if trends, err := r.ledger.Trends(ctx, trendSlot, trendSlots); err == nil {
		return &trends, true
	}
	return last, true
}
