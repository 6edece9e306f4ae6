package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/robfig/cron/v3"
	"golang.org/x/sync/errgroup"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/run"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
	"github.com/sandkeeper/sandkeeper/store/queue"
)

// remedyWorkers are the remedies, and the probes, that a process works at side by side. Most
// of the time they wait for a provider, and one that hangs must not keep the others waiting.
const remedyWorkers = 24

// boundMemory is for a process that stays: garbage grows only up to what a fleet of this many
// tasks and sandboxes needs, so that one of 10,000 and 10,000 stays below 100 MB in all. The
// variable GOMEMLIMIT has the last word.
func boundMemory(subjects int) {
	const least, usual, each = 70 << 20, 20_000, 4 << 10
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(least + int64(max(subjects-usual, 0))*each)
	}
}

// A Daemon does what the jobs of the queue ask for, by the config that is in force.
type Daemon struct {
	*App      // of the ledger
	options   *Options
	holder    string
	queue     *queue.Queue
	current   atomic.Pointer[generation]
	acquiring sync.Mutex // while a job takes its crew, or a reload puts another in its place
	reading   lastReading
	frozen    map[string]bool // untrusted sources that the log knows of; one pass at a time
	stop      context.Context // ends when nothing more is to be begun
}

// NewDaemon makes a daemon that works by the config of its app.
func NewDaemon(ctx context.Context, o *Options, a *App) (*Daemon, error) {
	boundMemory(0)
	again := *o
	again.ConfigFile = a.Config.Files[0] // a reload never goes over to another of the usual places
	d := &Daemon{App: a, options: &again, holder: holder(), stop: ctx}
	var err error
	d.queue, err = queue.New(queue.Options{
		Pool: a.Pool, Duty: d, Ledger: a.Ledger, Log: a.Log, Name: d.holder,
		Quick: a.Config.Schedule.Quick.Schedule, Full: a.Config.Schedule.Full.Schedule, Workers: remedyWorkers,
	})
	if err != nil {
		return nil, fmt.Errorf("make the queue: %w", err)
	}
	if err := d.apply(ctx, a.Config); err != nil {
		return nil, err
	}
	d.reading.note(time.Now(), nil)
	return d, nil
}

// Close gives up the connections of the config that is in force.
func (d *Daemon) Close() { d.current.Load().Close() }

// Run works until ctx ends, and then until what was begun is finished.
func (d *Daemon) Run(ctx context.Context, front *Front) error {
	d.Log.InfoContext(ctx, "running", append(front.Addresses(), "version", Version(), "installation",
		d.Config.Installation, "quick", d.Config.Schedule.Quick.Text, "full", d.Config.Schedule.Full.Text,
		"mode", d.Config.Mode)...)
	d.measure(func() *App { return d.current.Load().App })
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return d.queue.Run(ctx) })
	g.Go(func() error { return front.Serve(ctx, d.App, d.site()) })
	g.Go(func() error {
		d.watchConfig(ctx)
		return nil
	})
	g.Go(func() error {
		d.streams(ctx)
		return nil
	})
	g.Go(func() error {
		d.proves(ctx)
		return nil
	})
	g.Go(func() error {
		d.plants(ctx)
		return nil
	})
	err := g.Wait()
	d.Log.Info("stopped") //nolint:sloglint // the context has ended
	return err
}

// A generation is who works by one version of the config. A job that began with one ends with it.
type generation struct {
	*App       // of the task database and the providers
	reconciler *run.Reconciler
	worker     *run.Worker
	jobs       sync.WaitGroup // that work with it
}

func newGeneration(stop context.Context, a *App, k *run.Reconciler) *generation {
	return &generation{App: a, reconciler: k, worker: run.NewWorker(stop, k)}
}

// acquire gives a job the crew of now, until it calls done.
func (d *Daemon) acquire() (c *generation, done func()) {
	d.acquiring.Lock()
	defer d.acquiring.Unlock()
	c = d.current.Load()
	c.jobs.Add(1)
	return c, c.jobs.Done
}

// replace puts a crew in force. The one before gives up its connections when the last of
// its jobs is done.
func (d *Daemon) replace(c *generation) {
	d.acquiring.Lock()
	defer d.acquiring.Unlock()
	if old := d.current.Swap(c); old != nil {
		go func() {
			old.jobs.Wait()
			old.Close()
		}()
	}
}

// Pass runs one pass, unless one like it began a moment ago. While somebody else holds the
// pass lease it asks to be called again.
func (d *Daemon) Pass(ctx context.Context, kind reconcile.PassKind) (again time.Duration, err error) {
	return d.pass(ctx, kind, func(c *generation) time.Duration {
		return betweenRuns(c.Config.Schedule.Of(kind).Schedule, time.Now())
	}, nil)
}

// PassNow runs one pass however recently another one began, and looks at what was pushed.
func (d *Daemon) PassNow(ctx context.Context, kind reconcile.PassKind, pushed ...reconcile.Ref,
) (again time.Duration, err error) {
	return d.pass(ctx, kind, func(*generation) time.Duration { return 0 }, pushed)
}

func (d *Daemon) pass(ctx context.Context, kind reconcile.PassKind, gap func(*generation) time.Duration,
	pushed []reconcile.Ref,
) (again time.Duration, err error) {
	c, done := d.acquire()
	defer done()
	began := time.Now()
	r, err := c.reconciler.Pass(ctx, kind, gap(c), pushed...)
	var held *reconcile.HeldError
	switch {
	case errors.As(err, &held):
		d.Log.DebugContext(ctx, "pass waits for the lease", "kind", kind, "holder", held.Holder)
		return time.Second, nil
	case err != nil && ctx.Err() != nil:
		return 0, nil // asked to stop: the next process goes on
	}
	if r != nil {
		boundMemory(subjects(r))
		d.tell(ctx, r, time.Since(began))
	}
	if r != nil || err != nil {
		d.kickNotify(ctx)
	}
	if err != nil {
		return 0, fmt.Errorf("%s pass: %w", kind, err)
	}
	if r != nil && kind == reconcile.Full && c.Config.Retention > 0 {
		d.Purge(ctx, r.At)
	}
	return 0, nil
}

// Notifies reports whether anybody is to be told what is wrong.
func (d *Daemon) Notifies() bool { return len(d.current.Load().Config.Alerts.Notify) > 0 }

// Notify tells people what is wrong.
func (d *Daemon) Notify(ctx context.Context) error {
	c, done := d.acquire()
	defer done()
	return c.Announce(ctx)
}

func (d *Daemon) kickNotify(ctx context.Context) {
	if !d.Notifies() {
		return
	}
	if err := d.queue.KickNotify(ctx); err != nil {
		d.Log.WarnContext(ctx, "people are notified a minute later", "err", err)
	}
}

// subjects is how many tasks and sandboxes a pass was about.
func subjects(r *run.Result) int {
	n := r.Judged.Fleet
	for name, count := range r.Counts {
		if reconcile.ParseCount(name).What == reconcile.CountTasks {
			n += count
		}
	}
	return n
}

// betweenRuns is how close two passes of a kind may begin: half of the time between two turns of
// the schedule, which may come twice after a process was killed. Before and after a pause of
// the schedule, a night for example, the shorter of the two gaps counts.
func betweenRuns(s cron.Schedule, now time.Time) time.Duration {
	next := s.Next(now)
	return min(next.Sub(now), s.Next(next).Sub(next)) / 2
}

// tell logs what a pass came to. A quick pass that found nothing to do and nothing amiss is
// no news.
func (d *Daemon) tell(ctx context.Context, r *run.Result, took time.Duration) {
	do, held := 0, 0
	for i := range r.Plan.Steps {
		if len(r.Plan.Steps[i].HeldBy) == 0 {
			do++
		} else {
			held++
		}
	}
	log := d.Log.With("pass", r.Pass, "kind", r.Due, "took", text.Duration(took),
		"findings", len(r.Plan.Findings), "steps", do, "held", held, "healthy", r.Plan.Kept,
		"not_looked_at", r.Plan.Unlooked+r.Plan.Blinds())
	d.tellFrozen(ctx, r)
	switch {
	case !r.Complete:
		log.WarnContext(ctx, "pass not complete", "err", r.Error)
	case r.Due == reconcile.Full || do > 0:
		log.InfoContext(ctx, "pass")
	default:
		log.DebugContext(ctx, "pass")
	}
}

// tellFrozen logs when a source loses trust, and when it has it back.
func (d *Daemon) tellFrozen(ctx context.Context, r *run.Result) {
	now := map[string]bool{}
	for _, s := range r.Frozen() {
		now[s.Name] = true
		if !d.frozen[s.Name] {
			d.Log.WarnContext(ctx, "source not trusted", "source", s.Name, "reason", s.Reason.String())
		}
	}
	for name := range d.frozen {
		if !now[name] {
			d.Log.InfoContext(ctx, "source trusted again", "source", name)
		}
	}
	d.frozen = now
}

// Remedy works at one remedy.
func (d *Daemon) Remedy(ctx context.Context, id string) (again time.Duration, err error) {
	c, done := d.acquire()
	defer done()
	return c.worker.Remedy(ctx, id)
}

// Probe probes one sandbox.
func (d *Daemon) Probe(ctx context.Context, ref reconcile.Ref) error {
	c, done := d.acquire()
	defer done()
	return c.worker.Probe(ctx, ref)
}
