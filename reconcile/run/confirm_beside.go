package run

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// When many are confirmed beside those that are still being ended. A listing costs as many calls as some ends.
const (
	besideMost  = 1000 // so many wait,
	besideFleet = 10   // and more than one of so many sandboxes
	besideLooks = 100 * time.Millisecond
)

// goneAtOnce is how many are written down at once: what is locked for it keeps others waiting.
const goneAtOnce = 100

// besidePays reports whether a listing of so many sandboxes is worth it while some are still to be ended.
func besidePays(waiting, fleet int) bool { return waiting >= max(besideMost, fleet/besideFleet) }

// actAndConfirm acts, and confirms of many those that are gone already while the others are being ended.
func (r *executor) actAndConfirm(held leases) error {
	ended, acted := context.WithCancel(held.watch)
	confirmed := make(chan error, 1)
	go func() { confirmed <- r.confirmer().confirmBeside(held.watch, ended) }()
	err := r.act(held.work)
	acted()
	return errors.Join(err, <-confirmed)
}

// confirmBeside confirms by listings until all are ended. One that is read then is read to its end.
func (r confirmer) confirmBeside(ctx, ended context.Context) error {
	var errs []error
	read := map[string]time.Time{}
	for reconcile.Sleep(ended, besideLooks) == nil {
		ends := map[string][]reconcile.Action{}
		for _, a := range r.accepted() {
			if a.Step == reconcile.StepTerminate {
				ends[a.Provider] = append(ends[a.Provider], a)
			}
		}
		for _, name := range reconcile.SortedKeys(ends) {
			waiting := ends[name]
			if time.Since(read[name]) < rollHolds || !besidePays(len(waiting), r.fleet()) ||
				!r.listingPays(name, len(waiting)) {
				continue
			}
			_, err := r.confirmTold(ctx, name, waiting)
			errs, read[name] = append(errs, err), time.Now()
		}
	}
	return errors.Join(errs...)
}

// fleet is how many sandboxes the ledger remembers.
func (r *executor) fleet() int { return r.view.S.Memory.Sandboxes.Len() }

// confirmTold lists the provider once, and confirms those that are gone by it. Of the others it settles nothing.
func (r confirmer) confirmTold(ctx context.Context, provider string, waiting []reconcile.Action) (told, error) {
	ctx = reconcile.InLane(ctx, reconcile.LaneAction)
	said := told{looks: map[reconcile.Ref]reconcile.Lookup{}}
	r.settleListed(ctx, provider, waiting, &said)
	gone := slices.DeleteFunc(r.confirmGone(ctx, waiting, said), func(a reconcile.Action) bool {
		return !r.overBy(ctx, a, said)
	})
	return said, errors.Join(inParallel(gone, r.k.parallel(view.Lookers), func(a reconcile.Action) error {
		after, err := r.confirmAction(ctx, a, said)
		r.keep(after)
		return err
	})...)
}

// overBy reports whether the listing alone tells that the action is over.
func (r confirmer) overBy(ctx context.Context, a reconcile.Action, said told) bool {
	_, tells := said.looks[reconcile.Ref{Provider: a.Provider, ID: a.Sandbox}]
	return tells && r.confirmBy(ctx, a, said).Outcome.Closed()
}

// confirmGone writes down together which of these are over by what was listed, and returns the others. Whose task
// somebody is to be told of is left to be confirmed by itself, and what could not be written down so.
func (r confirmer) confirmGone(ctx context.Context, waiting []reconcile.Action, said told) (others []reconcile.Action) {
	var gone []string
	for _, a := range waiting {
		if a.Step == reconcile.StepTerminate && !(r.k.announces() && a.Task != "") && r.overBy(ctx, a, said) {
			gone = append(gone, a.ID)
		}
	}
	written := map[string]bool{}
	for part := range slices.Chunk(gone, goneAtOnce) {
		confirmed, err := r.writeGone(ctx, part)
		for _, a := range confirmed {
			written[a.ID] = true
		}
		if err != nil && ctx.Err() != nil {
			break // who is told to stop does not wait for a ledger that hangs, part by part
		}
	}
	for _, a := range waiting {
		if !written[a.ID] {
			others = append(others, a)
		}
	}
	return others
}

// writeGone confirms these at once, and returns those that it did.
func (r confirmer) writeGone(ctx context.Context, ids []string) ([]reconcile.Action, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
	defer cancel()
	confirmed, err := r.actions.Confirm(ctx, r.lease, ids)
	if err != nil {
		r.k.Log.DebugContext(ctx, "confirmed one by one", "actions", len(ids), "err", err)
	}
	for _, a := range confirmed {
		r.keep(a)
		r.k.Log.LogAttrs(ctx, slog.LevelInfo, "action "+string(a.Outcome), actionTold(&a)...)
	}
	return confirmed, err
}
