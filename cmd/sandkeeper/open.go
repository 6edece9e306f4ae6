package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sandkeeper/sandkeeper/providers"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store"
)

// A world is everything that a verb works with, opened from the config.
type world struct {
	config    *Config
	log       *slog.Logger
	ledger    *store.Ledger
	tasks     *store.Tasks // nil with `tasks: none`
	providers map[string]reconcile.Provider
	pools     []*pgxpool.Pool
}

func (w *world) close() {
	for _, p := range w.pools {
		p.Close()
	}
}

// load reads the config and shows its warnings.
func (o *options) load() (*Config, error) {
	c, err := LoadConfig(o.config, os.LookupEnv)
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
	if err := w.openTasks(ctx); err != nil {
		w.close()
		return nil, err
	}
	if err := w.openProviders(); err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

// openLedger opens what the operators' verbs need: config, log and ledger.
func (o *options) openLedger(ctx context.Context, c *Config) (*world, error) {
	w := &world{config: c, log: newLog(o.err, c.Log)}
	pool, err := store.Open(ctx, c.Database.Reveal(), store.OpenOptions{Name: "ledger"})
	if err != nil {
		return nil, err
	}
	w.pools = append(w.pools, pool)
	w.ledger = store.NewLedger(pool, store.LedgerOptions{Installation: c.Installation})
	return w, nil
}

func (w *world) openTasks(ctx context.Context) error {
	c := w.config
	if c.Tasks.None {
		return nil
	}
	compiled, err := store.Compile(c.Mapping().WithPreset()) // has passed when the config was read
	if err != nil {
		return err
	}
	pool, err := store.Open(ctx, c.Tasks.Database.Reveal(), store.OpenOptions{Name: "tasks"})
	if err != nil {
		return err
	}
	w.pools = append(w.pools, pool)
	w.tasks = store.NewTasks(pool, compiled, nil)
	return nil
}

func (w *world) openProviders() error {
	w.providers = map[string]reconcile.Provider{}
	var errs []error
	for _, e := range w.config.Entries() {
		p, err := providers.Open(e, providers.Options{Log: w.log, Agent: "sandkeeper/" + version()})
		if err != nil {
			errs = append(errs, err)
			continue
		}
		w.providers[e.Name] = p
	}
	return errors.Join(errs...)
}

// keeper makes what runs passes.
func (w *world) keeper(progress func(string)) *reconcile.Keeper {
	k := &reconcile.Keeper{
		Policy: w.config.Policy(), Ledger: w.ledger, Providers: w.providers,
		Holder: holder(), Log: w.log, Progress: progress,
	}
	if w.tasks != nil {
		k.Tasks = w.tasks
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
