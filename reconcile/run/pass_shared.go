package run

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// Pass runs one pass and leaves to the queue what it calls for: any process may do it, with
// a [Worker]. It waits for nobody: who holds the pass lease is told by a [HeldError]. When
// a pass that covers this one began less than apart ago there is nothing to do: the result
// is nil, and so is the error. A quick pass of a small fleet lists everything, see [Reconciler.Small].
func (k *Reconciler) Pass(ctx context.Context, kind reconcile.PassKind, apart time.Duration, pushed ...reconcile.Ref,
) (*Result, error) {
	in := *k
	in.pushed, k = pushed, &in
	if done, err := covered(ctx, k.Ledger, kind, apart); done || err != nil {
		return nil, err
	}
	ctx, end := k.span(ctx, "pass", slog.String("kind", string(kind)))
	r, err := k.passAlone(ctx, kind, apart)
	end(err, r.numbered()...)
	if r != nil {
		k.deliver(ctx, leftoverTime)
	}
	return r, err
}

// passAlone makes the pass under the lease.
func (k *Reconciler) passAlone(ctx context.Context, kind reconcile.PassKind, apart time.Duration) (*Result, error) {
	lease, err := k.Ledger.TakeLease(ctx, k.Holder, leaseTTL)
	if err != nil {
		return nil, err
	}
	held, drop := k.leaseholder().hold(ctx, lease)
	defer drop()
	done, err := covered(ctx, k.Ledger, kind, apart) // asked again: the holder before may have made one
	if done || err != nil {
		return nil, err
	}
	k.lists = k.listsToo(kind, apart)
	r, err := k.pass(held.watch, lease, kind) //nolint:contextcheck // both contexts are made from ctx
	if err != nil {
		return nil, cause(held.watch, err) //nolint:contextcheck // made from ctx
	}
	k.Standing.keep(k, r.result)
	return r.result, cause(held.watch, r.hand(held.watch)) //nolint:contextcheck // made from ctx
}

// covered reports whether a pass of this kind, or a full one, began recently and ended.
func covered(ctx context.Context, passes reconcile.Passes, kind reconcile.PassKind, apart time.Duration) (bool, error) {
	began, now, err := passes.LastBegan(ctx, kind)
	if err != nil {
		return false, fmt.Errorf("read when the last %s pass began: %w", kind, err)
	}
	ago := now.Sub(began) // below 0 when the clock was set back: then nothing is known
	return !began.IsZero() && ago >= 0 && ago < apart, nil
}

// hand gives the queue what is to be done now.
func (r *executor) hand(ctx context.Context) error {
	probes, err := r.reserved(ctx)
	if err != nil {
		return err
	}
	work := reconcile.Work{Remedies: r.remedies(), Probes: probes}
	if work.Empty() {
		return nil
	}
	if err := r.k.Queue.Kick(ctx, work); err != nil {
		return fmt.Errorf("hand on %d remedies and %d probes, the next pass does it: %w",
			len(work.Remedies), len(work.Probes), err)
	}
	return nil
}

// remedies are the remedies with a step that somebody may do now, those that were planned
// before first. A remedy that nobody has begun waits until a pass calls for it.
func (r *executor) remedies() []string {
	open := slices.Concat(r.view.S.Memory.Actions, r.result.Plan.Actions)
	incidents := reconcile.Controls{Incidents: r.result.Judged.Incidents}
	wait := map[string]bool{}
	for i := range open {
		a := &open[i]
		if a.Seq == 0 && !a.Begun() && !a.Asked() && !r.due[a.ID] || slices.Contains(r.result.Plan.Withdrawn, a.ID) {
			wait[a.Remedy] = true
		}
	}
	var out []string
	for i := range open {
		a := &open[i]
		held := !a.Begun() && len(a.Incidents(&incidents)) > 0
		if !held && !wait[a.Remedy] && !a.NextAttempt.After(r.now) {
			out = reconcile.AppendNew(out, a.Remedy)
		}
	}
	return out
}

// reserved are the sandboxes to be probed now, as far as the budget goes.
func (r *executor) reserved(ctx context.Context) ([]reconcile.Ref, error) {
	var out []reconcile.Ref
	for _, name := range r.probing() {
		p := r.policy.Providers[name].Probe
		due := r.dueProbes(name, p)
		got, err := r.reserve(ctx, name, len(due), p.Budget)
		if err != nil {
			return nil, err
		}
		for i := range due[:got] {
			out = append(out, due[i].Ref)
		}
	}
	return out, nil
}
