// Command sandkeeper-demo plays a scripted day of incidents on a private PostgreSQL and
// simulated providers, and drives the real program through it by its verbs.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
)

func main() {
	// SIGHUP comes when the terminal is closed. A second Ctrl-C must not keep the first one
	// from clearing away.
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGHUP, os.Interrupt, syscall.SIGTERM)
	code := execute(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// execute plays a demo by its command line and returns the exit code.
func execute(ctx context.Context, args []string, out, errs io.Writer) int {
	c := command(out) //nolint:contextcheck // cobra hands it on
	c.SetArgs(args)
	c.SetOut(out)
	c.SetErr(errs)
	if err := c.ExecuteContext(ctx); err != nil {
		fmt.Fprintln(errs, "sandkeeper-demo:", err)
		return 1
	}
	return 0
}

// settings are the flags of the demo.
type settings struct {
	once    bool
	limit   time.Duration // 0 for what the story takes, and some more
	speed   float64       // how many times as fast the scenes come
	parts   []string      // of the story, to play only these; none for all
	keep    bool          // leave config, log and database
	watched bool          // by a real Prometheus and Alertmanager
	folder  string        // where the temporary folder is made; "" for the usual place
	hurry   bool          // everything that breaks broke a while ago, so that no threshold is waited for
	program string        // the program to drive; "" to find it
}

// storyLength is how long the whole story takes when nothing delays it, more how much longer than that it
// may take, and theEnd how long after the last scene the sum of it is told.
const (
	storyLength = 10 * time.Minute
	more        = 5 * time.Minute
	theEnd      = 10 * time.Second
)

func command(out io.Writer) *cobra.Command {
	f := &settings{}
	c := &cobra.Command{
		Use:   "sandkeeper-demo",
		Short: "A scripted day of incidents, with the daemon and its page",
		Long: `Demo starts a private PostgreSQL in a temporary folder and a simulated Daytona, E2B and
Vercel over real HTTP with some 300 sandboxes, plays a platform whose workers live and
die, breaks things on purpose, and runs the daemon ("sandkeeper run") on it, in enforce
mode, with its page and metrics. It announces what will break and what to look at, tells
what was found, held, done and confirmed, and proves that nothing healthy was harmed.

The day takes ten minutes; platform and daemon then go on until Ctrl-C, which removes
everything. It needs the server programs of PostgreSQL (initdb, postgres) on the PATH or
where packages put them, and the program sandkeeper beside it or on the PATH; in a clone
of the source it builds one.`,
		Example: `  sandkeeper-demo
  sandkeeper-demo --once
  sandkeeper-demo --scene breaker,throttle --speed 2
  sandkeeper-demo --with-prometheus`,
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return runDemo(cmd.Context(), out, f) },
	}
	c.Flags().
		BoolVar(&f.once, "once", false, "end after the story; exit code 1 unless all was repaired and nothing harmed")
	c.Flags().DurationVar(&f.limit, "limit", 0, "longest time for the story (default: what it takes, and 5m more)")
	c.Flags().Float64Var(&f.speed, "speed", 1, "play so many times as fast, 0.2 to 5; thresholds stay as they are")
	c.Flags().StringSliceVar(&f.parts, "scene", nil,
		"play only these parts of the story: "+strings.Join(partsOf((&script{}).day()), ", "))
	c.Flags().BoolVar(&f.keep, "keep", false, "leave config, log and database when it ends, and say how to open them")
	c.Flags().BoolVar(&f.watched, "with-prometheus", false,
		"start a real Prometheus and Alertmanager with the program's alert rules beside it")
	c.Flags().StringVar(&f.folder, "folder", "", "make the temporary folder below this one (default /tmp)")
	c.Flags().BoolVar(&f.hurry, "hurry", false, "let the incidents lie in the past, so that no threshold is waited for")
	c.Flags().StringVar(&f.program, "program", "",
		"the sandkeeper to drive (default: beside this one, built, or on the PATH)")
	return c
}

// runDemo sets the stage, plays the story and clears everything away, also when it is
// interrupted at any moment.
func runDemo(ctx context.Context, out io.Writer, f *settings) (err error) {
	if err := f.check(); err != nil {
		return err
	}
	tell := newTeller(out)
	tell.note("starting a private PostgreSQL and a simulated Daytona, E2B and Vercel …")
	stage, err := setStage(ctx, f)
	if err != nil {
		return interrupted(ctx, err)
	}
	defer func() {
		err = errors.Join(err, stage.clear())
		tell.gone(stage)
	}()
	d, err := openDemo(ctx, stage, f)
	if err != nil {
		return interrupted(ctx, err)
	}
	return interrupted(ctx, d.play(ctx, tell))
}

// check holds that the flags can be followed, and tells all that cannot at once.
func (f *settings) check() error {
	var errs []error
	if f.limit < 0 {
		errs = append(errs, fmt.Errorf("--limit %s: give the story a time longer than 0, such as 15m", f.limit))
	}
	if !(f.speed >= 0.2 && f.speed <= 5) {
		errs = append(errs, fmt.Errorf("--speed %g: the story is played 0.2 to 5 times as fast as it is written", f.speed))
	}
	_, err := chosen((&script{}).day(), f.parts)
	return errors.Join(append(errs, err)...)
}

// interrupted: Ctrl-C is how a demo ends, not a mistake.
func interrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}
