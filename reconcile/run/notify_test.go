package run_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A platform that does not answer is told again with pauses, is no reason to fail a pass, and
// hears each thing once when it answers again.
func TestADeafPlatform(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := opened(t, "stale", "stopped")
		s.platform.deafen(true)
		if err := s.work(s.keeper("first", &life{})); err != nil {
			t.Fatal(err)
		}
		if told := s.platform.told(); len(told) != 0 {
			t.Fatalf("a deaf platform heard %v", told)
		}
		s.platform.deafen(false)
		s.pass(30 * time.Minute)
		s.hears("fail stale", "terminate stale", "terminate stopped")
		for what, n := range s.platform.told() {
			if n != 1 {
				t.Errorf("%s was told %d times", what, n)
			}
		}
	})
}

// A slow keeps notices waiting for an answer that never comes.
type slow struct {
	reconcile.Notices
	busy, most atomic.Int32
}

func (n *slow) Notify(ctx context.Context, _ reconcile.Notice) error {
	n.most.Store(max(n.most.Load(), n.busy.Add(1)))
	defer n.busy.Add(-1)
	<-ctx.Done()
	return ctx.Err()
}

// many notices are due at any time.
type many struct{ failed atomic.Int32 }

func (*many) TakeNotices(context.Context, int) ([]reconcile.Notice, error) {
	return make([]reconcile.Notice, 50), nil
}

func (*many) NoticeTold(context.Context, string) error { return errors.New("nothing was told") }

func (m *many) NoticeFailed(context.Context, string, string) error {
	m.failed.Add(1)
	return nil
}

// A platform that hangs keeps a pass from nothing: a few are told at a time, and for a while.
func TestAPlatformThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := opened(t)
		d := s.daemon("first", &life{})
		d.Parallel = 0
		waiting := &many{}
		hangs := &slow{Notices: waiting}
		d.Notices, d.Notifier = waiting, hangs
		began := time.Now()
		if _, err := d.Pass(t.Context(), reconcile.Full, 0); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(began); took > 6*time.Second { // of the bubble
			t.Errorf("the pass took %s", took)
		}
		if hangs.most.Load() > 4 || hangs.most.Load() < 2 {
			t.Errorf("%d were told at a time, want up to 4", hangs.most.Load())
		}
		if n := waiting.failed.Load(); n == 0 || n > 8 {
			t.Errorf("%d are written down as failed; the others were never tried", n)
		}
		c, err := s.ledger.TakeLease(t.Context(), "second", time.Second)
		if err != nil {
			t.Errorf("the lease is still held: %v", err)
		}
		_ = c
	})
}
