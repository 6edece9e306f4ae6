package app

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/sandkeeper/sandkeeper/alerts"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/queue"
	"github.com/sandkeeper/sandkeeper/web/serve"
)

// Site is the page and the metrics of a process that only shows.
func (a *App) Site() http.Handler {
	policy := a.Config.Policy()
	return a.pages(serve.Options{
		Policy: func() reconcile.Policy { return policy }, Acts: Acts{func() *App { return a }},
	}, nil)
}

// site is the page and the metrics of a process that makes passes, by the config in force.
func (d *Daemon) site() http.Handler {
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
	}, func() (ok bool, at time.Time) {
		at, err := d.reading.last()
		return err == nil, at
	})
}

func (a *App) pages(o serve.Options, reading func() (ok bool, at time.Time)) http.Handler {
	o.Ledger, o.Records, o.Ready, o.Version, o.Log = a.Ledger, a.Ledger, a.ready, Version(), a.Log
	o.Metrics = alerts.Handler(a.Ledger, alerts.Options{
		Policy: o.Policy, Config: reading, Version: o.Version, Log: a.Log,
		Refused: func() (logIns, hosts int64) { return a.refused.LogIns(), a.refused.Hosts() },
	})
	return serve.New(o)
}

// ready is an error while the database does not answer or the schema is not this program's.
func (a *App) ready(ctx context.Context) error {
	if err := a.CheckSchema(ctx); err != nil {
		return err
	}
	current, err := queue.Current(ctx, a.Pool)
	if err == nil && !current {
		err = errors.New("the tables of the job queue are not this program's: run `sandkeeper migrate`")
	}
	return err
}
