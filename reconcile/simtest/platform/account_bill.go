package platform

import "time"

// A Bill is what the providers truly charge for, in hours of sandboxes. It is made up every so often, so each
// sandbox may be off by as much when it comes and when it goes.
type Bill struct {
	Ours   time.Duration // all sandboxes of ours that ran or came up, also those that somebody needed
	Leaked time.Duration // of these the time in which nobody needed them
}

// charge adds the time since the last look to the bill, by what was there then.
func (a *Account) charge() {
	now := a.now()
	for _, b := range a.platform.boxOrder {
		if b.there() && b.owner == ours && b.state.Active() {
			a.Bill.Ours += now - a.billed
		}
	}
	a.Bill.Leaked += time.Duration(len(a.held)) * (now - a.billed)
	a.billed = now
}

// Price is what a sandbox costs an hour at every provider of a simulation, in USD.
const Price = 0.08

// USD is what so many hours of sandboxes cost.
func USD(of time.Duration) float64 { return Price * of.Hours() }
