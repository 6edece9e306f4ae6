package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/sandkeeper/sandkeeper/store/queue"
)

// remedyWorkers are the remedies, and the probes, that a process works at side by side. Most
// of the time they wait for a provider, and one that hangs must not keep the others waiting.
const remedyWorkers = 16

func runCommand(o *options) *cobra.Command {
	migrate := false
	c := &cobra.Command{
		Use:   "run",
		Short: "Run the daemon: passes on their schedules, page and metrics",
		Long: `Run makes quick and full passes on the schedules of the config, carries out what they
call for, and serves the status page, /metrics, /healthz and /readyz. Any number of
processes may run on one ledger: one of them makes each pass, all of them share the work,
and when one is killed the others go on.

It reads the config again when the file changes and on SIGHUP. SIGTERM and Ctrl-C stop it
once what it has begun is finished; a second Ctrl-C stops it at once, and loses nothing.`,
		Example: `  sandkeeper run --migrate
  sandkeeper run -c /etc/sandkeeper/sandkeeper.yaml`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return runDaemon(cmd.Context(), o, migrate) },
	}
	c.Flags().BoolVar(&migrate, "migrate", false, "bring the ledger's schema up to date first")
	return c
}

func runDaemon(ctx context.Context, o *options, migrate bool) error {
	boundMemory(0)
	c, err := o.load()
	if err != nil {
		return err
	}
	front, err := listen(ctx, c.Web)
	if err != nil {
		return err
	}
	defer front.close()
	w, err := o.openLedger(ctx, c)
	if err != nil {
		return err
	}
	defer w.close()
	if err := w.prepare(ctx, migrate); err != nil {
		return err
	}
	d, err := newDaemon(ctx, o, w)
	if err != nil {
		return err
	}
	defer d.close()
	return d.run(ctx, front)
}

// newDaemon makes a daemon that works by the config of its world.
func newDaemon(ctx context.Context, o *options, w *world) (*daemon, error) {
	again := *o
	again.config = w.config.Files[0] // a reload never goes over to another of the usual places
	d := &daemon{world: w, options: &again, holder: holder(), stop: ctx}
	var err error
	d.queue, err = queue.New(queue.Options{
		Pool: w.pool, Duty: d, Ledger: w.ledger, Log: w.log, Name: d.holder,
		Quick: w.config.Schedule.Quick.Schedule, Full: w.config.Schedule.Full.Schedule, Workers: remedyWorkers,
	})
	if err != nil {
		return nil, fmt.Errorf("make the queue: %w", err)
	}
	if err := d.apply(ctx, w.config); err != nil {
		return nil, err
	}
	d.reading.note(time.Now(), nil)
	return d, nil
}

// close gives up the connections of the config that is in force.
func (d *daemon) close() { d.crew.Load().close() }

// execute works until ctx ends, and then until what was begun is finished.
func (d *daemon) run(ctx context.Context, front *front) error {
	d.log.InfoContext(ctx, "running", "version", version(), "installation", d.config.Installation,
		"page", front.url(), "quick", d.config.Schedule.Quick.Text, "full", d.config.Schedule.Full.Text,
		"mode", d.config.Mode)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error { return d.queue.Run(ctx) })
	g.Go(func() error { return front.serve(ctx, d.site(), d.log) })
	g.Go(func() error {
		d.watchConfig(ctx)
		return nil
	})
	err := g.Wait()
	d.log.Info("stopped") //nolint:sloglint // the context has ended
	return err
}
