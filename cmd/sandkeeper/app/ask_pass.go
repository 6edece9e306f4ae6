package app

import (
	"context"
	"fmt"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/queue"
)

// AskPass has a running daemon make a pass now, and records who asked for it.
func (a Operator) AskPass(ctx context.Context, kind reconcile.PassKind, by *Request) (string, error) {
	if err := a.Ledger.Note(ctx, by.Signed(), "pass:"+string(kind), string(kind)+" pass asked for"); err != nil {
		return "", err
	}
	worked, err := queue.AskPass(ctx, a.Pool, kind)
	switch {
	case err != nil:
		return "", err
	case worked:
		return fmt.Sprintf("asked for: a running daemon makes a %s pass now", kind), nil
	}
	return "recorded, but no daemon runs: the next `sandkeeper once` is the next pass", nil
}

// Kicked tells running daemons of new actions and says who carries them out.
func (a Operator) Kicked(ctx context.Context, asked []reconcile.Action) string {
	var work reconcile.Work
	for i := range asked {
		if asked[i].Seq == 0 {
			work.Remedies = append(work.Remedies, asked[i].Remedy)
		}
	}
	worked, err := queue.AskWork(ctx, a.Pool, work)
	switch {
	case err != nil:
		a.Log.WarnContext(ctx, "daemon not notified, its next pass does it", "err", err)
		return "the next pass of a running daemon carries it out, or the next once"
	case worked:
		return "a running daemon carries it out now, after it has looked again"
	}
	return "no daemon runs: the next `sandkeeper once` carries it out, after it has looked again"
}
