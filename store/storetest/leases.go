package storetest

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// leases say who may run passes.
var leases = map[string]func(*bench){
	"a held lease is refused with its holder and end": func(b *bench) {
		_, err := b.TakeLease(b.Context(), "two", time.Minute)
		var held *reconcile.HeldError
		if !errors.As(err, &held) || held.Holder != "one" || !held.Until.Equal(noon.Add(24*time.Hour)) {
			b.Errorf("error = %v, want held by one until a day later", err)
		}
		b.refused(err, reconcile.ErrHeld, "pass lease held by one until 2026-11-22 12:00:00 UTC")
	},
	"a lease stands until just before its end": func(b *bench) {
		b.must(b.RenewLease(b.Context(), b.lease, time.Minute))
		b.clock.move(time.Minute - time.Microsecond)
		_, err := b.TakeLease(b.Context(), "two", time.Minute)
		b.refused(err, reconcile.ErrHeld, "held by one")
		b.begin()
	},
	"a lease that ended is taken over, with a higher epoch": func(b *bench) {
		b.must(b.RenewLease(b.Context(), b.lease, time.Minute))
		b.clock.move(time.Minute)
		second := b.take("two")
		if second.Epoch <= b.lease.Epoch {
			b.Errorf("epoch = %d, want more than %d", second.Epoch, b.lease.Epoch)
		}
	},
	"a lease that ended writes no more, though nobody took it": func(b *bench) {
		b.must(b.RenewLease(b.Context(), b.lease, time.Minute))
		for _, later := range []time.Duration{time.Minute, time.Microsecond} {
			b.clock.move(later)
			_, err := b.BeginPass(b.Context(), b.lease, reconcile.Quick, noon)
			b.refused(err, reconcile.ErrFenced, "lease of one")
			b.refused(b.RenewLease(b.Context(), b.lease, time.Minute), reconcile.ErrFenced, "renew")
		}
	},
	"renewing moves the end from now": func(b *bench) {
		b.must(b.RenewLease(b.Context(), b.lease, time.Minute))
		b.clock.move(30 * time.Second)
		b.must(b.RenewLease(b.Context(), b.lease, time.Minute))
		b.clock.move(59 * time.Second)
		b.begin()
	},
	"a holder that starts again takes its own lease at once": func(b *bench) {
		again := b.take("one")
		if again.Epoch != b.lease.Epoch+1 {
			b.Errorf("epoch = %d, want %d", again.Epoch, b.lease.Epoch+1)
		}
		_, err := b.BeginPass(b.Context(), b.lease, reconcile.Quick, noon)
		b.refused(err, reconcile.ErrFenced, "epoch 1")
	},
	"a dropped lease is free at once and is no use any more": func(b *bench) {
		b.must(b.DropLease(b.Context(), b.lease))
		_, err := b.BeginPass(b.Context(), b.lease, reconcile.Quick, noon)
		b.refused(err, reconcile.ErrFenced, "lease of one")
		if second := b.take("two"); second.Epoch <= b.lease.Epoch {
			b.Errorf("epoch after a drop = %d, want more than %d", second.Epoch, b.lease.Epoch)
		}
	},
	"one of many takers gets the lease": func(b *bench) {
		b.must(b.DropLease(b.Context(), b.lease))
		var taken atomic.Int32
		together(20, func(i int) {
			_, err := b.TakeLease(b.Context(), string(rune('a'+i)), time.Minute)
			if err == nil {
				taken.Add(1)
			} else if !errors.Is(err, reconcile.ErrHeld) {
				b.Errorf("taker %d: %v", i, err)
			}
		})
		if taken.Load() != 1 {
			b.Errorf("%d takers got the lease, want 1", taken.Load())
		}
	},
	"a lease without a holder or a time is refused": func(b *bench) {
		b.must(b.DropLease(b.Context(), b.lease))
		if _, err := b.TakeLease(b.Context(), "", time.Minute); err == nil {
			b.Error("a lease without a holder was given")
		}
		if _, err := b.TakeLease(b.Context(), "one", 0); err == nil {
			b.Error("a lease without a time was given")
		}
	},
	"a canceled caller changes nothing": func(b *bench) {
		ctx, cancel := context.WithCancel(b.Context())
		cancel()
		if _, err := b.BeginPass(ctx, b.lease, reconcile.Quick, noon); err == nil {
			b.Error("a canceled caller began a pass")
		}
		if _, err := b.Recall(ctx); err == nil {
			b.Error("a canceled caller recalled")
		}
	},
}

// fences are the writes that a lost lease may not make. Each is tried by the holder, which
// may, and by the holder before, which may not.
var fences = map[string]func(*bench){
	"every write is refused once another has taken over, and changes nothing": func(b *bench) {
		pass := b.begin()
		b.plan(orphan("a"), orphan("b"))
		a := b.claimed("a")
		lost := b.lease
		b.must(b.DropLease(b.Context(), lost))
		b.lease = b.take("two")
		before := b.recall()
		for name, write := range writes(b, lost, pass, a) {
			b.refused(write(), reconcile.ErrFenced, "")
			b.equal("memories after the refused "+name, b.recall(), before)
		}
	},
	"every write is good while the lease stands": func(b *bench) {
		pass := b.begin()
		b.plan(orphan("a"), orphan("b"))
		a := b.claimed("a")
		w := writes(b, b.lease, pass, a)
		for _, name := range []string{
			"renew claim", "settle", "claim", "save probes", "reserve probes", "record", "begin pass", "renew lease",
			"drop lease",
		} {
			if err := w[name](); err != nil {
				b.Errorf("%s: %v", name, err)
			}
			delete(w, name)
		}
		if len(w) > 0 {
			b.Errorf("not tried: %d writes", len(w))
		}
	},
	"two that write with the same lease do not hold each other up": func(b *bench) {
		together(10, func(int) {
			if _, err := b.ReserveProbes(b.Context(), b.lease, "daytona", 1, 100); err != nil {
				b.Error(err)
			}
			if err := b.RenewLease(b.Context(), b.lease, time.Hour); err != nil {
				b.Error(err)
			}
		})
	},
}

// writes are all the writes of a ledger, by name.
func writes(b *bench, l reconcile.Lease, pass int64, a reconcile.Action) map[string]func() error {
	ctx := b.Context()
	a.Outcome = reconcile.OutcomePending
	return map[string]func() error{
		"renew lease": func() error { return b.RenewLease(ctx, l, time.Hour) },
		"drop lease":  func() error { return b.DropLease(ctx, l) },
		"begin pass": func() error {
			_, err := b.BeginPass(ctx, l, reconcile.Full, noon)
			return err
		},
		"record": func() error {
			r := reconcile.Record{Pass: pass, Complete: true, Tasks: []reconcile.TaskSeen{{ID: "x", Live: true}}}
			return b.Record(ctx, l, r)
		},
		"claim": func() error {
			_, err := b.Claim(ctx, l, wide("b"))
			return err
		},
		"renew claim": func() error { return b.RenewClaim(ctx, l, a, time.Hour) },
		"settle":      func() error { return b.Settle(ctx, l, a) },
		"save probes": func() error {
			return b.SaveProbes(ctx, l, []reconcile.ProbeResult{{Ref: ref("sb-1"), Outcome: reconcile.Hung, At: noon}})
		},
		"reserve probes": func() error {
			_, err := b.ReserveProbes(ctx, l, "daytona", 1, 10)
			return err
		},
	}
}

func ref(id string) reconcile.Ref { return reconcile.Ref{Provider: "daytona", ID: id} }

// together runs do n times at once and waits for all.
func together(n int, do func(i int)) {
	var all sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		all.Go(func() {
			<-start
			do(i)
		})
	}
	close(start)
	all.Wait()
}
