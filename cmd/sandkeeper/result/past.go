package result

import (
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile/backtest"
)

// A Past is what the history came to.
type Past struct {
	AsOf, Since   time.Time
	Tasks, Events int
	LeftOut       int
	Price         float64 // USD of a sandbox for an hour
	Results       []backtest.Result
}
