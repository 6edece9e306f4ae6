package run

import (
	"context"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/decide"
)

// Decision is the verdict of the pass on a task's id, a sandbox's id or name, or a
// subject; nil when the pass did not see it.
func (r *Result) Decision(id string, h reconcile.History) *decide.Decision {
	if meant := r.Meant(id); len(meant) > 0 {
		return meant[0]
	}
	wanted := map[string]bool{id: true}
	for _, b := range h.Sandboxes {
		wanted["task:"+b.Task] = b.Task != ""
	}
	at := slices.IndexFunc(r.Judged.Decisions, func(d decide.Decision) bool { return wanted[d.Subject.ID] })
	if at < 0 {
		return nil
	}
	return &r.Judged.Decisions[at]
}

// Meant are the verdicts on all that a person may mean by an id. What is called by it exactly
// comes before a sandbox whose id it is, and that before what only has it as a name.
func (r *Result) Meant(id string) []*decide.Decision {
	var out []*decide.Decision
	best := 1
	for i := range r.Judged.Decisions {
		d := &r.Judged.Decisions[i]
		switch fit := d.Subject.Fits(id); {
		case fit > best:
			best, out = fit, []*decide.Decision{d}
		case fit == best:
			out = append(out, d)
		}
	}
	return out
}

// The times of leases and claims.
const (
	leaseTTL    = 15 * time.Second
	leaseRenew  = 5 * time.Second
	stopGrace   = 20 * time.Second // for what was begun outside when the process is asked to stop
	leastActing = 5 * time.Second  // for beginning what is due, however short the wait is
	settleTime  = 10 * time.Second // for writing down what was done, also after a cancel
)

// A Reconciler runs passes. All its fields are set once, before the first pass.
type Reconciler struct {
	Policy    reconcile.Policy
	Tasks     reconcile.Tasks // nil with `tasks: none`
	Ledger    reconcile.Ledger
	Providers map[string]reconcile.Provider
	Queue     reconcile.Queue    // told what a pass left to do, by [Reconciler.Pass]; not used by Once and Look
	Notices   reconcile.Notices  // what the platform is still to be told; nil: nobody is
	Notifier  reconcile.Notifier // tells it; nil: nobody is
	Holder    string             // names this process to people: host and process id
	Log       *slog.Logger
	Progress  func(stage string) // called as a pass goes on; may be nil
	// Phase hears how long the parts of a pass took; may be nil.
	Phase    func(kind reconcile.PassKind, phase string, took time.Duration)
	Span     Span // hears what is done as it is done; nil: nobody does
	Parallel int  // calls at once; 0 is a good default, 1 makes a pass deterministic

	// Sieved is from how many remembered tasks on a pass keeps only rows that are not plain; 0 is a good default.
	Sieved int
	// Vain is how many full passes still read everybody at once, as it was in vain to leave rows out; nil: each tries.
	Vain *atomic.Int32

	// Standing is what the quick passes of this process keep of a large fleet's rows, so that the next one reads what has
	// changed; nil: each reads everybody.
	Standing *Standing

	// Small is what the full passes of this process found of whether quick ones, by their schedule, list everything as
	// well; nil: none does.
	Small *Small

	acts   bool              // this process acts on what is open in the ledger, and not the queue
	pushed []reconcile.Ref   // that a provider gave a reason to look at in this pass
	turn   int64             // of those who take turns in being looked at: the number of the pass
	lists  bool              // a quick pass lists everything too
	clocks *reconcile.Clocks // what answers of this pass, and of what it does, said of the time; nil: not measured
}

// A Result is what a pass came to.
type Result struct {
	Pass     int64
	Kind     reconcile.PassKind // full where everything was listed, as a quick pass of a small fleet does too
	Due      reconcile.PassKind // as it is on record; "" where it is of no record
	At       time.Time          // the ledger's now
	Complete bool
	Error    string // why it is not complete
	Plan     *decide.Plan
	Open     []decide.PlannedStep // of a look: what earlier passes left open, and a pass would go on with
	Sources  []reconcile.SourceSeen
	Counts   map[string]int
	Done     map[string]reconcile.Action // what became of the actions that were worked on, by id
	Waits    map[string]reconcile.HeldBy // why an action that was due was not begun, by id
	Refused  map[string]bool             // actions that a provider refused in this run; they stay open
	Judged   *decide.Judgement

	reconciler *Reconciler // with the policy and the providers of this pass
	logs       *cleanUpLogs
}

// Frozen are the sources that are not trusted and whose freeze makes a run of `once` fail:
// listings, tasks, link, events and probes. Clocks are findings, not failures, and workers that
// all do nothing hold the one rule that would judge it.
func (r *Result) Frozen() []reconcile.SourceSeen {
	var out []reconcile.SourceSeen
	for _, s := range r.Sources {
		if !s.Trusted && !reconcile.IsClock(s.Name) && s.Name != reconcile.SourceActivity {
			out = append(out, s)
		}
	}
	return out
}

func (k *Reconciler) progress(stage string) {
	if k.Progress != nil {
		k.Progress(stage)
	}
}

func (k *Reconciler) parallel(want int) int {
	if k.Parallel > 0 {
		return k.Parallel
	}
	return want
}

// readTemplates looks at the templates that the config names and that living sandboxes
// came from. One that cannot be measured is left out: it accuses nobody.
func (k *Reconciler) readTemplates(ctx context.Context, s *reconcile.Snapshot) {
	for _, name := range k.Policy.ProviderNames() {
		p := reconcile.CapabilitiesOf(k.Providers[name]).Templates
		if p == nil {
			continue
		}
		for _, wanted := range decide.WantedTemplates(s, name, k.Policy.Providers[name].Templates) {
			t, err := p.Template(ctx, wanted)
			if err != nil {
				k.Log.WarnContext(ctx, "template not measured", "provider", name, "template", wanted, "err", err)
				continue
			}
			t.Provider = name
			if t.Name == "" {
				t.Name = wanted
			}
			s.Templates = append(s.Templates, t)
		}
	}
}
