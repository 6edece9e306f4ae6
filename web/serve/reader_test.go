package serve

import (
	"context"
	"errors"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/web/webtest"
)

// slow is a ledger that takes its time and counts who asks.
type slow struct {
	webtest.Ledger
	takes  time.Duration
	hangs  atomic.Bool // takes an hour
	deaf   bool        // does not heed the context
	err    atomic.Pointer[error]
	calls  atomic.Int32
	inside atomic.Int32
	most   atomic.Int32 // that were inside at once
}

func (s *slow) Overview(ctx context.Context, most int) (reconcile.Overview, error) {
	n := s.calls.Add(1)
	s.most.Store(max(s.most.Load(), s.inside.Add(1)))
	defer s.inside.Add(-1)
	if s.deaf {
		ctx = context.WithoutCancel(ctx)
	}
	takes := s.takes
	if s.hangs.Load() {
		takes = time.Hour
	}
	select {
	case <-time.After(takes):
	case <-ctx.Done():
		return reconcile.Overview{}, context.Cause(ctx)
	}
	if err := s.err.Load(); err != nil {
		return reconcile.Overview{OpenTotal: int(n)}, *err
	}
	return reconcile.Overview{Now: time.Now(), OpenTotal: int(n), Open: make([]reconcile.Action, 0, most)}, nil
}

func (s *slow) fail(text string) { err := errors.New(text); s.err.Store(&err) }

func readerOf(l Ledger) *reader { return newReader(Options{Ledger: l}.complete()) }

func TestReadersShareOneReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ledger := &slow{takes: 300 * time.Millisecond}
		r := readerOf(ledger)
		var all sync.WaitGroup
		for i := range 100 {
			all.Go(func() {
				for turn := range 5 { // a hundred tabs, five looks each, two seconds apart
					time.Sleep(time.Duration(i) * time.Millisecond)
					if got := r.read(t.Context()); got.Err != nil || time.Since(got.Overview.Now) > time.Second {
						t.Errorf("look %d of tab %d: %v, %s old", turn, i, got.Err, time.Since(got.Overview.Now))
					}
					time.Sleep(2*time.Second - time.Duration(i)*time.Millisecond)
				}
			})
		}
		all.Wait()
		if n := ledger.most.Load(); n != 1 {
			t.Errorf("%d readings at once, want 1", n)
		}
		if n := ledger.calls.Load(); n > 12 {
			t.Errorf("%d readings in 11 seconds, want about one a second at most", n)
		}
	})
}

func TestReadingIsReusedForASecond(t *testing.T) {
	cases := map[string]struct {
		wait time.Duration
		want int
	}{
		"right after":          {0, 1},
		"just before a second": {time.Second - 1, 1},
		"after a second":       {time.Second, 2},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := readerOf(&slow{})
				r.read(t.Context())
				time.Sleep(c.wait)
				if got := r.read(t.Context()); got.Overview.OpenTotal != c.want {
					t.Errorf("reading %d, want %d", got.Overview.OpenTotal, c.want)
				}
			})
		})
	}
}

// TestNobodyWaitsWhileManyLook: the next reading is made while the last one may still be shown, and none is shown for
// longer than a second.
func TestNobodyWaitsWhileManyLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ledger := &slow{takes: 200 * time.Millisecond}
		r := readerOf(ledger)
		r.read(t.Context())
		for range 500 {
			time.Sleep(20 * time.Millisecond)
			began := time.Now()
			got := r.read(t.Context())
			if waited, old := time.Since(began), time.Since(got.Overview.Now); waited > 0 || old > time.Second {
				t.Errorf("a look waited %s for a reading that is %s old", waited, old)
			}
		}
		if n := ledger.calls.Load(); n > 20 {
			t.Errorf("%d readings in ten seconds, want less than two a second", n)
		}
		time.Sleep(time.Second) // one may still be under way
	})
}

func TestLedgerThatHangs(t *testing.T) {
	for name, ledger := range map[string]*slow{
		"and heeds the deadline": {takes: time.Hour},
		"and heeds nothing":      {takes: 8 * time.Second, deaf: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				got := readerOf(ledger).read(t.Context())
				if got.Err == nil || !strings.Contains(got.Err.Error(), "no answer within 5s") || time.Since(began) != patience {
					t.Errorf("after %s: %v, want no answer after %s", time.Since(began), got.Err, patience)
				}
				time.Sleep(time.Minute) // the deaf one ends
			})
		})
	}
}

func TestOneWhoLeavesTakesNothingFromTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := readerOf(&slow{takes: 2 * time.Second})
		first, leave := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() {
			if got := r.read(first); !errors.Is(got.Err, context.Canceled) {
				t.Errorf("who left got %v", got.Err)
			}
		})
		time.Sleep(time.Second)
		all.Go(func() {
			if got := r.read(t.Context()); got.Err != nil || got.Overview.OpenTotal != 1 {
				t.Errorf("who stayed got reading %d, %v; want 1", got.Overview.OpenTotal, got.Err)
			}
		})
		synctest.Wait()
		leave()
		all.Wait()
	})
}

// TestNoOldGoodNews: once the ledger is gone, a page older than a second is no page.
func TestNoOldGoodNews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ledger := &slow{}
		r := readerOf(ledger)
		r.read(t.Context())
		ledger.fail("gone")
		time.Sleep(time.Second)
		if got := r.read(t.Context()); got.Err == nil || got.Overview.OpenTotal != 0 {
			t.Errorf("read = %+v, want the error and nothing else", got)
		}
		time.Sleep(time.Second / 2)
		r.read(t.Context())
		if n := ledger.calls.Load(); n != 2 {
			t.Errorf("%d calls, want 2: a ledger that is down is not asked more often either", n)
		}
	})
}

// TestTheLastGoodStateIsKept: who looks for the first time when the ledger is gone, or hangs, sees what it said last.
func TestTheLastGoodStateIsKept(t *testing.T) {
	for name, ill := range map[string]func(*slow){
		"gone":  func(l *slow) { l.fail("gone") },
		"hangs": func(l *slow) { l.hangs.Store(true) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ledger := &slow{}
				site := New(Options{Ledger: ledger})
				ctx, stop := context.WithCancel(t.Context())
				var kept sync.WaitGroup
				kept.Go(func() { site.Keep(ctx) })
				time.Sleep(time.Hour)
				ill(ledger)
				time.Sleep(10 * time.Minute)
				got := site.reader.read(t.Context())
				if got.Err == nil || got.Past == nil || time.Since(got.Past.Now) > 10*time.Minute+keptEvery+patience {
					t.Errorf("read = %v with the past %v, want the error and one of a little before it", got.Err, got.Past)
				}
				stop()
				kept.Wait()
				time.Sleep(time.Minute) // what was asked last ends
			})
		})
	}
}

// TestWorldsAreAsLarge: the worlds of the tests have as much of a list as is read of it.
func TestWorldsAreAsLarge(t *testing.T) {
	if webtest.MostRead != most {
		t.Errorf("webtest.MostRead is %d, %d are read", webtest.MostRead, most)
	}
}

// counting is a ledger in which something may have been done, and which counts how often its trends are read.
type counting struct {
	webtest.Ledger
	done  time.Time
	reads int
}

func (l *counting) Overview(context.Context, int) (reconcile.Overview, error) {
	o := reconcile.Overview{Now: time.Now()}
	if !l.done.IsZero() {
		o.Recent = []reconcile.Action{{ClosedAt: l.done}}
	}
	return o, nil
}

func (l *counting) Trends(context.Context, time.Duration, int) (reconcile.Trends, error) {
	l.reads++
	return reconcile.Trends{}, nil
}

// TestTrendsAreReadOnceSomethingIsDone: "0 actions done" does not stand beside an action that was.
func TestTrendsAreReadOnceSomethingIsDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ledger := &counting{}
		r := readerOf(ledger)
		look := func(after time.Duration, want int) {
			t.Helper()
			time.Sleep(after)
			if r.readNow(t.Context()); ledger.reads != want {
				t.Errorf("the trends were read %d times, want %d", ledger.reads, want)
			}
		}
		look(0, 1)
		look(10*time.Second, 1)
		ledger.done = time.Now()
		look(time.Second, 2)
		look(10*time.Second, 2)
		look(20*time.Second, 3)
	})
}
