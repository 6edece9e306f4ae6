package app

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/queue"
)

// The waits before a stream that broke, or that ended as soon as it was open, is opened again.
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
	lost, again, limit := false, reopening{wait: reopenFirst}, rate.NewLimiter(10, 200)
	for ctx.Err() == nil {
		began := time.Now()
		err := s.Stream(ctx, func() {
			if a.Local.Streaming(name, true); lost {
				a.Log.InfoContext(ctx, "a provider's stream is open again", "provider", name)
			}
			lost = false
		}, func(sandbox string) {
			if limit.Allow() {
				a.ended(ctx, name, sandbox)
			} else {
				a.Local.Push(name, "too-many")
			}
		})
		pause := again.after(time.Since(began), err == nil)
		if pause == 0 || ctx.Err() != nil {
			continue // it came to its end
		}
		if a.Local.Streaming(name, false); !lost && err != nil {
			a.Log.WarnContext(ctx, "a provider's stream is lost, passes find the same later", "provider", name, "err", err)
		}
		lost = err != nil
		_ = reconcile.Sleep(ctx, pause) // ctx ended: so does the loop
	}
}

// A reopening is how long a stream is waited with before it is opened again.
type reopening struct{ wait time.Duration } // of the next one that is over too soon

// after is the pause behind a stream that lasted so long and came to its end, or broke. One that is over sooner than
// the last wait took tells of an engine or a proxy that ends each: its clock may be ahead by more than streams last.
// Without a pause the asking would take the whole rate of the provider.
func (r *reopening) after(lasted time.Duration, ended bool) time.Duration {
	long := lasted > r.wait
	if long {
		r.wait = reopenFirst
	}
	if long && ended {
		return 0
	}
	pause := r.wait
	r.wait = min(2*r.wait, reopenMost)
	return pause
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
