package tasks

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A Call asks the platform to change one of its rows by its own API, where an UPDATE is no transition that it knows.
type Call struct {
	Step   reconcile.Step // fail or requeue
	Task   string
	Action string // whoever asks again for the same asks with the same
	Reason string // for people
}

// A Caller makes such calls. No error says that the platform took it; what became of it is read from the row.
type Caller interface {
	Call(ctx context.Context, call Call) error
}

// CallBy names who asks the platform where tasks.fail.call or requeue.call is configured.
func (t *Tasks) CallBy(c Caller) { t.caller = c }

// callTime is for how long the row is looked at after the platform took a call, before the pass goes on. A claim is
// renewed meanwhile.
const callTime = 5 * time.Second

// ask has the platform change the row, which is only asked for while the row is as it was judged. The platform's write
// cannot be guarded from here: between this look and what the platform does lies the time of the call.
func (t *Tasks) ask(ctx context.Context, w reconcile.Write) (reconcile.Written, error) {
	if t.caller == nil {
		return "", errors.New("nobody was named who calls the platform")
	}
	if written, err := t.stands(ctx, w); err != nil || written != reconcile.WriteDone {
		return written, err
	}
	reason, mark := reconcile.SplitMark(w.Reason)
	call := Call{Step: w.Step, Task: w.Task.ID, Action: reconcile.MarkedAction(mark), Reason: reason}
	if err := t.caller.Call(ctx, call); err != nil {
		// An answer that was lost, or that was no, does not tell what was done.
		if done, unread := t.came(ctx, w); unread == nil && done {
			return reconcile.WriteDone, nil
		}
		return "", err
	}
	return t.answered(ctx, w)
}

// stands says "done" when nothing forbids to ask: the row has the status, the sandbox and the version that were judged,
// and there is no newer sign of life.
func (t *Tasks) stands(ctx context.Context, w reconcile.Write) (reconcile.Written, error) {
	written := reconcile.WriteMoved
	err := t.begin(ctx, taskRead, func(tx pgx.Tx, _ time.Time) error {
		a, err := t.asked(ctx, tx, w)
		if err != nil || a.id == "" {
			return err
		}
		if written, err = a.look(ctx, tx, false); err != nil || written != reconcile.WriteBusy {
			return err
		}
		row, err := a.now(ctx, tx)
		if err == nil && row != nil && (w.Lock || row.Version == w.Task.Version) {
			written = reconcile.WriteDone
		}
		return err
	})
	return written, err
}

// asked is an attempt that sets nothing.
func (t *Tasks) asked(ctx context.Context, tx pgx.Tx, w reconcile.Write) (*attempt, error) {
	s, err := t.statements(ctx, tx)
	if err != nil {
		return nil, err
	}
	id, _ := s.cat.fields["id"].canonical(w.Task.ID)
	return &attempt{Write: w, s: s, change: change{state: t.plan.calls[w.Step]}, id: id}, nil
}

// answered looks at the row until it has become what was asked for, for a while. What is not so by then may come later.
func (t *Tasks) answered(ctx context.Context, w reconcile.Write) (reconcile.Written, error) {
	ctx, cancel := context.WithTimeout(ctx, callTime)
	defer cancel()
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		done, err := t.came(ctx, w)
		if ctx.Err() != nil {
			return reconcile.WriteAsked, nil
		}
		if done || err != nil {
			return reconcile.WriteDone, err
		}
		select {
		case <-ctx.Done():
		case <-time.After(wait):
		}
	}
}

// came reports whether the row is what was asked for. A row that is no longer there has come to its end too.
func (t *Tasks) came(ctx context.Context, w reconcile.Write) (bool, error) {
	var done bool
	err := t.begin(ctx, taskRead, func(tx pgx.Tx, _ time.Time) error {
		a, err := t.asked(ctx, tx, w)
		if err != nil {
			return err
		}
		row, err := a.now(ctx, tx)
		if err == nil {
			done = row == nil || a.change.comesTo(a.s.plan.stateOf(row.State, row.State))
		}
		return err
	})
	if err != nil {
		return false, fmt.Errorf("read the row after the platform was asked: %w", err)
	}
	return done, nil
}
