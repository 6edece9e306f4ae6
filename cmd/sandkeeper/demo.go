package main

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// demoFlags are the flags of demo.
type demoFlags struct {
	once   bool
	limit  time.Duration
	folder string // where the temporary folder is made; "" for the usual place
	hurry  bool   // everything that breaks broke a while ago, so that no threshold is waited for
}

func demoCommand(o *options) *cobra.Command {
	f := &demoFlags{}
	c := &cobra.Command{
		Use:   "demo",
		Short: "A story of incidents on a private PostgreSQL and a simulated Daytona",
		Long: `Demo starts a private PostgreSQL in a temporary folder and a simulated Daytona over real
HTTP with some 300 sandboxes, plays a platform whose workers live and die, breaks things
on purpose, and runs the passes of "sandkeeper once" on it, in enforce mode. It tells what
was broken, found, done and confirmed, and proves that nothing healthy was harmed.

The story takes about 3 minutes; the platform and the passes then go on until Ctrl-C,
which removes everything. It needs the server programs of PostgreSQL (initdb, postgres)
on the PATH or where packages put them, and nothing else.`,
		Example: `  sandkeeper demo
  sandkeeper demo --once`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runDemo(cmd.Context(), o, f) },
	}
	c.Flags().
		BoolVar(&f.once, "once", false, "end after the story; exit code 1 unless all was repaired and nothing harmed")
	c.Flags().DurationVar(&f.limit, "limit", 4*time.Minute, "longest time for the story")
	c.Flags().StringVar(&f.folder, "folder", "", "make the temporary folder below this one (default /tmp)")
	c.Flags().BoolVar(&f.hurry, "hurry", false, "let the incidents lie in the past, so that no threshold is waited for")
	return c
}

// A demo is the story under way.
type demo struct {
	*demoFlags
	stage    *demoStage
	world    *world
	platform *platform
	script   *script
	truth    *truth
	tell     *teller
}

// runDemo sets the stage, plays the story and clears everything away, also when it is
// interrupted at any moment.
func runDemo(ctx context.Context, o *options, f *demoFlags) (err error) {
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGHUP) // the terminal was closed
	defer stop()
	tell := newTeller(o.stdio)
	tell.note("starting a private PostgreSQL and a simulated Daytona …")
	stage, err := setStage(ctx, f)
	if err != nil {
		return interrupted(ctx, err)
	}
	defer func() {
		err = errors.Join(err, stage.clear())
		tell.note("everything is stopped and removed")
	}()
	d, err := openDemo(ctx, stage, f)
	if err != nil {
		return interrupted(ctx, err)
	}
	defer d.world.close()
	d.tell = tell
	tell.opening(stage)
	return interrupted(ctx, d.play(ctx))
}

// interrupted: Ctrl-C is how a demo ends, not a mistake.
func interrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// openDemo opens the stage as `once` would, from its config file, and fills it with life.
func openDemo(ctx context.Context, stage *demoStage, f *demoFlags) (*demo, error) {
	o := &options{stdio: stdio{out: stage.log, err: stage.log}, config: stage.config}
	w, err := o.open(ctx)
	if err != nil {
		return nil, err
	}
	if err := w.ledger.Migrate(ctx); err != nil {
		w.close()
		return nil, err
	}
	truth := newTruth(stage)
	p := newPlatform(stage, truth)
	if err := p.populate(ctx); err != nil {
		w.close()
		return nil, err
	}
	d := &demo{demoFlags: f, stage: stage, world: w, platform: p, truth: truth}
	d.script = newScript(stage, p, f.hurry)
	return d, nil
}

// play runs the platform beside the story. The platform is waited for.
func (d *demo) play(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	living := make(chan error, 1)
	go func() {
		defer cancel() // a platform that broke ends the story
		living <- d.platform.live(ctx)
	}()
	err := d.story(ctx)
	cancel()
	if broke := <-living; broke != nil {
		return broke
	}
	return err
}

// story plays incidents and passes in turn, and goes on with passes when it is told.
func (d *demo) story(ctx context.Context) error {
	began := time.Now()
	for told := false; ; {
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
		if err := sleep(ctx, d.script.gap()); err != nil {
			return err
		}
	}
}

// turn is one step of the story: what breaks now, one pass, and what came of it.
func (d *demo) turn(ctx context.Context) error {
	if err := d.scene(ctx); err != nil {
		return err
	}
	r, err := d.pass(ctx)
	if err != nil {
		return err
	}
	if err := d.truth.learn(ctx, r, d.platform.healthy()); err != nil {
		return err
	}
	d.tell.pass(reportOf(r, true), d.truth.harmed())
	return nil
}

func (d *demo) scene(ctx context.Context) error {
	s, err := d.script.play(ctx)
	if s != nil {
		d.tell.scene(s)
	}
	return err
}

// pass is one pass, by the same parts as `once`.
func (d *demo) pass(ctx context.Context) (*reconcile.Result, error) {
	show := newProgress(d.tell.err)
	defer show.end()
	return d.world.keeper(show.stage).Once(ctx, reconcile.Full, 3*time.Second)
}

// verdict is the exit code of --once.
func (d *demo) verdict() error {
	if n := len(d.truth.harmed()); n > 0 {
		return fmt.Errorf("demo: %s of healthy work harmed", plural(n, "piece"))
	}
	if n := d.truth.open(); n > 0 {
		return fmt.Errorf("demo: %s not repaired within %s", plural(n, "broken thing"), d.limit)
	}
	return nil
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
