package queue

import (
	"context"
	"fmt"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

const (
	// shortWait is how long a remedy waits inside its job. River is late by up to twice its
	// poll for what is snoozed; but who waits in a job keeps others from being worked.
	shortWait = 2 * time.Second
	// probeBudget is how old a probe may get: its budget was for the minute of its kick.
	probeBudget = 2 * time.Minute
)

// A shared is what all jobs share that are worked between one start and stop of a queue.
type shared struct {
	*Queue
	stop context.Context // ends when the process is to stop; the context of a job, after the grace
}

// passWorker runs passes.
type passWorker struct {
	river.WorkerDefaults[passArgs]
	shared
}

// Timeout bounds a pass.
func (*passWorker) Timeout(*river.Job[passArgs]) time.Duration { return passTimeout }

// Work runs a pass, and waits for the pass lease while somebody holds it. A pass that is
// told to stop leaves its job to another process, which finds out whether it was done.
func (w *passWorker) Work(ctx context.Context, job *river.Job[passArgs]) error {
	w.passes(job.Args.Pass).Add(1)
	defer w.passes(job.Args.Pass).Add(-1)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(w.stop, cancel)() //nolint:contextcheck // a pass ends with the process too
	err := w.spaced(ctx, job.Args)
	if err == nil {
		err = w.collapse(ctx, job)
	}
	var again time.Duration
	if err == nil {
		again, err = w.pass(ctx, job.Args)
	}
	switch {
	case w.stop.Err() != nil:
		return river.JobSnooze(0) // whatever was cut short: the job has one attempt, and another process's is to be it
	case err != nil:
		return err
	case again > 0:
		// Another process has run passes all the while, or is dead and its lease about to end.
		return w.kickPass(ctx, job.Args)
	}
	return nil
}

// pass asks for a pass until there is nothing to wait for, or patience ends.
func (w *passWorker) pass(ctx context.Context, args passArgs) (again time.Duration, err error) {
	until := time.Now().Add(w.pace.patience)
	for {
		if due, err := w.due(ctx, args); !due || err != nil {
			return 0, err
		}
		again, err = w.duty(ctx, args)
		if err != nil || again <= 0 || time.Now().Add(again).After(until) || !pause(ctx, again, nil) {
			return again, err
		}
	}
}

func (w *passWorker) duty(ctx context.Context, args passArgs) (again time.Duration, err error) {
	if args.Asked || args.Pushed != nil {
		return w.o.Duty.PassNow(ctx, args.Pass, args.Pushed...)
	}
	return w.o.Duty.Pass(ctx, args.Pass)
}

// due reports whether a pass that a watch missed is still missing. One that takes long has
// begun in time when it ends at last; without this another would follow at its heels.
func (w *passWorker) due(ctx context.Context, args passArgs) (bool, error) {
	if !args.Overdue {
		return true, nil
	}
	began, now, err := w.o.Ledger.LastBegan(ctx, args.Pass)
	schedule, _ := w.schedules.of(args.Pass)
	overdue, _ := lookout(turnAfter(schedule, began), began, now, 0)
	return overdue, err
}

// remedyWorker works at remedies.
type remedyWorker struct {
	river.WorkerDefaults[remedyArgs]
	shared
}

// Timeout bounds the work at a remedy.
func (*remedyWorker) Timeout(*river.Job[remedyArgs]) time.Duration { return remedyTimeout }

// Work works at a remedy until there is nothing to do or a longer wait.
func (w *remedyWorker) Work(ctx context.Context, job *river.Job[remedyArgs]) error {
	for {
		again, err := w.o.Duty.Remedy(ctx, job.Args.ID)
		switch {
		case err != nil && ctx.Err() != nil && w.stop.Err() != nil:
			return river.JobSnooze(0) // cut short at the end of the grace: somebody else goes on
		case err != nil:
			return err
		case again <= 0:
			return nil
		case again > shortWait || late(ctx, again) || !pause(ctx, again, w.stop.Done()):
			return river.JobSnooze(again)
		}
	}
}

// late reports whether a context ends within a time, and as much again for the work.
func late(ctx context.Context, d time.Duration) bool {
	end, ok := ctx.Deadline()
	return ok && time.Now().Add(d+remedyTimeout/2).After(end)
}

// probeWorker probes sandboxes.
type probeWorker struct {
	river.WorkerDefaults[probeArgs]
	shared
}

// Timeout bounds a probe.
func (*probeWorker) Timeout(*river.Job[probeArgs]) time.Duration { return probeTimeout }

// Work probes a sandbox, unless the job is too old.
func (w *probeWorker) Work(ctx context.Context, job *river.Job[probeArgs]) error {
	ref := reconcile.Ref{Provider: job.Args.Provider, ID: job.Args.Sandbox}
	if age := waited(job.JobRow); age > probeBudget {
		w.o.Log.DebugContext(ctx, "probe dropped", "sandbox", ref.String(), "age", age.String())
		return nil
	}
	err := w.o.Duty.Probe(ctx, ref)
	if err != nil && ctx.Err() != nil && w.stop.Err() != nil {
		return river.JobSnooze(0)
	}
	return err
}

// waited is how long a job had waited when it was taken, both by the database's clock.
func waited(job *rivertype.JobRow) time.Duration {
	if job.AttemptedAt == nil {
		return 0 // unreachable: who works a job has taken it
	}
	return job.AttemptedAt.Sub(job.CreatedAt)
}

// spaced lets a pass for pushes begin only a while after the last one did: whatever is pushed, and however much, there
// are not more passes than that. What comes meanwhile goes into the same pass.
func (w *passWorker) spaced(ctx context.Context, args passArgs) error {
	if args.Pushed == nil {
		return nil
	}
	began, now, err := w.o.Ledger.LastBegan(ctx, args.Pass)
	if err != nil {
		return fmt.Errorf("read when the last %s pass began: %w", args.Pass, err)
	}
	if wait := w.pace.pushed - now.Sub(began); wait > 0 {
		pause(ctx, min(wait, w.pace.pushed), nil) // the clock may have been set back
	}
	return nil
}

// collapse deletes the jobs for passes that this one covers: those that were asked for
// before it was taken. A full pass is a quick one too. One that may turn out not to be due
// covers nothing. A pass for pushes takes over what others of them are to look at, and nothing else does: one of the
// schedule may turn out not to be due.
func (w *passWorker) collapse(ctx context.Context, job *river.Job[passArgs]) error {
	if job.Args.Overdue {
		return nil
	}
	if job.Args.Pushed != nil {
		var err error
		if job.Args.Pushed, err = w.takePushed(ctx, job.ID); err != nil {
			return fmt.Errorf("take over what else was pushed: %w", err)
		}
		return nil
	}
	kinds := []string{string(job.Args.Pass)}
	if job.Args.Pass == reconcile.Full {
		kinds = append(kinds, string(reconcile.Quick))
	}
	if err := w.deleteCovered(ctx, job.ID, kinds); err != nil {
		return fmt.Errorf("delete the jobs that this %s pass covers: %w", job.Args.Pass, err)
	}
	return nil
}
