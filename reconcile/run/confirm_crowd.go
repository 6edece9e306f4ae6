package run

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// How the jobs of one process confirm what many of them ended at once.
const (
	rollHolds = 4 * time.Second  // how long a listing does for all of them
	rollAfter = 3 * time.Second  // when a job looks again: no job waits for it, others work meanwhile
	rollStays = time.Minute      // how long one job stays and looks for all of them, while others act
	rollRests = 30 * time.Second // and when none acts any more
	rollCares = 30 * time.Second // when the others look again meanwhile: what it did not live to do is theirs
)

// rolls are the listings that jobs share, by provider: each job of a crowd would else get its own sandbox again and
// again until that is gone.
type rolls struct {
	acting atomic.Int64 // jobs of this process that are ending something, at any provider

	mu sync.Mutex
	of map[string]*roll
}

// A roll is what a listing said last of the terminations that waited when it was read.
type roll struct {
	turn   chan struct{} // holds one while a job reads or asks it
	stays  atomic.Bool   // a job stays, and looks for all
	read   time.Time     // by this process's clock
	called map[reconcile.Ref]bool
	said   told // of those called; which it leaves out has to be got
}

func (s *rolls) at(provider string) *roll {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of == nil {
		s.of = map[string]*roll{}
	}
	if s.of[provider] == nil {
		s.of[provider] = &roll{turn: make(chan struct{}, 1)}
	}
	return s.of[provider]
}

// A crowd is how the terminations at a provider stand that the ledger knows and that are not over.
type crowd struct {
	accepted []reconcile.Action // by the provider: they wait to be confirmed
	coming   int                // they are still to be asked for
}

func crowdAt(provider string, open []reconcile.Action) (c crowd) {
	for i := range open {
		switch o := &open[i]; {
		case o.Step != reconcile.StepTerminate || o.Provider != provider:
		case o.Outcome == reconcile.OutcomeAccepted:
			c.accepted = append(c.accepted, *o)
		default:
			c.coming++
		}
	}
	return c
}

// crowd is how many terminate at the provider of these steps; none where a listing would cost more than it tells, or
// does not tell.
func (w *Worker) crowd(ctx context.Context, r *executor, steps []reconcile.Action) (is bool) {
	a := &steps[0]
	if len(steps) > 1 || a.Step != reconcile.StepTerminate {
		return false
	}
	open, err := w.openRecently(ctx)
	if err != nil {
		return false
	}
	c := crowdAt(a.Provider, open)
	return r.confirmer().crowdPays(a.Provider, len(c.accepted)+c.coming)
}

// crowdPays is listingPays of who has no listing: what the ledger remembers stands for it.
func (r confirmer) crowdPays(provider string, waiting int) bool {
	p, configured := r.k.Providers[provider]
	return configured && reconcile.CapabilitiesOf(p).ListsEnding && waiting > listedFrom &&
		waiting > r.fleet()/listedShare
}

// confirmCrowd looks whether a termination is confirmed, by a listing that all jobs share, and says when to look again.
// What was accepted just now is not looked at: one of those who asked for such stays, and looks for all.
func (w *Worker) confirmCrowd(ctx context.Context, r *executor, a *reconcile.Action) (again time.Duration, err error) {
	at := w.rolls.at(a.Provider)
	switch {
	case r.acted() && r.k.Parallel == 1:
		return max(r.next(), rollAfter), nil
	case r.acted() && at.stays.CompareAndSwap(false, true):
		defer at.stays.Store(false)
		return rollCares, w.stay(ctx, at, a.Provider, r.fleet())
	case r.acted():
		return rollCares, nil
	case r.confirmer().overdue(a, r.now): // who looks for all leaves it out, and it waits for nobody's listing
		return r.confirmAlone(ctx, told{})
	case at.stays.Load():
		return rollCares, nil
	}
	if err := w.rollCall(ctx, at, a); err != nil {
		return rollAfter, err
	}
	open, err := w.actions.OpenActions(ctx, a.Remedy)
	if err != nil || len(open) == 0 { // who read the listing settled it for all
		return 0, err
	}
	return r.confirmAlone(ctx, w.toldOf(ctx, at, a))
}

// confirmAlone looks at what one job waits for, by what a listing said, and says when to look again.
func (r *executor) confirmAlone(ctx context.Context, said told) (again time.Duration, err error) {
	_, err = r.confirmer().confirmAll(ctx, func([]reconcile.Action) told { return said })
	if again = r.next(); again > 0 {
		again = max(again, rollAfter)
	}
	return again, err
}

// stay looks for all jobs of the crowd: where very many wait while others act, and when nobody acts any more, until
// none waits.
func (w *Worker) stay(ctx context.Context, at *roll, provider string, fleet int) error {
	rested, wait := 0, besideLooks
	for until := time.Now().Add(rollStays); time.Now().Before(until); {
		if reconcile.Sleep(ctx, wait) != nil {
			return nil
		}
		if w.rolls.acting.Load() > 0 {
			rested, wait = 0, besideLooks
			if err := w.rollBeside(ctx, at, provider, fleet); err != nil {
				return err
			}
			continue
		}
		switch rested++; rested {
		case 1:
			continue // the next one may just be taken from the queue
		case 2:
			until = time.Now().Add(rollRests)
		}
		left, err := w.rollAtRest(ctx, at, provider)
		if err != nil || left == 0 {
			return err
		}
		wait = min(2*wait, rollHolds)
	}
	return nil
}

// rollBeside reads the listing while some are still to be ended, where that is worth it.
func (w *Worker) rollBeside(ctx context.Context, at *roll, provider string, fleet int) error {
	open, err := w.openRecently(ctx)
	if err != nil {
		return err
	}
	if c := crowdAt(provider, open); !besidePays(len(c.accepted), fleet) {
		return nil
	}
	if !at.take(ctx) {
		return nil
	}
	defer at.leave()
	if time.Since(at.read) < rollHolds {
		return nil
	}
	_, err = w.call(ctx, at, provider)
	return err
}

// rollAtRest looks at all that wait, by a listing or, of few, at each, and returns how many are left.
func (w *Worker) rollAtRest(ctx context.Context, at *roll, provider string) (left int, err error) {
	if !at.take(ctx) {
		return 0, nil
	}
	defer at.leave()
	return w.call(ctx, at, provider)
}

// rollCall reads the listing for a job that looks again, unless that was done a moment ago.
func (w *Worker) rollCall(ctx context.Context, at *roll, a *reconcile.Action) error {
	if !at.take(ctx) {
		return context.Cause(ctx)
	}
	defer at.leave()
	if time.Since(at.read) < rollHolds {
		return nil
	}
	_, err := w.call(ctx, at, a.Provider)
	return err
}

func (l *roll) take(ctx context.Context) bool {
	select {
	case l.turn <- struct{}{}:
		return true
	case <-ctx.Done():
		return false
	}
}

func (l *roll) leave() { <-l.turn }

// toldOf is what the shared listing says of one. What was accepted after it was read waits for the next one.
func (w *Worker) toldOf(ctx context.Context, at *roll, a *reconcile.Action) told {
	ref := reconcile.Ref{Provider: a.Provider, ID: a.Sandbox}
	out := told{looks: map[reconcile.Ref]reconcile.Lookup{}}
	if !at.take(ctx) {
		out.looks[ref] = unsettled
		return out
	}
	defer at.leave()
	look, tells := at.said.looks[ref]
	switch {
	case tells:
		out.at, out.looks[ref] = at.said.at, look
	case !at.called[ref]:
		out.looks[ref] = unsettled
	}
	return out
}

// call looks at all that wait at the provider, and confirms for all jobs what is gone: by a listing, or each where few
// wait. What waits for too long is left to its own job.
func (w *Worker) call(ctx context.Context, at *roll, provider string) (left int, err error) {
	open, err := w.actions.OpenActions(ctx)
	if err != nil {
		return 0, fmt.Errorf("read the open actions: %w", err)
	}
	accepted := crowdAt(provider, open).accepted
	r, err := w.begin(ctx, accepted)
	if err != nil {
		return 0, err
	}
	c := r.confirmer()
	waiting := slices.DeleteFunc(accepted, func(a reconcile.Action) bool {
		return c.overdue(&a, r.now)
	})
	if len(waiting) == 0 {
		return 0, nil
	}
	_ = reconcile.Sleep(ctx, settling(waiting, r.now)) // who is told to stop looks once more
	for i := range waiting {
		r.keep(waiting[i])
	}
	defer func() {
		if r.news.Load() {
			r.k.deliver(ctx, tellingTime)
		}
	}()
	looking := reconcile.InLane(ctx, reconcile.LaneAction)
	at.called, at.said = map[reconcile.Ref]bool{}, told{}
	for i := range waiting {
		at.called[reconcile.Ref{Provider: provider, ID: waiting[i].Sandbox}] = true
	}
	defer func() { at.read = time.Now() }() // also of few, each of which was got: the jobs of the others need not
	if !c.crowdPays(provider, len(waiting)) {
		return c.confirmAll(looking, func([]reconcile.Action) told { return told{} })
	}
	at.said, err = c.confirmTold(looking, provider, waiting)
	return len(c.accepted()), err
}
