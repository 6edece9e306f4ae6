package protocol

import (
	"fmt"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Take decides whether holder may take the lease that stands as present. It may when the
// lease is free, has ended, or is its own; each taking raises the epoch, so that what the
// holder before still writes is refused.
func Take(present reconcile.Lease, holder string, now time.Time, ttl time.Duration) (reconcile.Lease, error) {
	if holder == "" || ttl <= 0 {
		return reconcile.Lease{}, fmt.Errorf("take lease as %q for %s: a holder and a positive time are needed", holder, ttl)
	}
	//guard:lease-held live
	//guard:lease-clock live
	if present.Holder != "" && present.Holder != holder && present.Until.After(now) && !Ahead(present.At, now) {
		return reconcile.Lease{}, &reconcile.HeldError{Holder: present.Holder, Until: present.Until}
	}
	return reconcile.Lease{Holder: holder, Epoch: present.Epoch + 1, Until: now.Add(ttl), At: now}, nil
}

// Ahead reports whether a moment that was written down lies in the future, by more than
// what the clocks of two processes differ: the clock was set back since. Nobody waits for
// what was to end by such a clock; a holder that lives is fenced.
func Ahead(at, now time.Time) bool { return at.Sub(now) > 5*time.Second }

// Same reports whether l is the taking that stands as present, ended or not: nobody has
// taken over since. No taking has epoch 0, so a worker's lease is never the one.
func Same(present, l reconcile.Lease) bool {
	return present.Holder != "" && present.Holder == l.Holder && present.Epoch == l.Epoch
}

// Fence refuses a write under l unless it stands: nobody took over and it has not ended.
func Fence(present, l reconcile.Lease, now time.Time) error {
	//guard:fence-time once
	//guard:fence-holder once
	if Same(present, l) && present.Until.After(now) {
		return nil
	}
	return Fenced(l)
}

// FenceWork is Fence for what a worker may do as well. A worker needs a name: a claim of
// nobody is a free one.
func FenceWork(present, l reconcile.Lease, now time.Time) error {
	if l.Worker() {
		return CheckWorker(l)
	}
	return Fence(present, l, now)
}

// FenceLate is FenceWork for what was done already: to write it down is good enough for as
// long as nobody has taken over.
func FenceLate(present, l reconcile.Lease) error {
	if l.Worker() {
		return CheckWorker(l)
	}
	//guard:fence-late once
	if Same(present, l) {
		return nil
	}
	return Fenced(l)
}

// CheckWorker refuses a worker without a name.
func CheckWorker(l reconcile.Lease) error {
	if l.Holder == "" {
		return Fenced(l)
	}
	return nil
}

// Fenced is the refusal of a write under a lease that no longer stands, or never was one.
func Fenced(l reconcile.Lease) error {
	if l.Worker() {
		return fmt.Errorf("worker %q without the pass lease: %w", l.Holder, reconcile.ErrFenced)
	}
	return fmt.Errorf("lease of %s, epoch %d: %w", l.Holder, l.Epoch, reconcile.ErrFenced)
}

// CheckInstallation refuses a ledger that another installation stamped.
func CheckInstallation(stamped, mine string) error {
	//guard:installation P1
	if stamped == mine {
		return nil
	}
	return fmt.Errorf("the ledger belongs to installation %q, this is %q: "+
		"give each installation its own database, or set `installation: %s`", stamped, mine, stamped)
}

// CheckSigned refuses an operator's request that does not say who and why.
func CheckSigned(author, reason string) error {
	if strings.TrimSpace(author) == "" || strings.TrimSpace(reason) == "" {
		return fmt.Errorf("an author and a reason are needed, got author %q and reason %q", author, reason)
	}
	return nil
}
