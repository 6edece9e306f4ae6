package platform

import (
	"time"

	"github.com/sandkeeper/sandkeeper/reconcile"
)

// A Bill is what the providers truly charge for, in hours of sandboxes and in USD. It is made up every so often, so
// each sandbox may be off by as much when it comes and when it goes.
type Bill struct {
	Ours      time.Duration // all sandboxes of ours that ran or came up, also those that somebody needed
	Leaked    time.Duration // of these the time in which nobody needed them
	LeakedUSD float64       // what that time costs, each sandbox by its own size
}

// charge adds the time since the last look to the bill, by what was there then.
func (a *Account) charge() {
	now := a.now()
	for _, b := range a.platform.boxOrder {
		if b.there() && b.owner == ours && b.state.Active() {
			a.Bill.Ours += now - a.billed
		}
	}
	for _, b := range a.held {
		a.Bill.Leaked += now - a.billed
		a.Bill.LeakedUSD += b.perHour * (now - a.billed).Hours()
	}
	a.billed = now
}

// What a sandbox costs an hour at every provider of a simulation, in USD: any, and one with so many CPUs.
const (
	Price      = 0.08
	LargePrice = 0.5
	LargeCPU   = 4
)

// priceOf is the provider's own price list.
func priceOf(s reconcile.Size) float64 {
	if s.CPU == LargeCPU {
		return LargePrice
	}
	return Price
}

// USD is what so many hours of a sandbox without a size of its own cost.
func USD(of time.Duration) float64 { return Price * of.Hours() }
