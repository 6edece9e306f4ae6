package run

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/decide"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// The times of a worker.
const (
	confirmFor = 2 * time.Second // how long a call stays with what it got accepted, and keeps others waiting
	keepFor    = 5 * time.Second // how long a shift is kept after it was asked for last
	soonest    = 500 * time.Millisecond
)

// A Worker carries out, in one process, what passes of any process have recorded. It needs
// no pass lease: each action is claimed for itself. Its methods may be called side by side.
type Worker struct {
	reconciler *Reconciler
	clock      reconcile.Clock
	passes     reconcile.Passes
	actions    reconcile.Actions
	stop       context.Context // ends when nothing more is to be begun

	results *probeBatch // of probes
	rolls   rolls
	logs    cleanUpLogs

	reading sync.Mutex
	open    []reconcile.Action // as they were when they were read last
	read    time.Time

	mu     sync.Mutex
	view   atomic.Pointer[workerView]
	forget *time.Timer // lets the shift go, which is as large as the fleet
}

// NewWorker makes a worker with the keeper's policy and providers. When stop ends it begins
// nothing more; what it has begun it finishes.
func NewWorker(stop context.Context, k *Reconciler) *Worker {
	return &Worker{reconciler: k, clock: k.Ledger, passes: k.Ledger, actions: k.Ledger, stop: stop,
		results: &probeBatch{send: func(ctx context.Context, r []reconcile.ProbeResult) error {
			return k.Ledger.SaveProbes(ctx, reconcile.WorkerLease(k.Holder), r)
		}}}
}

// A workerView is what a worker knows of the world: as it was recorded by the newest pass, with
// the live tasks of now. It is no pass: nothing of it is written, and each action looks
// again at its own subject in any case.
type workerView struct {
	pass   int64
	result *Result
	due    map[string]bool // actions that the newest pass calls for

	// Of what a pass of this process knows: when it was made, by this process's clock, and the remedies that begin with
	// a row, as the pass planned them.
	made time.Time
	rows map[string]bool
}

// Remedy works at the open steps of a remedy and looks until they are confirmed, for some
// seconds. again says when to call once more; 0 means that nothing is left to do, or that
// the next pass decides.
func (w *Worker) Remedy(ctx context.Context, id string) (again time.Duration, err error) {
	ctx, end := w.reconciler.span(ctx, "remedy", slog.String("remedy", id))
	defer func() { end(err) }()
	steps, err := w.actions.OpenActions(ctx, id)
	if err != nil {
		return 0, fmt.Errorf("read the open actions: %w", err)
	}
	if len(steps) == 0 {
		return 0, nil
	}
	r, err := w.act(ctx, id, steps)
	if r == nil {
		return 0, err
	}
	//nolint:contextcheck // outlives the call by design
	again, confirmed := w.confirm(carried{w.stop, ctx}, r, steps)
	if r.news.Load() {
		r.k.deliver(ctx, tellingTime)
	}
	return again, errors.Join(err, confirmed)
}

// act works at the open steps of a remedy. It returns no run where nothing was begun.
func (w *Worker) act(ctx context.Context, id string, steps []reconcile.Action) (*executor, error) {
	if slices.ContainsFunc(steps, func(a reconcile.Action) bool { return a.Outcome != reconcile.OutcomeAccepted }) {
		w.rolls.acting.Add(1)
		defer w.rolls.acting.Add(-1)
	}
	r, err := w.begin(ctx, steps)
	if err != nil {
		return nil, fmt.Errorf("work at remedy %s: %w", id, err)
	}
	return r, r.remedy(ctx, steps)
}

// confirm looks whether what was accepted is confirmed, for a moment or, where it is one of many, with these.
func (w *Worker) confirm(ctx context.Context, r *executor, steps []reconcile.Action) (again time.Duration, err error) {
	if len(r.confirmer().accepted()) > 0 && w.crowd(ctx, r, steps) {
		return w.confirmCrowd(ctx, r, &steps[0])
	}
	if r.acted() {
		r.until = time.Now().Add(confirmFor)
	}
	err = r.confirmer().confirm(ctx)
	return r.next(), err
}

// acted reports whether this call asked a provider for something that it accepted. Only
// then it stays for a moment; who only looks again looks once.
func (r *executor) acted() bool {
	for _, a := range r.confirmer().accepted() {
		if !a.ActedAt.Before(r.now) {
			return true
		}
	}
	return false
}

// lookAgain is when to look again at what was accepted so long ago: soon at first, so that
// the time to gone is known well, and ever more seldom at what is stuck.
func lookAgain(age time.Duration) time.Duration {
	if age < 10*time.Second {
		return 2 * time.Second
	}
	return min(max(age/4, 6*time.Second), time.Minute)
}

// next is when the first of the steps that wait for a time is due.
func (r *executor) next() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	var first time.Duration
	for _, a := range r.done {
		wait := time.Duration(0)
		_, ours := r.k.Providers[a.Provider]
		switch {
		case a.Outcome == reconcile.OutcomeAccepted && ours:
			wait = lookAgain(r.now.Sub(a.ActedAt))
		case a.Outcome == reconcile.OutcomePending && a.Begun() && a.NextAttempt.After(r.now):
			wait = max(a.NextAttempt.Sub(r.now), soonest)
		}
		if wait > 0 && (first == 0 || wait < first) {
			first = wait
		}
	}
	return first
}

// Probe probes one sandbox and saves what came of it. One that is not ours any more, does
// not run or is being ended is left alone.
func (w *Worker) Probe(ctx context.Context, ref reconcile.Ref) (err error) {
	p, ok := w.reconciler.Policy.Providers[ref.Provider]
	if !ok || p.Probe.Off {
		return nil
	}
	ctx, end := w.reconciler.spanOf(ctx, "probing", ref)
	defer func() { end(err) }()
	ctx = reconcile.InLane(ctx, reconcile.LaneProbe)
	open, err := w.openRecently(ctx)
	if err != nil {
		return fmt.Errorf("read the open actions before a probe of %s: %w", ref, err)
	}
	sb, ruling := w.reconciler.mayProbe(ctx, ref, workedAt(open, ref))
	if !ruling.Goes() {
		return nil
	}
	result := w.reconciler.observer().examine(ctx, ruling, sb, p.Probe)
	now, err := w.clock.Now(ctx)
	if err != nil {
		return fmt.Errorf("read the ledger's clock after a probe of %s: %w", ref, err)
	}
	if err := w.results.save(ctx, probeResultStamped(result, now)); err != nil {
		return fmt.Errorf("save the probe of %s: %w", ref, err)
	}
	return nil
}

// workedAt reports whether somebody is at an action on the sandbox, and not only waits to learn whose it is.
func workedAt(open []reconcile.Action, ref reconcile.Ref) bool {
	return slices.ContainsFunc(open, func(a reconcile.Action) bool {
		return a.Begun() && a.Provider == ref.Provider && a.Sandbox == ref.ID && !unmatched(&a)
	})
}

// openRecently are the open actions of a moment ago: one reading does for the probes that
// come with a pass. No action rests on it.
func (w *Worker) openRecently(ctx context.Context) ([]reconcile.Action, error) {
	const good = 2 * time.Second
	w.reading.Lock()
	defer w.reading.Unlock()
	if time.Since(w.read) < good {
		return w.open, nil
	}
	open, err := w.actions.OpenActions(ctx)
	if err == nil {
		w.open, w.read = open, time.Now()
	}
	return open, err
}

// begin makes a run for one job.
func (w *Worker) begin(ctx context.Context, steps []reconcile.Action) (*executor, error) {
	if r, err := w.beginBy(ctx, steps); r != nil || err != nil {
		return r, err
	}
	s, err := w.present(ctx)
	if err != nil {
		return nil, err
	}
	return w.runBy(ctx, s)
}

// runBy makes a run by what a shift knows.
func (w *Worker) runBy(ctx context.Context, s *workerView) (*executor, error) {
	now, err := w.clock.Now(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the ledger's clock: %w", err)
	}
	r := s.result.reconciler.newExecutor(reconcile.WorkerLease(w.reconciler.Holder), s.result)
	r.due, r.now, r.stop = s.due, now, w.stop
	r.until = time.Now()
	r.begin = time.Now().Add(leastActing)
	return r, nil
}

// present is the shift of the newest pass. Those who ask meanwhile wait for the one who
// makes it.
func (w *Worker) present(ctx context.Context) (*workerView, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	defer w.keep()
	pass, err := w.passes.LastRecorded(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the number of the last pass: %w", err)
	}
	//guard:worker-newest-pass once
	if s := w.view.Load(); s != nil && s.pass == pass {
		return s, nil
	}
	s, err := w.reconciler.newWorkerView(ctx, pass)
	if err != nil {
		return nil, err
	}
	s.result.logs = &w.logs
	w.view.Store(s)
	return s, nil
}

// keep keeps the shift for a while from now on, for jobs that follow at once.
func (w *Worker) keep() {
	if w.forget == nil {
		w.forget = time.AfterFunc(keepFor, func() { w.view.Store(nil) })
		return
	}
	w.forget.Reset(keepFor)
}

// newWorkerView looks at the world without looking at any sandbox but those that may settle a pair: the ledger's
// inventory stands for the listings, and the trust in the sources is what the passes left, but for what the rows
// themselves show.
func (k *Reconciler) newWorkerView(ctx context.Context, pass int64) (*workerView, error) {
	in := *k
	s, _, err := in.observer().observeFirst(ctx, reconcile.Quick)
	if err != nil {
		return nil, err
	}
	in.Policy = *k.Policy.Effective(&s.Memory)
	in.able()
	if err := in.observer().readTasks(ctx, s); err != nil {
		return nil, err
	}
	if err := in.observer().readRows(ctx, s); err != nil {
		return nil, err
	}
	s.TakeInventory(&in.Policy)
	s.Weigh()
	j := decide.Judge(s, &in.Policy)
	//guard:pair-named live
	if in.observer().lookPaired(ctx, s, j) {
		j = decide.Judge(s, &in.Policy)
	}
	j.View.Rules = view.ActiveRules(reconcile.Full, &in.Policy) // a second look judges what a full pass found
	r := &Result{Pass: pass, Kind: reconcile.Full, At: s.Memory.Now, Complete: true, Judged: j, Sources: j.Sources,
		Counts: j.Counts, Plan: &decide.Plan{}, reconciler: &in}
	return &workerView{pass: pass, result: r, due: view.CalledFor(&s.Memory)}, nil
}
