package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sandkeeper/sandkeeper/alerts"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/config"
	"github.com/sandkeeper/sandkeeper/cmd/sandkeeper/telemetry"
	"github.com/sandkeeper/sandkeeper/providers"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/reconcile/run"
	"github.com/sandkeeper/sandkeeper/store"
	"github.com/sandkeeper/sandkeeper/store/ledger"
	"github.com/sandkeeper/sandkeeper/store/queue"
	"github.com/sandkeeper/sandkeeper/store/tasks"
	"github.com/sandkeeper/sandkeeper/web/serve"
)

// An App is everything that a verb works with, opened from the config.
type App struct {
	Config    *config.Config
	Log       *slog.Logger
	Pool      *pgxpool.Pool // of the ledger
	TasksPool *pgxpool.Pool // nil with `tasks: none`
	Ledger    *ledger.Ledger
	Tasks     *tasks.Tasks // nil with `tasks: none`
	Providers map[string]reconcile.Provider

	Local *alerts.Local // what this process counts of itself

	Telemetry *telemetry.Telemetry // sends traces, metrics and logs; nil: nothing is sent

	refused serve.Refusals // at the door of the page

	level    *slog.LevelVar
	pools    []*pgxpool.Pool
	onlyLook bool
	shared   bool // the rate of a provider is kept with all other processes, through the ledger

	queueCurrent atomic.Bool // the job queue's tables were found to be this program's: they do not go back
}

// Close gives up all connections.
func (a *App) Close() {
	for _, p := range a.pools {
		p.Close()
	}
}

// openOutside opens what the config names besides the ledger.
func (a *App) openOutside(ctx context.Context) error {
	if err := a.OpenTasks(ctx); err != nil {
		return err
	}
	return a.OpenProviders()
}

// Prepare makes sure that the schema is this program's; migrate makes it so.
func (a *App) Prepare(ctx context.Context, migrate bool) error {
	if migrate {
		if err := a.Migrate(ctx); err != nil {
			return err
		}
	}
	return a.CheckSchema(ctx)
}

// Migrate brings the schema up to date: the ledger's and the queue's. Where one login does for tasks and ledger, what
// others could do by that is looked at first.
func (a *App) Migrate(ctx context.Context) error {
	if a.Config.LedgerBeside().Own {
		if err := a.refusePlanted(ctx); err != nil {
			return fmt.Errorf("migrate ledger: refused, nothing was changed: %w", err)
		}
	}
	if err := a.Ledger.Migrate(ctx); err != nil {
		return err
	}
	return queue.Migrate(ctx, a.Pool)
}

func (a *App) refusePlanted(ctx context.Context) error {
	if a.Tasks == nil {
		if err := a.OpenTasks(ctx); err != nil {
			return err
		}
	}
	return a.Tasks.RefusePlanted(ctx)
}

// CheckSchema is an error when the schema is not this program's.
func (a *App) CheckSchema(ctx context.Context) error {
	have, want, err := a.Ledger.SchemaVersion(ctx)
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

// OpenLedger opens our own database.
func (a *App) OpenLedger(ctx context.Context) error {
	pool, err := store.Open(ctx, a.Config.Database.Reveal(), store.OpenOptions{Name: "ledger", Own: true})
	if err != nil {
		return err
	}
	a.Pool, a.pools = pool, append(a.pools, pool)
	a.Ledger = ledger.NewLedger(pool, ledger.Options{
		Installation: a.Config.Installation, Keys: a.Config.OperatorKeys(),
		TasksLogin: a.Config.TasksLogin(),
	})
	return nil
}

// OpenTasks opens the platform's database; with `tasks: none` there is none.
func (a *App) OpenTasks(ctx context.Context) error {
	c := a.Config
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
	a.TasksPool, a.pools = pool, append(a.pools, pool)
	a.Tasks = tasks.NewTasks(pool, compiled, nil)
	a.Tasks.ReportTo(a.Log)
	a.Tasks.CallBy(callerOf(c))
	a.Tasks.Beside(c.LedgerBeside())
	if a.onlyLook {
		a.Tasks.OnlyLook()
	}
	a.Tasks.SilentAfter(a.Config.Policy().Rules["heartbeat-lost"].After)
	return nil
}

// OpenProviders opens all providers of the config that can be opened.
func (a *App) OpenProviders() error {
	a.Providers = map[string]reconcile.Provider{}
	var errs []error
	for _, e := range a.Config.Entries() {
		p, err := a.OpenProvider(e)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		a.Providers[e.Name] = p
	}
	return errors.Join(errs...)
}

// OpenProvider opens the provider of one entry.
func (a *App) OpenProvider(e providers.Entry) (reconcile.Provider, error) {
	options := providers.Options{Log: a.Log, Agent: "sandkeeper/" + Version()}
	options.Heard = func(call, code string, took time.Duration) { a.Local.Request(e.Name, call, code, took) }
	options.Left = func(limiter string, calls float64) { a.Local.Left(e.Name, limiter, calls) }
	if a.shared && e.Rate > 0 {
		turn := ledger.NewRate(a.Pool, e.Name, e.Rate).Wait
		options.Turn = func(ctx context.Context) error {
			began := time.Now()
			defer func() { a.Local.Waited(e.Name, time.Since(began)) }()
			return turn(ctx)
		}
	}
	return providers.Open(e, options)
}

// Keeper makes what runs passes.
func (a *App) Keeper(progress func(string)) *run.Reconciler {
	k := &run.Reconciler{
		Policy: a.Config.Policy(), Ledger: a.Ledger, Providers: a.Providers,
		Holder: holder(), Log: a.Log, Progress: progress,
		Phase: func(kind reconcile.PassKind, phase string, took time.Duration) {
			a.Local.Phase(string(kind), phase, took)
		},
		Span: a.spans(), Vain: new(atomic.Int32), Small: new(run.Small), Standing: new(run.Standing),
	}
	if a.Tasks != nil {
		k.Tasks = a.Tasks
	}
	if n := notifierOf(a.Config); n != nil {
		k.Notices, k.Notifier = a.Ledger, n
	}
	return k
}

// Purge deletes what is older than the retention. It is housekeeping: it gets a moment of
// each run and its failure does not fail the run.
func (a *App) Purge(ctx context.Context, now time.Time) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	if _, err := a.Ledger.Purge(ctx, now.Add(-a.Config.Retention), 1000); err != nil {
		a.Log.WarnContext(ctx, "old history not deleted, the next run goes on", "err", err)
	}
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
