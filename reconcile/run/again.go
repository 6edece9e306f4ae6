package run

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/decide"
)

// A Standing is what the quick passes of a process keep of a large fleet's rows, see [decide.Standing]. The zero
// Standing keeps nothing yet.
type Standing struct {
	mu    sync.Mutex // two passes of one process are never under way, but for one that lost its lease and hangs
	large bool       // as the last pass found
	rests int        // how many passes read everybody as before
	since time.Time  // the ledger's now when all was recalled that it goes on from
	kept  decide.Standing
	made  atomic.Pointer[workerView] // by the newest pass, see [Standing.keep]
}

// Recalling is the part of some [reconcile.Ledger] that tells what is remembered otherwise than at its last time.
type recalling interface {
	// Anew recalls all of it, and takes nothing from the last time.
	RecallAgain(ctx context.Context, anew bool) (reconcile.Memory, *reconcile.Recalled, error)
}

// Comparing is the part of some [reconcile.Tasks] that reads the live rows that are not as they were at a reading
// before, and keeps those that are not left out. Done is false where everybody has to be read.
type comparing interface {
	LiveAgain(ctx context.Context, before reconcile.RowsBefore, plain func(*reconcile.Task) bool,
	) (rows reconcile.Rows, done bool, err error)
}

// restsAgain is for how many passes everybody is read as before after one that could not ask for what has changed.
const restsAgain = 20

// recall recalls the ledger: in quick passes of a large fleet what has changed since the last. A full pass recalls all
// of it, and lets nothing stand: so whatever could be wrong of what stands is right again by then. Where other
// processes make the full passes, or each fails, a quick one lets nothing stand after as long as lies between two.
func (k observer) recall(ctx context.Context, kind reconcile.PassKind) (reconcile.Memory, error) {
	st := k.Standing
	again, can := k.Ledger.(recalling)
	if !can || !k.compares() {
		return k.Ledger.Recall(ctx)
	}
	if !st.mu.TryLock() {
		return k.Ledger.Recall(ctx)
	}
	defer st.mu.Unlock()
	//guard:standing-anew harm
	if kind == reconcile.Full || !st.large || st.rests > 0 {
		st.kept.Forget()
		m, err := k.Ledger.Recall(ctx)
		st.large, st.rests = err == nil && k.large(m.Tasks.Len()), max(st.rests-1, 0)
		return m, err
	}
	anew := !st.kept.Knows()
	m, recalled, err := again.RecallAgain(ctx, anew)
	age := m.Now.Sub(st.since)
	//guard:standing-aged harm
	if err == nil && !anew && (age < 0 || age >= k.Policy.Full) {
		anew = true
		m, recalled, err = again.RecallAgain(ctx, anew)
	}
	if anew {
		st.since = m.Now
	}
	//guard:recall-again-failed harm
	if err != nil && ctx.Err() == nil {
		st.kept.Forget()
		st.rests = restsAgain
		k.Log.WarnContext(ctx, "what has changed in the ledger cannot be recalled alone: all of it is", "err", err)
		return k.Ledger.Recall(ctx)
	}
	st.large = err == nil && k.large(m.Tasks.Len())
	st.kept.Recalled(recalled)
	return m, err
}

// compares reports whether this is a pass, and not a look, that may ask for what has changed.
func (k observer) compares() bool {
	_, can := k.Tasks.(comparing)
	return can && k.Standing != nil && k.turn != 0
}

// observeAgain is observe for a quick pass of a large fleet, by what has changed since the last one. Done is false
// where everybody has to be read, tried where that is to be done at once.
func (k observer) observeAgain(ctx context.Context, s *reconcile.Snapshot,
) (j *decide.Judgement, done, tried bool, err error) {
	again, can := k.Tasks.(comparing)
	if !can || s.Kind != reconcile.Quick || !k.compares() || !k.sieves(s, 0) || !k.Standing.mu.TryLock() {
		return nil, false, false, nil
	}
	defer k.Standing.mu.Unlock()
	st := k.Standing
	sieve := decide.NewSieveAgain(s, &k.Policy, &st.kept)
	if sieve == nil {
		return nil, false, false, nil
	}
	k.progress("reading tasks")
	some := unread(*s)
	rows, done, err := again.LiveAgain(ctx, sieve, sieve.Plain)
	if !done || err != nil || !sieve.Ended(rows.Now) {
		st.kept.Forget()
		st.rests = restsAgain
		if err != nil && ctx.Err() == nil {
			k.Log.WarnContext(ctx, "rows that have changed cannot be read alone: everybody is read", "err", err)
		}
		return nil, false, false, nil
	}
	take(some, rows.Tasks)
	some.Plain = sieve.Rows()
	inOrder(some, nil)
	if j, err = k.look(ctx, some); err != nil {
		return nil, false, true, err
	}
	if k.acts {
		return j, sieve.Stands(j), true, nil // who acts on it at once acts on all rows
	}
	return j, sieve.StandsDue(j), true, nil
}
