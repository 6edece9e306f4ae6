package run

import (
	"cmp"
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
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// lifted reports whether an open action makes room in a quota that is full now: its claim
// takes no part of share either, see [Claim.Lifted].
func (r *executor) lifted(a *reconcile.Action) bool {
	return decide.MakesRoom(decide.Crowded(r.view), a.Rule, a.Provider)
}

// Plan makes a plan and changes nothing anywhere: it writes no row, begins no pass and
// probes nothing. Its own look counts as a sighting, in memory only.
func (k *Reconciler) Plan(ctx context.Context, kind reconcile.PassKind) (*Result, error) {
	r, err := k.judge(ctx, kind, 0)
	if err != nil {
		return nil, err
	}
	r.Plan = decide.MakePlan(r.Judged, 0)
	r.Open = r.reconciler.newExecutor(reconcile.Lease{}, r).goingOn()
	return r, nil
}

// goingOn are the steps that earlier passes have left open and that a pass would go on with now,
// with what holds them. What a provider has accepted is only looked after.
func (r *executor) goingOn() []decide.PlannedStep {
	var out []decide.PlannedStep
	m := &r.view.S.Memory
	for i := range m.Actions {
		a := m.Actions[i]
		_, planned := r.due[a.ID]
		if planned || a.Outcome == reconcile.OutcomeAccepted || a.Outdated(r.now) != "" ||
			slices.Contains(r.result.Plan.Withdrawn, a.ID) {
			continue
		}
		holds := r.heldNow(&a, &m.Controls)
		if a.Begun() && a.NextAttempt.After(r.now) {
			holds = append(holds, reconcile.Held{Kind: reconcile.HeldLater,
				Reason: "tried again from " + text.Time(a.NextAttempt)})
		}
		out = append(out, decide.PlannedStep{Action: a, Mode: reconcile.Enforce, HeldBy: holds})
	}
	slices.SortStableFunc(out, func(a, b decide.PlannedStep) int {
		return cmp.Or(cmp.Compare(a.Subject, b.Subject), cmp.Compare(a.Seq, b.Seq))
	})
	return out
}

// Once runs one pass with its actions, probes and confirmations. It waits at most wait
// for another process that holds the lease, and at most wait for what it began to be
// confirmed; the rest goes on from the ledger in the next run.
func (k *Reconciler) Once(ctx context.Context, kind reconcile.PassKind, wait time.Duration) (*Result, error) {
	in := *k
	in.acts, k = true, &in
	ctx, end := k.span(ctx, "pass", slog.String("kind", string(kind)))
	run, err := k.onceAlone(ctx, kind, wait)
	end(err, run.numbered()...)
	if run == nil {
		return nil, err
	}
	within := leftoverTime
	if run.news.Load() {
		within = tellingTime
	}
	k.deliver(ctx, within)
	return run.result, err
}

// onceAlone makes the pass and does its work under the lease. It returns no run when there
// was no pass.
func (k *Reconciler) onceAlone(ctx context.Context, kind reconcile.PassKind, wait time.Duration) (*executor, error) {
	lease, err := k.leaseholder().take(ctx, wait)
	if err != nil {
		return nil, err
	}
	held, drop := k.leaseholder().hold(ctx, lease)
	defer drop()
	run, err := k.pass(held.watch, lease, kind) //nolint:contextcheck // both contexts are made from ctx
	if err != nil {
		return nil, cause(held.watch, err) //nolint:contextcheck // made from ctx
	}
	run.until, run.stop = time.Now().Add(wait), held.watch
	run.begin = time.Now().Add(max(wait, leastActing))
	// Work outlives ctx by a grace, so that what was begun is finished.
	working, done := k.timed(held.work, kind, "acting")
	acted := run.actAndProbe(leases{watch: held.watch, work: working}) //nolint:contextcheck // both are made from ctx
	done(acted)
	looking, done := k.timed(held.watch, kind, "confirming")
	//nolint:contextcheck // made from ctx
	err = errors.Join(acted, run.confirmer().confirm(looking))
	done(err)
	run.result.Done, run.result.Waits, run.result.Refused = run.done, run.waits, run.refusals
	return run, cause(held.watch, err) //nolint:contextcheck // made from ctx
}

// numbered says which pass it was; nothing where there was none.
func (r *executor) numbered() []slog.Attr {
	if r == nil {
		return nil
	}
	return r.result.numbered()
}

func (r *Result) numbered() []slog.Attr {
	if r == nil {
		return nil
	}
	return []slog.Attr{slog.Int64("pass", r.Pass), slog.Int("findings", len(r.Plan.Findings)),
		slog.Int("steps", len(r.Plan.Steps)), slog.Bool("complete", r.Complete)}
}

// actAndProbe acts and probes side by side: many actions must not starve the probes.
func (r *executor) actAndProbe(held leases) error {
	if r.k.Parallel == 1 {
		return errors.Join(r.probe(held.watch), r.act(held.work))
	}
	var wg sync.WaitGroup
	var probed error
	wg.Go(func() { probed = r.probe(held.watch) })
	acted := r.actAndConfirm(held)
	wg.Wait()
	return errors.Join(acted, probed)
}

// cause tells why a context ended, where that says more than that it did.
func cause(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// A looker reads what may have changed since the pass: rows by key, sandboxes by id.
type looker struct {
	k      *Reconciler
	policy *reconcile.Policy
	view   *view.View
	judged *decide.Judgement
}

// A prober asks sandboxes themselves.
type prober struct {
	looker
	clock  reconcile.Clock
	probes reconcile.Probes
	lease  reconcile.Lease
	result *Result
	until  time.Time // when waiting ends
	now    time.Time // the ledger's now when this work began
}

// A gatherer gathers the facts that an action is ruled by.
type gatherer struct {
	prober
	actions reconcile.Actions
	due     map[string]bool // actions that this pass calls for
	claims  sync.Map        // when each claim that stands was asked for last, by this process's clock
}

// An executor carries out what was planned: of one pass, or of one job.
type executor struct {
	gatherer
	begin time.Time       // when the last remedy may be begun
	stop  context.Context // ends when nothing more is to be begun
	news  atomic.Bool     // something was written down that the platform is to be told

	mu    sync.Mutex
	done  map[string]reconcile.Action
	waits map[string]reconcile.HeldBy
	// refusals are the actions that a provider refused in this run.
	refusals map[string]bool
}

// pass observes, judges, plans and records. A pass that could not read its sources is
// recorded as not complete, with the reason, and acts on nothing.
func (k *Reconciler) pass(ctx context.Context, lease reconcile.Lease, kind reconcile.PassKind) (*executor, error) {
	now, err := k.Ledger.Now(ctx)
	if err != nil {
		return nil, fmt.Errorf("begin a %s pass: %w", kind, err)
	}
	id, err := k.Ledger.BeginPass(ctx, lease, kind, now)
	if err != nil {
		return nil, fmt.Errorf("begin a %s pass: %w", kind, err)
	}
	made := kind
	if k.lists {
		made = reconcile.Full
	}
	r, err := k.judge(ctx, made, id)
	//guard:stop-no-outage P6
	if err != nil && errors.Is(ctx.Err(), context.Canceled) {
		return nil, err // we were asked to stop: that says nothing of any source
	}
	if err != nil {
		failed := reconcile.Record{Pass: id, Kind: kind, At: now, Error: err.Error()}
		//guard:failed-pass P6
		return nil, errors.Join(err, k.recordFailed(ctx, lease, failed))
	}
	r.Pass, r.Due = id, kind
	k.measureSmall(r)
	if k.lists {
		r.Counts = asQuick(r.Counts)
	}
	r.Plan = decide.MakePlan(r.Judged, id)
	if n := r.Plan.Unlooked; n > 0 {
		r.Counts[reconcile.CountUnlooked] = n
	}
	for name, b := range r.Plan.Blind {
		r.Counts[reconcile.Count{What: reconcile.CountBlind, Provider: name}.String()] = b.Subjects
	}
	k.progress("recording")
	within, done := k.timed(ctx, kind, "recording")
	err = k.Ledger.Record(within, lease, r.record())
	done(err)
	if err != nil {
		return nil, fmt.Errorf("record pass %d: %w", id, err)
	}
	r.notable(ctx)
	return r.reconciler.newExecutor(lease, r), nil
}

func (k *Reconciler) newExecutor(lease reconcile.Lease, r *Result) *executor {
	v := r.Judged.View
	if r.logs == nil {
		r.logs = &cleanUpLogs{}
	}
	at := looker{k: k, policy: v.P, view: v, judged: r.Judged}
	out := &executor{done: map[string]reconcile.Action{}, waits: map[string]reconcile.HeldBy{},
		refusals: map[string]bool{}}
	out.prober = prober{looker: at, clock: k.Ledger, probes: k.Ledger, lease: lease, result: r, now: v.Now}
	out.actions, out.due = k.Ledger, map[string]bool{}
	for i := range r.Plan.Steps {
		out.due[r.Plan.Steps[i].ID] = len(r.Plan.Steps[i].HeldBy) == 0
	}
	return out
}

// judge observes and judges with the policy that is in force.
func (k *Reconciler) judge(ctx context.Context, kind reconcile.PassKind, turn int64) (*Result, error) {
	in := *k
	in.turn, in.clocks = turn, &reconcile.Clocks{}
	within, done := k.timed(ctx, kind, "listing")
	s, listed, err := in.observer().observeFirst(within, kind)
	done(err)
	if err != nil {
		return nil, err
	}
	in.Policy = *k.Policy.Effective(&s.Memory)
	in.able()
	within, done = k.timed(ctx, kind, "judging")
	j, err := in.observer().observe(within, s, listed)
	done(err)
	if err != nil {
		return nil, err
	}
	r := &Result{Kind: kind, At: s.Memory.Now, Complete: true, Judged: j, Sources: j.Sources,
		Counts: j.Counts, reconciler: &in}
	for _, name := range in.Policy.ProviderNames() {
		//guard:pass-complete P13
		if seen, ok := s.Listings[name]; ok && (seen.Error != "" || !seen.Complete) {
			r.Complete = false
			r.Error = reconcile.Joined(r.Error, reconcile.PassUnlisted(name, seen.Error))
		}
	}
	return r, nil
}

// able notes in the policy what the adapters can do.
func (k *Reconciler) able() {
	entries := make(map[string]reconcile.ProviderPolicy, len(k.Policy.Providers))
	for name, entry := range k.Policy.Providers {
		can := reconcile.CapabilitiesOf(k.Providers[name])
		entry.Suspends, entry.KeptAwake, entry.NamesLast = can.Suspender != nil, can.ProbeIsActivity, can.NamesLast
		entry.Records, entry.IndexLag, entry.TwoStores = can.Deaths != nil, can.IndexLag, can.TwoStores
		entries[name] = entry
	}
	k.Policy.Providers = entries
}

// recordFailed writes down that a pass could not be made, and that its tasks were not
// read: their timers of silence and absence start again.
func (k *Reconciler) recordFailed(ctx context.Context, lease reconcile.Lease, rec reconcile.Record) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
	defer cancel()
	m, err := k.Ledger.Recall(ctx)
	if err != nil {
		return nil // the ledger cannot be read: the pass stays on record as begun and never ended
	}
	rec.WatchSince = reconcile.Watch(&m, &k.Policy)
	seen := m.Sources[reconcile.SourceTasks]
	seen.Name, seen.Trusted, seen.Since = reconcile.SourceTasks, false, m.Now
	seen.Reason = reconcile.Said("not read: " + text.Clip(rec.Error, 300))
	rec.Sources = []reconcile.SourceSeen{seen}
	rec.Breakers = m.Controls.Breakers
	if err := k.Ledger.Record(ctx, lease, rec); err != nil {
		return fmt.Errorf("record that pass %d failed: %w", rec.Pass, err)
	}
	return nil
}

// record is everything that the pass writes.
func (r *Result) record() reconcile.Record {
	v := r.Judged.View
	tasks, boxes := decide.SeenTasks(v), decide.SeenSandboxes(v, r.Judged.Decisions)
	r.Judged.Tallies = decide.Tallies(v, tasks, boxes)
	return reconcile.Record{
		Pass: r.Pass, Kind: r.Due, At: r.At, Complete: r.Complete, Error: r.Error,
		Kept: r.Plan.Kept, Counts: r.Counts, WatchSince: v.S.Memory.WatchSince,
		Tasks: tasks, Sandboxes: boxes, Heard: v.S.Plain.Heard, Fresh: v.S.Plain.Fresh,
		Findings: r.Plan.Findings, Resolved: r.Judged.Resolved,
		Actions: r.Plan.Actions, Withdrawn: r.Plan.Withdrawn,
		Sources: r.Sources, Templates: decide.SeenTemplates(v, r.Judged.Decisions),
		Breakers: r.Plan.Breakers, Known: reconcile.RuleNames,
		Events: timelineOf(v, r, tasks, boxes), Unsigned: v.S.Memory.Controls.Unsigned,

		Verdicts: r.Judged.Verdicts, FalsePositives: r.Judged.FalsePositives, Over: r.Judged.Over,
		Incidents: r.Judged.Incidents, Demoted: r.Judged.Demoted, Tallies: r.Judged.Tallies,
		Measured: decide.VerdictTallies(v, r.Judged.Decisions, r.Judged.Verdicts),
	}
}
