package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/config"
	"github.com/sandkeeper/sandkeeper/providers"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/run"
	"github.com/sandkeeper/sandkeeper/store"
	"github.com/sandkeeper/sandkeeper/store/ledger"
	"github.com/sandkeeper/sandkeeper/store/queue"
	"github.com/sandkeeper/sandkeeper/store/tasks"
)

// A world is everything that a verb works with, opened from the config.
type world struct {
	config    *config.Config
	log       *slog.Logger
	level     *slog.LevelVar
	pool      *pgxpool.Pool // of the ledger
	ledger    *ledger.Ledger
	tasks     *tasks.Tasks // nil with `tasks: none`
	providers map[string]reconcile.Provider
	pools     []*pgxpool.Pool
	shared    bool // the rate of a provider is kept with all other processes, through the ledger
}

func (w *world) close() {
	for _, p := range w.pools {
		p.Close()
	}
}

// load reads the config and shows its warnings.
func (o *options) load() (*config.Config, error) {
	c, err := config.Load(o.config, os.LookupEnv)
	if err != nil {
		return nil, err
	}
	for _, warning := range c.Warnings {
		fmt.Fprintln(o.err, "warning:", warning)
	}
	return c, nil
}

// open opens the ledger, the task database and the providers. Opening makes no change.
func (o *options) open(ctx context.Context) (*world, error) {
	c, err := o.load()
	if err != nil {
		return nil, err
	}
	w, err := o.openLedger(ctx, c)
	if err != nil {
		return nil, err
	}
	if err := w.openOutside(ctx); err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

// openToAct opens all for a verb that acts: on a ledger with this program's schema, which
// migrate makes first, and within the rates that all processes share.
func (o *options) openToAct(ctx context.Context, migrate bool) (*world, error) {
	c, err := o.load()
	if err != nil {
		return nil, err
	}
	w, err := o.openLedger(ctx, c)
	if err != nil {
		return nil, err
	}
	w.shared = true
	if err = w.prepare(ctx, migrate); err == nil {
		err = w.openOutside(ctx)
	}
	if err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

// openOutside opens what the config names besides the ledger.
func (w *world) openOutside(ctx context.Context) error {
	if err := w.openTasks(ctx); err != nil {
		return err
	}
	return w.openProviders()
}

// prepare makes sure that the schema is this program's; migrate makes it so.
func (w *world) prepare(ctx context.Context, migrate bool) error {
	if migrate {
		if err := w.migrate(ctx); err != nil {
			return err
		}
	}
	return w.current(ctx)
}

// migrate brings the schema up to date: the ledger's and the queue's.
func (w *world) migrate(ctx context.Context) error {
	if err := w.ledger.Migrate(ctx); err != nil {
		return err
	}
	return queue.Migrate(ctx, w.pool)
}

// current is an error when the schema is not this program's.
func (w *world) current(ctx context.Context) error {
	have, want, err := w.ledger.SchemaVersion(ctx)
	switch {
	case err != nil:
		return err
	case have > want:
		return fmt.Errorf("the ledger is at schema version %d, this program knows %d: a newer sandkeeper has migrated it; "+
			"use that version", have, want)
	case have != want:
		return fmt.Errorf("the ledger is at schema version %d, this program needs %d: "+
			"run `sandkeeper migrate` (`once` and `run` do it with --migrate)", have, want)
	}
	return nil
}

// openLedger opens what the operators' verbs need: config, log and ledger.
func (o *options) openLedger(ctx context.Context, c *config.Config) (*world, error) {
	w := &world{config: c, level: &slog.LevelVar{}}
	w.level.Set(c.Log.Level)
	w.log = newLog(o.err, c.Log.Format, w.level)
	pool, err := store.Open(ctx, c.Database.Reveal(), store.OpenOptions{Name: "ledger"})
	if err != nil {
		return nil, err
	}
	w.pool, w.pools = pool, append(w.pools, pool)
	w.ledger = ledger.NewLedger(pool, ledger.Options{Installation: c.Installation})
	return w, nil
}

func (w *world) openTasks(ctx context.Context) error {
	c := w.config
	if c.Tasks.None {
		return nil
	}
	compiled, err := tasks.Compile(c.Mapping().WithPreset()) // has passed when the config was read
	if err != nil {
		return err
	}
	pool, err := store.Open(ctx, c.Tasks.Database.Reveal(), store.OpenOptions{Name: "tasks"})
	if err != nil {
		return err
	}
	w.pools = append(w.pools, pool)
	w.tasks = tasks.NewTasks(pool, compiled, nil)
	w.tasks.ReportTo(w.log)
	return nil
}

func (w *world) openProviders() error {
	w.providers = map[string]reconcile.Provider{}
	var errs []error
	for _, e := range w.config.Entries() {
		options := providers.Options{Log: w.log, Agent: "sandkeeper/" + version()}
		if w.shared && e.Rate > 0 {
			options.Turn = ledger.NewRate(w.pool, e.Name, e.Rate).Wait
		}
		p, err := providers.Open(e, options)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		w.providers[e.Name] = p
	}
	return errors.Join(errs...)
}

// keeper makes what runs passes.
func (w *world) keeper(progress func(string)) *run.Keeper {
	k := &run.Keeper{
		Policy: w.config.Policy(), Ledger: w.ledger, Providers: w.providers,
		Holder: holder(), Log: w.log, Progress: progress,
	}
	if w.tasks != nil {
		k.Tasks = w.tasks
	}
	if hook := webhookOf(w.config); hook != nil {
		k.Notices, k.Notifier = w.ledger, hook
	}
	return k
}

// holder names this process to people who wonder who holds a lease. The end makes it one of
// its kind: in containers everybody is process 1 of a host that may have a fixed name.
func holder() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown host"
	}
	return fmt.Sprintf("%s pid %d %s", host, os.Getpid(), rand.Text()[:6])
}
