package main

import (
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile/backtest"
)

// A past is what the history came to.
type past struct {
	asOf, since   time.Time
	tasks, events int
	leftOut       int
	price         float64 // USD of a sandbox for an hour
	results       []backtest.Result
}
