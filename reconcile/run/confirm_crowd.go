package run

import (
	"context"
	"sync"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// How the jobs of one process confirm what many of them ended at once.
const (
	rollHolds = 4 * time.Second // how long a listing does for all of them
	rollAfter = 3 * time.Second // when a job looks again: no job waits for it, others work meanwhile
)

// rolls are the listings that jobs share, by provider: each job of a crowd would else get its own sandbox again and
// again until that is gone.
type rolls struct {
	mu sync.Mutex
	of map[string]*roll
}

// A roll is what a listing said last of the terminations that waited when it was read.
type roll struct {
	turn   chan struct{} // holds one while a job reads or asks it
	read   time.Time     // by this process's clock
	called map[reconcile.Ref]bool
	looks  map[reconcile.Ref]reconcile.Lookup // of those called; which it leaves out has to be got
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

// crowd is of how many terminations at the provider of these steps the ledger knows that are not over, and which of
// them the provider has accepted; none where a listing would cost more than it tells, or does not tell.
func (w *Worker) crowd(ctx context.Context, r *executor, steps []reconcile.Action) (accepted []string, is bool) {
	a := &steps[0]
	p, configured := r.k.Providers[a.Provider]
	if len(steps) > 1 || a.Step != reconcile.StepTerminate || !configured || !reconcile.CapabilitiesOf(p).ListsEnding {
		return nil, false
	}
	open, err := w.openRecently(ctx)
	if err != nil {
		return nil, false
	}
	waiting := 0
	for i := range open {
		if o := &open[i]; o.Step == reconcile.StepTerminate && o.Provider == a.Provider {
			if waiting++; o.Outcome == reconcile.OutcomeAccepted {
				accepted = append(accepted, o.Sandbox)
			}
		}
	}
	return accepted, waiting > listedFrom && waiting > r.view.S.Memory.Sandboxes.Len()/listedShare
}

// confirmCrowd looks once whether a termination is confirmed, by a listing that all jobs share. What was accepted just
// now is not looked at.
func (w *Worker) confirmCrowd(ctx context.Context, r *executor, accepted []string) error {
	if r.acted() {
		return nil
	}
	_, err := r.confirmer().confirmAll(ctx, func(waiting []reconcile.Action) map[reconcile.Ref]reconcile.Lookup {
		return w.rollCall(ctx, r.confirmer(), waiting, accepted)
	})
	return err
}

// rollCall is what the shared listing says of these. What was accepted after it was read waits for the next one.
func (w *Worker) rollCall(ctx context.Context, r confirmer, waiting []reconcile.Action, accepted []string,
) map[reconcile.Ref]reconcile.Lookup {
	out := map[reconcile.Ref]reconcile.Lookup{}
	for i := range waiting {
		ref := reconcile.Ref{Provider: waiting[i].Provider, ID: waiting[i].Sandbox}
		at := w.rolls.at(ref.Provider)
		select {
		case at.turn <- struct{}{}: // who reads it does so for all
		case <-ctx.Done():
			out[ref] = reconcile.Lookup{Error: context.Cause(ctx).Error()}
			continue
		}
		if time.Since(at.read) >= rollHolds {
			at.call(ctx, r, ref.Provider, append([]string{ref.ID}, accepted...))
		}
		look, told := at.looks[ref]
		switch {
		case told:
			out[ref] = look
		case !at.called[ref]:
			out[ref] = reconcile.Lookup{Error: "the next listing tells"}
		}
		<-at.turn
	}
	return out
}

// call reads the listing.
func (l *roll) call(ctx context.Context, r confirmer, provider string, ids []string) {
	l.called, l.looks = map[reconcile.Ref]bool{}, map[reconcile.Ref]reconcile.Lookup{}
	for _, id := range ids {
		l.called[reconcile.Ref{Provider: provider, ID: id}] = true
	}
	r.settleListed(reconcile.InLane(ctx, reconcile.LaneAction), provider, ids, l.looks)
	l.read = time.Now()
}
