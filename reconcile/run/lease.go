package run

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A leaseholder takes the pass lease and keeps it while a pass is made.
type leaseholder struct {
	leases   reconcile.Leases
	name     string
	log      *slog.Logger
	progress func(stage string)
}

func (k *Reconciler) leaseholder() leaseholder {
	return leaseholder{k.Ledger, k.Holder, k.Log, k.progress}
}

// take takes the pass lease, waiting for a holder that is about to finish.
func (h leaseholder) take(ctx context.Context, wait time.Duration) (reconcile.Lease, error) {
	deadline := time.Now().Add(wait)
	for {
		lease, err := h.leases.TakeLease(ctx, h.name, leaseTTL)
		if err == nil || !errors.Is(err, reconcile.ErrHeld) || !time.Now().Before(deadline) {
			return lease, err
		}
		h.progress("waiting for the pass lease")
		if err := reconcile.Sleep(ctx, 500*time.Millisecond); err != nil {
			return reconcile.Lease{}, err
		}
	}
}

// leases are the contexts of a process that holds the lease. Both end when it is lost.
type leases struct {
	watch context.Context // ends with the caller's: for looking
	work  context.Context // outlives it by a grace: what was begun outside is finished
}

// hold renews the lease until drop is called. When it is lost nothing more is begun:
// this process was declared dead.
func (h leaseholder) hold(ctx context.Context, lease reconcile.Lease) (held leases, drop func()) {
	watch, endWatch := context.WithCancelCause(ctx)
	work, endWork := context.WithCancelCause(context.WithoutCancel(ctx))
	noGrace := context.AfterFunc(ctx, func() {
		if reconcile.Sleep(work, stopGrace) == nil {
			endWork(context.Cause(ctx))
		}
	})
	end := func(why error) {
		endWatch(why)
		endWork(why)
	}
	var wg sync.WaitGroup
	wg.Go(func() { h.renew(work, lease, end) })
	return leases{watch, work}, func() {
		noGrace()
		end(nil)
		wg.Wait()
		last, stop := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
		defer stop()
		if err := h.leases.DropLease(last, lease); err != nil && !errors.Is(err, reconcile.ErrFenced) {
			h.log.WarnContext(last, "lease not dropped, it ends by itself", "err", err)
		}
	}
}

// renew extends the lease until ctx ends, and ends everything when it is lost or could not
// be renewed in time.
func (h leaseholder) renew(ctx context.Context, lease reconcile.Lease, end func(error)) {
	ends := time.Now().Add(leaseTTL)
	for reconcile.Sleep(ctx, leaseRenew) == nil {
		next := time.Now().Add(leaseTTL)
		asking, cancel := context.WithTimeout(ctx, leaseRenew/2) // one that hangs leaves time for another
		err := h.leases.RenewLease(asking, lease, leaseTTL)
		cancel()
		if err == nil {
			ends = next
		}
		if errors.Is(err, reconcile.ErrFenced) || !time.Now().Before(ends) {
			end(fmt.Errorf("renew the pass lease: %w", errors.Join(reconcile.ErrFenced, err)))
		}
	}
}
