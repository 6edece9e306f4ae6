package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// demoFlags are the flags of demo.
type demoFlags struct {
	once   bool
	limit  time.Duration
	folder string // where the temporary folder is made; "" for the usual place
	hurry  bool   // everything that breaks broke a while ago, so that no threshold is waited for
}

// storyLength is how long the story takes when nothing delays it.
const storyLength = 10 * time.Minute

func demoCommand(o *options) *cobra.Command {
	f := &demoFlags{}
	c := &cobra.Command{
		Use:   "demo",
		Short: "A scripted day of incidents, with the daemon and its page",
		Long: `Demo starts a private PostgreSQL in a temporary folder and a simulated Daytona, E2B and
Vercel over real HTTP with some 300 sandboxes, plays a platform whose workers live and
die, breaks things on purpose, and runs the daemon ("sandkeeper run") on it, in enforce
mode, with its page and metrics. It announces what will break and what to look at, tells
what was found, held, done and confirmed, and proves that nothing healthy was harmed.

The day takes ten minutes; platform and daemon then go on until Ctrl-C, which removes
everything. It needs the server programs of PostgreSQL (initdb, postgres) on the PATH or
where packages put them, and nothing else.`,
		Example: `  sandkeeper demo
  sandkeeper demo --once`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runDemo(cmd.Context(), o, f) },
	}
	c.Flags().
		BoolVar(&f.once, "once", false, "end after the story; exit code 1 unless all was repaired and nothing harmed")
	spanFlag(c, &f.limit, "limit", storyLength+5*time.Minute, "longest time for the story")
	c.Flags().StringVar(&f.folder, "folder", "", "make the temporary folder below this one (default /tmp)")
	c.Flags().BoolVar(&f.hurry, "hurry", false, "let the incidents lie in the past, so that no threshold is waited for")
	return c
}

// A demo is the story under way.
type demo struct {
	*demoFlags
	options  *options // of the daemon, whose log goes into a file
	stage    *demoStage
	world    *world // of the ledger
	platform *platform
	script   *script
	truth    *truth
	tell     *teller
}

// runDemo sets the stage, plays the story and clears everything away, also when it is
// interrupted at any moment.
func runDemo(ctx context.Context, o *options, f *demoFlags) (err error) {
	// SIGHUP comes when the terminal is closed. A second Ctrl-C must not keep the first one
	// from clearing away.
	ctx, stop := signal.NotifyContext(ctx, syscall.SIGHUP, os.Interrupt, syscall.SIGTERM)
	defer stop()
	tell := newTeller(o.stdio)
	tell.note("starting a private PostgreSQL and a simulated Daytona, E2B and Vercel …")
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
	return interrupted(ctx, d.play(ctx, tell))
}

// interrupted: Ctrl-C is how a demo ends, not a mistake.
func interrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// openDemo opens the ledger as `run --migrate` would, from the config file, and fills the
// platform with life.
func openDemo(ctx context.Context, stage *demoStage, f *demoFlags) (*demo, error) {
	o := &options{stdio: stdio{out: stage.log, err: stage.log}, config: stage.config}
	c, err := o.load()
	if err != nil {
		return nil, err
	}
	w, err := o.openLedger(ctx, c)
	if err != nil {
		return nil, err
	}
	truth := newTruth(stage)
	p := newPlatform(stage, truth)
	if err := errors.Join(w.migrate(ctx), p.populate(ctx)); err != nil {
		w.close()
		return nil, err
	}
	return &demo{demoFlags: f, options: o, stage: stage, world: w, platform: p, truth: truth}, nil
}

// play runs the platform and the daemon beside the story. All are waited for, and each of
// them that breaks ends the others.
func (d *demo) play(ctx context.Context, tell *teller) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	g, ctx := errgroup.WithContext(ctx)
	daemon, err := newDaemon(ctx, d.options, d.world)
	if err != nil {
		return err
	}
	defer daemon.close()
	d.tell = tell
	d.script = &script{stage: d.stage, platform: d.platform, truth: d.truth, keeper: d.world, tell: tell, hurry: d.hurry}
	d.script.scenes = d.script.day()
	defer d.script.close()
	tell.opening(d.stage, d.script.scenes)
	g.Go(func() error { return d.platform.live(ctx) })
	g.Go(func() error { return daemon.run(ctx, d.stage.front) })
	g.Go(func() error {
		defer cancel() // the story is over
		return d.story(ctx)
	})
	return g.Wait()
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
	o, err := d.world.ledger.Overview(ctx, most)
	if err != nil {
		return nil, err
	}
	return &o, d.truth.learn(ctx, &o, d.platform.healthy())
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
