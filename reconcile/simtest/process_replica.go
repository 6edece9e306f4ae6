package simtest

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/run"
	"github.com/sandkeeper/sandkeeper/reconcile/simtest/history"
)

// A replica is a daemon: it makes passes by a schedule, and works off what passes of any
// replica left on the board.
type replica struct {
	*process
	reload  bool
	keeper  *run.Reconciler
	busy    bool // with a pass
	workers []worker
}

// A worker works at one job after the other.
type worker struct {
	worker *run.Worker
	busy   bool
}

// comesBack is how long a replica takes to come again.
const comesBack = 20 * time.Second

func (e daemons) startReplica(s schedule) {
	r := &replica{process: e.birth(s.name), workers: make([]worker, s.lanes)}
	r.sieved, r.small = s.sieved, s.small
	r.policy.Small = s.small
	r.process.back = func(after time.Duration) {
		e.replica = slices.DeleteFunc(e.replica, func(o *replica) bool { return o == r })
		if after == 0 {
			after = comesBack
		}
		e.after(after, func() { e.startReplica(s) })
	}
	e.startWorkers(r)
	e.replica = append(e.replica, r)
	e.ticks(r, reconcile.Quick, s.quick)
	e.ticks(r, reconcile.Full, s.full)
}

// startWorkers makes what works by the config of now. Jobs that began by another one end with it.
func (e daemons) startWorkers(r *replica) {
	r.reload, r.standing = false, new(run.Standing)
	r.keeper = e.keeper(r.process, 0)
	for i := range r.workers {
		r.workers[i].worker = run.NewWorker(r.stop, e.keeper(r.process, i+1))
	}
}

// ticks makes passes of a kind by their schedule, which is the same for all replicas.
func (e daemons) ticks(r *replica, kind reconcile.PassKind, every time.Duration) {
	if every == 0 {
		return
	}
	now := e.since()
	e.at(now+every-now%every, func() { e.tick(r, kind, every) })
}

func (e daemons) tick(r *replica, kind reconcile.PassKind, every time.Duration) {
	if r.over(e.engine) {
		return
	}
	now := e.since()
	if r.frozen > now {
		e.at(r.frozen, func() { e.tick(r, kind, every) })
		return
	}
	e.ticks(r, kind, every)
	e.makesPass(r, kind, every/2)
}

// pushed has each replica that is free make a quick pass now, which looks at all sandboxes that there are, and at one
// that there is not: whatever a provider pushes, and however it lies, is a reason for some of these looks.
func (e daemons) pushed() {
	var refs []reconcile.Ref
	for _, name := range slices.Sorted(maps.Keys(e.place.Providers())) {
		refs = append(refs, reconcile.Ref{Provider: name, ID: "sb-of-nobody"})
		for _, sb := range e.place.World(name).Sandboxes() {
			refs = append(refs, reconcile.Ref{Provider: name, ID: sb.ID})
		}
	}
	for _, r := range slices.Clone(e.replica) {
		if !r.over(e.engine) && r.frozen <= e.since() {
			e.cover.add("event", verbPush)
			e.makesPass(r, reconcile.Quick, 0, refs...)
		}
	}
}

// makesPass makes a pass, unless one is being made.
func (e daemons) makesPass(r *replica, kind reconcile.PassKind, apart time.Duration, pushed ...reconcile.Ref) {
	if r.busy || r.stop.Err() != nil {
		return
	}
	if r.reload {
		e.begins(r)
	}
	r.busy = true
	k := r.keeper
	e.run(r.process, 0, func() func() {
		result, err := passPatiently(r.work, r.stop, k, kind, apart, pushed)
		return func() {
			r.busy = false
			e.passed(r.process, result, err)
			e.retire(r)
		}
	})
}

// passPatiently asks for a pass until it has the lease, or patience ends.
func passPatiently(work, stop context.Context, k *run.Reconciler, kind reconcile.PassKind, apart time.Duration,
	pushed []reconcile.Ref,
) (*run.Result, error) {
	for tries := 1; ; tries++ {
		r, err := k.Pass(stop, kind, apart, pushed...)
		var held *reconcile.HeldError
		if !errors.As(err, &held) || tries == 20 {
			return r, err
		}
		select {
		case <-time.After(time.Second):
		case <-work.Done():
			return nil, errDead
		}
	}
}

// over reports whether the replica is no more.
func (r *replica) over(e *engine) bool { return !slices.Contains(e.living, r.process) }

// begins takes the config of now.
func (e daemons) begins(r *replica) {
	e.configure(r.process)
	e.startWorkers(r)
}

// retire ends a replica that was asked to stop and has nothing under way.
func (e daemons) retire(r *replica) {
	if r.stop.Err() == nil || r.busy || r.over(e.engine) {
		return
	}
	for i := range r.workers {
		if r.workers[i].busy {
			return
		}
	}
	e.crash(r.process, 0)
}

// A board is the queue that all replicas share.
type board struct {
	jobs   []*job
	number int
}

// A job is work at a remedy or a probe of a sandbox.
type job struct {
	remedy  string
	probe   reconcile.Ref
	at      time.Duration // not before
	asked   time.Duration
	tries   int
	number  int
	running bool
}

func (j *job) like(o *job) bool { return j.remedy == o.remedy && j.probe == o.probe }

// The times of the queue, as River and the daemon have them.
const (
	rescueAfter = time.Minute     // what runs for longer is a killed process's
	probeBudget = 2 * time.Minute // how old a probe may get
	mostTries   = 6
)

// add puts a job on the board, unless one like it waits already.
func (b *board) add(j *job, evenAlike bool) {
	for _, o := range b.jobs {
		if o.like(j) && (!o.running || j.remedy == "") && !evenAlike {
			return
		}
	}
	b.number++
	j.number = b.number
	b.jobs = append(b.jobs, j)
}

func (b *board) remove(j *job) {
	b.jobs = slices.DeleteFunc(b.jobs, func(o *job) bool { return o == j })
}

// next is when somebody could begin a job.
func (b *board) next(e *engine) time.Duration {
	first := history.Longest
	if len(b.jobs) == 0 {
		return first
	}
	for _, j := range b.jobs {
		if !j.running {
			first = min(first, j.at)
		}
	}
	if first <= e.since() {
		return history.Longest // it is due: whoever becomes free takes it
	}
	return first
}

// A free lane is one that may take a job now.
type freeLane struct {
	r *replica
	i int
}

func (e daemons) freeLanes() []freeLane {
	var free []freeLane
	for _, r := range e.replica {
		if r.frozen > e.since() || r.stop.Err() != nil {
			continue
		}
		for i := range r.workers {
			if !r.workers[i].busy {
				free = append(free, freeLane{r, i})
			}
		}
	}
	slices.SortFunc(free, func(a, b freeLane) int {
		if c := strings.Compare(a.r.name, b.r.name); c != 0 {
			return c
		}
		return a.i - b.i
	})
	return free
}

// dispatch gives a job that is due to a lane that is free, both by the seed, and reports
// whether there was one.
func (e daemons) dispatch() bool {
	if len(e.board.jobs) == 0 {
		return false
	}
	var due []*job
	for _, j := range e.board.jobs {
		if !j.running && j.at <= e.since() {
			due = append(due, j)
		}
	}
	if len(due) == 0 {
		return false
	}
	free := e.freeLanes()
	if len(free) == 0 {
		return false
	}
	by := mix(e.script.Seed, uint64(due[0].number), uint64(e.since()))
	e.work(free[by%uint64(len(free))], due[(by>>32)%uint64(len(due))])
	return true
}

// work lets a lane work at a job.
func (e daemons) work(l freeLane, j *job) {
	if j.remedy == "" && e.since()-j.asked > probeBudget {
		e.board.remove(j)
		return
	}
	if l.r.reload {
		e.begins(l.r)
	}
	own := &l.r.workers[l.i]
	own.busy, j.running = true, true
	j.tries++
	p, w := l.r.process, own.worker
	e.after(rescueAfter, func() { e.rescue(p, j) })
	e.run(p, l.i+1, func() func() {
		again, err := j.do(p.work, w)
		return func() {
			own.busy = false
			e.worked(j, again, err)
			e.retire(l.r)
		}
	})
}

func (j *job) do(ctx context.Context, w *run.Worker) (time.Duration, error) {
	if j.remedy != "" {
		return w.Remedy(ctx, j.remedy)
	}
	return 0, w.Probe(ctx, j.probe)
}

// worked puts a job back that is not done.
func (e daemons) worked(j *job, again time.Duration, err error) {
	j.running = false
	switch {
	case err != nil && j.remedy != "" && j.tries < mostTries:
		j.at = e.since() + min(time.Second<<min(j.tries-1, 5), 30*time.Second)
	case err == nil && again > 0:
		j.at = e.since() + again
	default:
		e.board.remove(j)
	}
}

// rescue puts a job back that a killed process had begun.
func (e daemons) rescue(p *process, j *job) {
	switch {
	case !j.running || slices.Contains(e.living, p):
	case j.remedy == "" || j.tries >= mostTries:
		e.board.remove(j)
	default:
		j.running = false
	}
}

// boardCalls are a process's calls of the queue.
type boardCalls struct{ *seat }

// Kick adds jobs for the work.
func (c boardCalls) Kick(ctx context.Context, work reconcile.Work) error {
	_, err := ask(ctx, c.seat, query{party: partyQueue, name: "Kick", args: work, writes: true}, func() (bool, error) {
		c.e.daemons().kick(work, c.e.turn.kicks)
		return true, nil
	})
	return err
}

// kick puts jobs on the board. A fault of the queue loses or repeats them.
func (e daemons) kick(work reconcile.Work, how string) {
	if how == "lost" {
		return
	}
	times := 1
	if how == "twice" {
		times = 2
	}
	now := e.since()
	for range times {
		for _, id := range work.Remedies {
			e.board.add(&job{remedy: id, at: now, asked: now}, times > 1)
		}
		for _, ref := range work.Probes {
			e.board.add(&job{probe: ref, at: now, asked: now}, times > 1)
		}
	}
}

// daemons is the part of an [engine] that runs the daemon's replicas: their ticks, their jobs.
type daemons struct{ *engine }

func (e *engine) daemons() daemons { return daemons{e} }
