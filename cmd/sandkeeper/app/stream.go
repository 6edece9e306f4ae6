package app

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/queue"
)

// The waits before a stream that broke is opened again.
const (
	reopenFirst = time.Second
	reopenMost  = time.Minute
)

// streams listens to the providers of the config in force that stream, until ctx ends. Each replica does: what several
// hear comes to one pass. Without a stream passes find the same, later.
func (d *Daemon) streams(ctx context.Context) {
	ticker := time.NewTicker(reloadEvery)
	defer ticker.Stop()
	for ctx.Err() == nil {
		c := d.current.Load()
		within, leave := context.WithCancel(ctx)
		var listening sync.WaitGroup
		for name, p := range c.Providers {
			if s := reconcile.CapabilitiesOf(p).Streams; s != nil {
				listening.Go(func() { c.listen(within, name, s) })
			}
		}
		for ctx.Err() == nil && d.current.Load() == c {
			select {
			case <-ctx.Done():
			case <-ticker.C:
			}
		}
		leave()
		listening.Wait()
	}
}

// listen keeps one stream open.
func (a *App) listen(ctx context.Context, name string, s reconcile.Streams) {
	a.Local.Streaming(name, false)
	defer a.Local.Streaming(name, false)
	lost, wait, limit := false, reopenFirst, rate.NewLimiter(10, 200)
	for ctx.Err() == nil {
		err := s.Stream(ctx, func() {
			if a.Local.Streaming(name, true); lost {
				a.Log.InfoContext(ctx, "a provider's stream is open again", "provider", name)
			}
			lost, wait = false, reopenFirst
		}, func(sandbox string) {
			if limit.Allow() {
				a.ended(ctx, name, sandbox)
			} else {
				a.Local.Push(name, "too-many")
			}
		})
		if err == nil || ctx.Err() != nil {
			continue // it came to its end
		}
		if a.Local.Streaming(name, false); !lost {
			a.Log.WarnContext(ctx, "a provider's stream is lost, passes find the same later", "provider", name, "err", err)
		}
		lost = true
		_ = reconcile.Sleep(ctx, wait) // ctx ended: so does the loop
		wait = min(2*wait, reopenMost)
	}
}

// ended has a sandbox looked at that a stream says has ended.
func (a *App) ended(ctx context.Context, provider, sandbox string) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	outcome := "looked"
	if _, err := queue.AskPushed(ctx, a.Pool, reconcile.Ref{Provider: provider, ID: sandbox}); err != nil {
		outcome = "failed"
		a.Log.DebugContext(ctx, "look after an event not asked for, the next pass makes up for it", "provider", provider,
			"err", err)
	}
	a.Local.Push(provider, outcome)
}
