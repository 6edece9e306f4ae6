package main

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/console"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/ledger"
)

// A demo is the story under way.
type demo struct {
	*settings
	stage    *demoStage
	ledger   *ledger.Ledger // what sandkeeper says; only read
	platform *platform
	script   *script
	truth    *truth
	tell     *teller
}

// openDemo makes the ledger and fills the platform with life.
func openDemo(ctx context.Context, stage *demoStage, f *settings) (*demo, error) {
	if _, err := stage.program.verb(ctx, "migrate"); err != nil {
		return nil, err
	}
	truth := newTruth(stage)
	p := newPlatform(stage, truth)
	if err := p.populate(ctx); err != nil {
		return nil, err
	}
	l := ledger.NewLedger(stage.pool, ledger.Options{Installation: "demo"})
	return &demo{settings: f, stage: stage, ledger: l, platform: p, truth: truth}, nil
}

// play runs the platform and the daemon beside the story. All are waited for, and each of
// them that breaks ends the others.
func (d *demo) play(ctx context.Context, tell *teller) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	daemon, err := d.stage.startDaemon(ctx)
	if err != nil {
		return err
	}
	defer daemon.wait()
	defer cancel() // before it is waited for
	d.tell = tell
	if err := d.write(tell); err != nil {
		return err
	}
	defer d.script.close()
	if err := d.stage.startWatchers(ctx, d.watched); err != nil {
		return err
	}
	tell.opening(d.stage, d.script.scenes)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return d.platform.live(ctx) })
	g.Go(func() error { return daemon.watch(ctx) })
	g.Go(func() error {
		defer cancel() // the story is over
		return d.story(ctx)
	})
	return g.Wait()
}

// write makes the script of the story, as the flags want it.
func (d *demo) write(tell *teller) error {
	d.script = &script{stage: d.stage, platform: d.platform, truth: d.truth, ledger: d.ledger, tell: tell, hurry: d.hurry}
	scenes, err := chosen(d.script.day(), d.parts)
	if err != nil {
		return err
	}
	d.script.scenes = paced(scenes, d.speed)
	if d.limit == 0 {
		d.limit = length(d.script.scenes) + more
	}
	d.script.longest = d.limit
	return nil
}

// story plays the scenes, tells what the ledger says of them, and goes on with small ones.
func (d *demo) story(ctx context.Context) error {
	d.tell.begin()
	d.script.begin()
	began, told := time.Now(), false
	for {
		if err := d.turn(ctx); err != nil {
			return err
		}
		if !told && (d.script.over() && d.truth.settled() || time.Since(began) > d.limit) {
			told = true
			d.tell.summary(d.truth.table(), d.truth.harmed())
			if d.once {
				return d.verdict()
			}
			d.tell.next(d.stage, d.truth.example())
		}
		if told && d.script.over() {
			d.script.encore()
		}
		if err := reconcile.Sleep(ctx, 500*time.Millisecond); err != nil {
			return err
		}
	}
}

// most is how much of each list of the ledger a turn reads: more than changes in between.
const most = 500

// turn is one step of the story: what came of what is broken, and what happens now.
func (d *demo) turn(ctx context.Context) error {
	o, err := d.look(ctx)
	if err != nil {
		return err
	}
	d.tell.hearNowAndThen(o, d.truth)
	return d.script.turn(ctx, o)
}

// look reads the ledger, whoever wrote it, and compares it with the truth.
func (d *demo) look(ctx context.Context) (*reconcile.Overview, error) {
	o, err := d.ledger.Overview(ctx, most)
	if err != nil {
		return nil, err
	}
	return &o, d.truth.learn(ctx, &o, d.platform.healthy())
}

// verdict is the exit code of --once.
func (d *demo) verdict() error {
	if n := len(d.truth.harmed()); n > 0 {
		return fmt.Errorf("%s of healthy work harmed", console.Plural(n, "piece"))
	}
	if n := d.truth.open(); n > 0 {
		return fmt.Errorf("%s not repaired within %s", console.Plural(n, "broken thing"), d.limit)
	}
	return nil
}
