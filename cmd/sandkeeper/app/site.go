package app

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/sandkeeper/sandkeeper/alerts"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/queue"
	"github.com/sandkeeper/sandkeeper/web/serve"
)

// Site is the page and the metrics of a process that only shows.
func (a *App) Site() *serve.Site {
	policy := a.Config.Policy()
	return a.pages(serve.Options{
		Policy: func() reconcile.Policy { return policy }, Acts: Acts{func() *App { return a }},
	}, func() *App { return a }, nil)
}

// site is the page and the metrics of a process that makes passes, by the config in force.
func (d *Daemon) site() *serve.Site {
	return d.pages(serve.Options{
		Doing:  true,
		Acts:   Acts{func() *App { return d.current.Load().App }},
		Policy: func() reconcile.Policy { return d.current.Load().reconciler.Policy },
		ConfigError: func() string {
			if _, err := d.reading.last(); err != nil {
				return err.Error()
			}
			return ""
		},
	}, func() *App { return d.current.Load().App }, func() (ok bool, at time.Time) {
		at, err := d.reading.last()
		return err == nil, at
	})
}

// pages are the page and the metrics; now is the app by the config in force.
func (a *App) pages(o serve.Options, now func() *App, reading func() (ok bool, at time.Time)) *serve.Site {
	o.Ledger, o.Records, o.Ready, o.Version, o.Log = a.Ledger, a.Ledger, a.ready, Version(), a.Log
	o.Pushes = pushed{now}
	o.Runbooks = alerts.RunbookFiles()
	m := a.metrics(now)
	m.Policy, m.Config = o.Policy, reading
	m.Pools = func() []alerts.Pool { return now().connections() }
	m.Refused = func() (logIns, hosts int64) { return a.refused.LogIns(), a.refused.Hosts() }
	o.Metrics = alerts.Handler(a.Ledger, m)
	return serve.New(o)
}

// metrics are the options of the metrics of any process.
func (a *App) metrics(now func() *App) alerts.Options {
	return alerts.Options{
		Policy: func() reconcile.Policy { return now().Config.Policy() },
		Rates:  func() map[string]float64 { return now().rates() },
		Bounds: func() alerts.Bounds { return now().alarmBounds() },
		Local:  a.Local, Version: Version(), Log: a.Log,
	}
}

// rates are the calls a second that the config allows.
func (a *App) rates() map[string]float64 {
	rates := map[string]float64{}
	for _, e := range a.Config.Entries() {
		rates[e.Name] = e.Rate
	}
	return rates
}

// connections are those of the process to the ledger and, where it has the tasks open, to them.
func (a *App) connections() (all []alerts.Pool) {
	for name, pool := range map[string]*pgxpool.Pool{"ledger": a.Pool, "tasks": a.TasksPool} {
		if pool == nil {
			continue
		}
		s := pool.Stat()
		all = append(all, alerts.Pool{
			Name: name, Idle: int(s.IdleConns()), Used: int(s.AcquiredConns()), Max: int(s.MaxConns()),
			Acquires: s.AcquireCount(), Waits: s.EmptyAcquireCount(), Waited: s.EmptyAcquireWaitTime(),
		})
	}
	return all
}

// WriteMetrics writes the metrics to a file for the textfile collector of the node exporter.
func (a *App) WriteMetrics(file string) error {
	o := a.metrics(func() *App { return a })
	o.Written = time.Now()
	return alerts.Write(file, a.Ledger, o)
}

// PrintMetrics prints the same.
func (a *App) PrintMetrics(w io.Writer) error {
	o := a.metrics(func() *App { return a })
	o.Written = time.Now()
	return alerts.Print(w, a.Ledger, o)
}

// ready is an error while the database does not answer or the schema is not this program's.
func (a *App) ready(ctx context.Context) error {
	if err := a.CheckSchema(ctx); err != nil {
		return err
	}
	if a.queueCurrent.Load() {
		return nil
	}
	current, err := queue.Current(ctx, a.Pool)
	if err == nil && !current {
		err = errors.New("the tables of the job queue are not this program's: run `sandkeeper migrate`")
	}
	a.queueCurrent.Store(err == nil)
	return err
}
