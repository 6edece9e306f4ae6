package main

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/sandkeeper/sandkeeper/alerts"
	"github.com/sandkeeper/sandkeeper/reconcile"
	"github.com/sandkeeper/sandkeeper/store/queue"
	"github.com/sandkeeper/sandkeeper/web"
)

// site is the page and the metrics of a process that only shows.
func (w *world) site() http.Handler {
	policy := w.config.Policy()
	return w.pages(web.Options{Policy: func() reconcile.Policy { return policy }}, nil)
}

// site is the page and the metrics of a process that makes passes, by the config in force.
func (d *daemon) site() http.Handler {
	return d.pages(web.Options{
		Doing:  true,
		Policy: func() reconcile.Policy { return d.crew.Load().keeper.Policy },
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

func (w *world) pages(o web.Options, reading func() (ok bool, at time.Time)) http.Handler {
	o.Ledger, o.Ready, o.Version, o.Log = w.ledger, w.ready, version(), w.log
	o.Metrics = alerts.Handler(w.ledger, alerts.Options{
		Policy: o.Policy, Config: reading, Version: o.Version, Log: w.log,
	})
	return web.New(o)
}

// ready is an error while the database does not answer or the schema is not this program's.
func (w *world) ready(ctx context.Context) error {
	if err := w.current(ctx); err != nil {
		return err
	}
	current, err := queue.Current(ctx, w.pool)
	if err == nil && !current {
		err = errors.New("the tables of the job queue are not this program's: run `sandkeeper migrate`")
	}
	return err
}
