package run

import (
	"context"
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/text"
)

// The bounds of telling: a platform that answers slowly keeps nobody waiting.
const (
	noticesAtOnce = 4
	noticesInAll  = 100
	noticeTime    = 15 * time.Second // for one of them
	tellingTime   = 30 * time.Second // for all that follow from acting
	leftoverTime  = 5 * time.Second  // for what a pass finds left over
)

// announces reports whether the platform is told of what is done to its tasks.
func (k *Reconciler) announces() bool { return k.Notices != nil && k.Notifier != nil }

// deliver tells the platform what is due to be told, for a while. What cannot be delivered
// stays in the ledger and is tried again; it fails nothing.
func (k *Reconciler) deliver(ctx context.Context, within time.Duration) {
	if !k.announces() {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	due, err := k.Notices.TakeNotices(ctx, noticesInAll)
	if err != nil {
		k.Log.WarnContext(ctx, "notices not read, the next pass tells them", "err", err)
		return
	}
	inParallel(due, k.parallel(noticesAtOnce), func(n reconcile.Notice) struct{} {
		k.notify(ctx, n)
		return struct{}{}
	})
}

// notify delivers one notice and writes down what became of it, also when the time is over
// meanwhile. One whose turn never came is left as it is.
func (k *Reconciler) notify(ctx context.Context, n reconcile.Notice) {
	if ctx.Err() != nil {
		return
	}
	within, cancel := context.WithTimeout(ctx, noticeTime)
	defer cancel()
	err := k.Notifier.Notify(within, n)
	late, end := context.WithTimeout(context.WithoutCancel(ctx), settleTime)
	defer end()
	if err != nil {
		k.Log.WarnContext(ctx, "platform not notified, it is tried again", "action", n.Action, "task", n.Task, "err", err)
		err = k.Notices.NoticeFailed(late, n.Action, text.Clip(err.Error(), 500))
	} else {
		err = k.Notices.NoticeTold(late, n.Action)
	}
	if err != nil {
		k.Log.WarnContext(ctx, "notice not written down, it may be sent again", "action", n.Action, "err", err)
	}
}
