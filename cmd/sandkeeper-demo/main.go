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
	limit   time.Duration
	folder  string // where the temporary folder is made; "" for the usual place
	hurry   bool   // everything that breaks broke a while ago, so that no threshold is waited for
	program string // the program to drive; "" to find it
}

// storyLength is how long the story takes when nothing delays it.
const storyLength = 10 * time.Minute

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
  sandkeeper-demo --once`,
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return runDemo(cmd.Context(), out, f) },
	}
	c.Flags().
		BoolVar(&f.once, "once", false, "end after the story; exit code 1 unless all was repaired and nothing harmed")
	c.Flags().DurationVar(&f.limit, "limit", storyLength+5*time.Minute, "longest time for the story")
	c.Flags().StringVar(&f.folder, "folder", "", "make the temporary folder below this one (default /tmp)")
	c.Flags().BoolVar(&f.hurry, "hurry", false, "let the incidents lie in the past, so that no threshold is waited for")
	c.Flags().StringVar(&f.program, "program", "",
		"the sandkeeper to drive (default: beside this one, built, or on the PATH)")
	return c
}

// runDemo sets the stage, plays the story and clears everything away, also when it is
// interrupted at any moment.
func runDemo(ctx context.Context, out io.Writer, f *settings) (err error) {
	if f.limit <= 0 {
		return fmt.Errorf("--limit %s: give the story a time longer than 0, such as 15m", f.limit)
	}
	tell := newTeller(out)
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
	return interrupted(ctx, d.play(ctx, tell))
}

// interrupted: Ctrl-C is how a demo ends, not a mistake.
func interrupted(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}
