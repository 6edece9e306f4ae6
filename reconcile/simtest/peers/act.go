package peers

import (
	"context"
	"errors"
	"fmt"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// do carries out one deed, after another look at the row for those who look again.
func (j *Janitor) do(ctx context.Context, d Deed) error {
	if d.Still != nil {
		now, found, err := j.again(ctx, d.Task.ID)
		if err != nil || !found || !d.Still(now) {
			return err
		}
		d.Task = now
	}
	switch d.Verb {
	case Fail:
		return j.write(ctx, reconcile.StepFail, d)
	case Requeue:
		return j.write(ctx, reconcile.StepRequeue, d)
	case End, Stop:
		return j.end(ctx, d)
	}
	return fmt.Errorf("%s: unreachable unless a policy has a verb of its own", d.Verb)
}

func (j *Janitor) again(ctx context.Context, id string) (reconcile.Task, bool, error) {
	rows, err := j.Tasks.ByID(ctx, []string{id})
	if err != nil || len(rows.Tasks) == 0 {
		return reconcile.Task{}, false, err
	}
	return rows.Tasks[0], true, nil
}

// write changes the row if status and sandbox are as they were seen, whatever else moved: they
// read and write in one transaction, or under a lock.
func (j *Janitor) write(ctx context.Context, step reconcile.Step, d Deed) error {
	j.Memory.done++
	reason := d.Reason + " " + reconcile.Mark(fmt.Sprintf("peer-%d", j.Memory.done))
	_, _, err := j.Tasks.Write(ctx, reconcile.Write{Step: step, Task: d.Task, Reason: reason, Lock: true})
	if err != nil {
		return fmt.Errorf("%s task %s: %w", d.Verb, d.Task.ID, err)
	}
	return nil
}

// end deletes or stops the sandbox by its id alone, as their calls do. What cannot be stopped
// and come back is deleted.
func (j *Janitor) end(ctx context.Context, d Deed) error {
	p := j.Providers[d.Ref.Provider]
	box := reconcile.Sandbox{Ref: d.Ref, BadLink: true} // whose task it is, they do not compare
	var err error
	if s := reconcile.CapabilitiesOf(p).Suspender; s != nil && d.Verb == Stop {
		_, err = s.Suspend(ctx, box)
	} else {
		_, err = p.Terminate(ctx, box)
	}
	if err != nil && !errors.Is(err, reconcile.ErrNotFound) {
		return fmt.Errorf("%s sandbox %s: %w", d.Verb, d.Ref, err)
	}
	return nil
}
