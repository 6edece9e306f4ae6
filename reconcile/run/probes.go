package run

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/decide"
	"github.com/sandkeeper/sandkeeper/reconcile/rules"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/reconcile/view"
)

// probers is how many sandboxes are probed at once, one probe a sandbox.
const probers = 16

// probe works off the probes that are due: suspects first, then a rotating sample. They
// never delay a pass; the next one reads their results.
func (r *prober) probe(ctx context.Context) error {
	var errs []error
	for _, name := range r.probing() {
		errs = append(errs, r.probeProvider(ctx, name, r.policy.Providers[name].Probe))
	}
	return errors.Join(errs...)
}

// probing are the providers whose sandboxes are probed: some rule rests on it, or on what is
// measured beside it.
func (r *prober) probing() []string {
	rests := policyNeeds(r.policy, reconcile.NeedProbes)
	workers := slices.ContainsFunc(reconcile.Rules, func(u reconcile.Rule) bool {
		return u.Worker && r.policy.Judges(u.Name)
	})
	return slices.DeleteFunc(r.policy.ProviderNames(), func(name string) bool {
		p := r.policy.Providers[name].Probe
		return p.Off || p.Budget <= 0 || !rests && !(workers && p.Worker != "") && !r.k.observer().measures(name)
	})
}

// reserve takes up to want probes out of the provider's budget of this minute.
func (r *prober) reserve(ctx context.Context, name string, want, perMinute int) (int, error) {
	if want == 0 {
		return 0, nil
	}
	got, err := r.probes.ReserveProbes(ctx, r.lease, name, want, perMinute)
	if err != nil {
		return 0, fmt.Errorf("reserve probes at %s: %w", name, err)
	}
	return got, nil
}

func (r *prober) probeProvider(ctx context.Context, name string, p reconcile.ProbePolicy) error {
	due := r.dueProbes(name, p)
	got, err := r.reserve(ctx, name, len(due), p.Budget)
	if err != nil || got == 0 {
		return err
	}
	r.k.progress(fmt.Sprintf("probing %d", got))
	results := r.probeAll(ctx, due[:got])
	if err := r.probes.SaveProbes(ctx, r.lease, results); err != nil {
		return fmt.Errorf("save %d probes of %s: %w", len(results), name, err)
	}
	return nil
}

// A candidate is a sandbox that may be probed.
type candidate struct {
	box     reconcile.SeenSandbox
	suspect bool
	last    time.Time
}

// dueProbes are the sandboxes to probe now, in the order of need: suspects, then those
// not probed for longest.
func (r *prober) dueProbes(name string, p reconcile.ProbePolicy) []reconcile.Sandbox {
	var list, others []candidate
	targets, beside := r.targets(), rules.WithoutEvidenceOfLife(r.view, name)
	for i := range r.result.Judged.Decisions {
		d := &r.result.Judged.Decisions[i]
		for _, b := range d.Subject.Boxes {
			//guard:probe-owned P1
			//guard:probe-running P10
			if b.Provider == name && b.Here && b.Ours() && b.State == reconcile.SandboxRunning && !r.leaves(b.Ref) &&
				!targets[b.Ref] {
				c := candidate{box: b, suspect: r.suspect(d, &b), last: b.Probes.Last.At}
				switch {
				case c.suspect && r.probeDue(&c, p):
					list = append(list, c)
				//guard:probe-keeps-awake P10
				case !c.suspect && r.keptAwake(d, name):
				case r.probeDue(&c, p):
					list = append(list, c)
					beside-- // it is to be probed anyway
				case !c.suspect:
					others = append(others, c)
				}
			}
		}
	}
	for was := range r.view.S.Plain.EachSandbox(&r.view.S.Memory) {
		ref := was.Seen().Ref
		if ref.Provider != name || r.leaves(ref) || targets[ref] {
			continue
		}
		b, probes := reconcile.RememberedBox(was), r.view.S.Memory.Probes[ref]
		b.Probes = &probes
		switch c := (candidate{box: b, last: probes.Last.At}); {
		case r.probeDue(&c, p):
			list = append(list, c)
			beside--
		default:
			others = append(others, c)
		}
	}
	slices.SortFunc(others, candidate.compare)
	list = append(list, others[:min(max(beside, 0), len(others))]...)
	slices.SortFunc(list, candidate.compare)
	out := make([]reconcile.Sandbox, len(list))
	for i, c := range list {
		out[i] = *c.box.Sandbox
	}
	return out
}

// leaves reports whether a sandbox is on its way out. One whose end waits because it may be the sandbox of a task is
// probed as before.
func (r *prober) leaves(ref reconcile.Ref) bool {
	open := r.view.S.Memory.Actions
	return r.view.Ending[ref] && !slices.ContainsFunc(open, func(a reconcile.Action) bool {
		return a.Provider == ref.Provider && a.Sandbox == ref.ID && unmatched(&a)
	})
}

// unmatched reports whether the end of a sandbox waits, not asked for yet, because it may be the one of a task that
// shows life and has none. Nothing but a probe of it tells whether it is, and its end makes none of its own.
func unmatched(a *reconcile.Action) bool {
	_, waits := a.WaitsFor.Of(reconcile.HeldUnmatched)
	//guard:probe-unmatched live
	return waits && a.ActedAt.IsZero()
}

// keptAwake reports whether a probe would keep a sandbox awake that nobody works in: where a probe
// counts as activity, only suspects are probed, and who is at work anyway. Where there are no tasks
// nobody is a suspect, and the rotation is all there is.
func (r *prober) keptAwake(d *decide.Decision, provider string) bool {
	if !r.policy.Providers[provider].KeptAwake || r.policy.Tasks.None {
		return false
	}
	t := d.Subject.Task
	if t == nil || d.Subject.LinkState != reconcile.LinkLive || t.State != reconcile.TaskRunning || t.Waits() {
		return true
	}
	_, alive := r.view.Alive(t)
	return !alive
}

// compare orders by need, then by when they were probed last.
func (c candidate) compare(d candidate) int {
	return cmp.Or(cmp.Compare(rank(c), rank(d)), c.last.Compare(d.last), reconcile.CompareRefs(c.box.Ref, d.box.Ref))
}

// targets are the sandboxes that this pass ends: nobody needs to know more of them, and a
// sandbox has one probe at a time, which is then the final one.
func (r *prober) targets() map[reconcile.Ref]bool {
	ends := map[reconcile.Ref]bool{}
	for i := range r.result.Plan.Steps {
		if s := &r.result.Plan.Steps[i]; s.Step == reconcile.StepTerminate && len(s.HeldBy) == 0 {
			ends[reconcile.Ref{Provider: s.Provider, ID: s.Sandbox}] = true
		}
	}
	return ends
}

func rank(c candidate) int {
	if c.suspect {
		return 0
	}
	return 1
}

// suspect reports whether a probe would settle something: a probe failed, or the worker is silent. One that has missed
// what it promised is asked a little before the limit is over, where that keeps nothing awake, so that the answer is
// there then. One that is in the middle of its work is not: each probe more is one that may fail by chance.
func (r *prober) suspect(d *decide.Decision, b *reconcile.SeenSandbox) bool {
	if d.Probe || len(b.Probes.Failures) > 0 {
		return true
	}
	t := d.Subject.Task
	if t == nil || d.Subject.LinkState != reconcile.LinkLive || t.State != reconcile.TaskRunning {
		return false
	}
	age, alive := r.view.Alive(t)
	//guard:probe-soon P10
	if r.policy.Providers[b.Provider].KeptAwake {
		return !alive
	}
	return !alive || view.TaskDue(t) && age > r.view.Limit-2*r.policy.Quick
}

func (r *prober) probeDue(c *candidate, p reconcile.ProbePolicy) bool {
	if c.last.IsZero() {
		return true
	}
	every := p.Every
	if c.suspect {
		rule := r.policy.Rules["idle-broken"]
		every = min(every, max(time.Second, rule.After/time.Duration(max(rule.Failures-1, 1))))
		if c.box.Probes.Queues() {
			every = min(every, r.policy.Quick/2) // each pass looks whether it still waits
		}
	}
	return r.view.Now.Sub(c.last) >= every
}

func (r *prober) probeAll(ctx context.Context, due []reconcile.Sandbox) []reconcile.ProbeResult {
	ctx = reconcile.InLane(ctx, reconcile.LaneProbe)
	results := inParallel(due, r.k.parallel(probers), func(sb reconcile.Sandbox) reconcile.ProbeResult {
		if ctx.Err() != nil || !time.Now().Before(r.until) {
			return reconcile.ProbeResult{} // not probed: the next run will
		}
		now, ruling := r.k.mayProbe(ctx, sb.Ref, false)
		if !ruling.Goes() {
			return reconcile.ProbeResult{}
		}
		return r.probeOne(ctx, ruling, now)
	})
	results = slices.DeleteFunc(results, func(p reconcile.ProbeResult) bool { return p.At.IsZero() })
	slices.SortFunc(results, func(a, b reconcile.ProbeResult) int { return reconcile.CompareRefs(a.Ref, b.Ref) })
	return results
}

// mayProbe looks at a sandbox that is about to be probed, as it is now, and rules on the probe: a listing
// may show for a while what is somebody else's by now, or rests.
func (k *Reconciler) mayProbe(ctx context.Context, ref reconcile.Ref, busy bool) (reconcile.Sandbox, decide.Ruling) {
	asked := time.Now()
	look := k.observer().lookupOne(ctx, ref)
	f := &decide.Facts{Read: asked, Lookup: look, Unread: look.Error, Busy: busy}
	if look.Error == "" && !look.Gone {
		f.Unnamed, f.Unread = k.observer().unnamed(ctx, &look.Sandbox)
	}
	return look.Sandbox, decide.MayAct(view.Of(&k.Policy), decide.ProbeOf(ref), f)
}

// unnamed reports whether only a row could prove a sandbox ours, and none is there now that it names or that names it:
// a listing may have shown it with the labels of another. Unread says why that could not be read.
func (k observer) unnamed(ctx context.Context, sb *reconcile.Sandbox) (is bool, unread string) {
	p := k.Policy.Providers[sb.Provider]
	if sb.Owned || !p.LinkTask || !p.ByRow(sb) || k.Policy.Tasks.None {
		return false, ""
	}
	if sb.Task != "" {
		rows, err := k.Tasks.ByID(ctx, []string{sb.Task})
		if err != nil {
			return false, "read the row that the sandbox names: " + text.Clip(err.Error(), 200)
		}
		if len(rows.Tasks) > 0 {
			return false, ""
		}
	}
	rows, err := k.Tasks.BySandbox(ctx, sb.Keys())
	if err != nil {
		return false, "read the rows that name the sandbox: " + text.Clip(err.Error(), 200)
	}
	return len(rows.Tasks) == 0, ""
}

// probeOne probes one sandbox. A probe that was cut short by our own end proves nothing.
func (r *prober) probeOne(ctx context.Context, ruling decide.Ruling, sb reconcile.Sandbox) reconcile.ProbeResult {
	result := r.k.observer().examine(ctx, ruling, sb, r.policy.Providers[sb.Provider].Probe)
	return probeResultStamped(result, r.ledgerNow(ctx))
}

// askWorker asks a sandbox that answered whether its task's worker is there: a second command,
// of the same probe and its budget. Of one that did not answer nothing more is to be learnt. Where the first one took
// its time, or this process stood still, the sandbox is looked at once more: its id may be somebody else's by now.
func (k *Reconciler) askWorker(ctx context.Context, ruling decide.Ruling, sb reconcile.Sandbox, p reconcile.ProbePolicy,
	result *reconcile.ProbeResult, asked time.Time) {
	if p.Worker == "" || result.Outcome != reconcile.Answered || ctx.Err() != nil {
		return
	}
	//guard:probe-worker-late P1
	if time.Since(asked) >= lookHolds {
		if sb, ruling = k.mayProbe(ctx, sb.Ref, false); !ruling.Goes() {
			return
		}
	}
	told := k.probe(ctx, ruling, sb, reconcile.ProbePolicy{Exec: p.Worker, Every: p.Every, Timeout: p.Timeout})
	if told.Outcome == reconcile.Answered && told.Exit != nil {
		result.Worker = workerBy(*told.Exit)
	}
	result.Detail = text.Clip(result.Detail+"; worker "+cmp.Or(string(result.Worker), "unknown")+": "+told.Detail, 300)
}

// workerBy is what the exit code of the worker's command says. Each but 0 and 1 is an error of
// the command itself: it is not there, or was used wrongly.
func workerBy(exit int) reconcile.WorkerState {
	if exit == 0 {
		return reconcile.WorkerAlive
	}
	//guard:worker-exit harm
	if exit == 1 {
		return reconcile.WorkerDead
	}
	return reconcile.WorkerUnknown
}

func (k *Reconciler) probe(ctx context.Context, ruling decide.Ruling, sb reconcile.Sandbox, p reconcile.ProbePolicy,
) reconcile.ProbeResult {
	began := time.Now()
	within, end := k.spanOfProbe(ctx, &sb)
	result := k.effects().probe(within, ruling, sb, p)
	end(nil, slog.String("outcome", string(result.Outcome)))
	//guard:probe-cut-short harm
	if ctx.Err() != nil && result.Outcome != reconcile.Answered {
		result.Outcome, result.Detail = reconcile.Infrastructure, "cut short"
	}
	result.Ref, result.Took = sb.Ref, time.Since(began)
	result.Detail = text.Clip(result.Detail, 300)
	return result
}
