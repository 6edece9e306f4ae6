package main

import (
	"context"
	"net/http"
	"slices"

	"github.com/sandkeeper/sandkeeper/providers/simulated"
	"github.com/sandkeeper/sandkeeper/reconcile"
)

// throttle: Vercel has a limit of calls, and somebody else has used it up.
func (c *script) throttle(context.Context) error {
	c.lift = c.stage.at(atVercel).Inject(simulated.Fault{On: simulated.List, Effect: simulated.Answer,
		Status: http.StatusTooManyRequests, Body: `{"error":{"code":"rate_limited","message":"Rate limit exceeded"}}`})
	return nil
}

// breakVercel makes all that tells what is at Vercel fail: everything seems to be gone. What
// runs there goes on. A moment before, stops are ignored everywhere.
func (c *script) breakVercel(ctx context.Context) error {
	for _, j := range c.platform.takeEach(1, 2, 2) {
		name := incidentElsewhere
		if j.at == atVercel {
			name = incidentOutage
		}
		if err := c.stopInVain(ctx, j, name); err != nil {
			return err
		}
	}
	asked := []simulated.Kind{simulated.List, simulated.Get, simulated.Find}
	c.lift = c.stage.at(atVercel).Inject(simulated.Fault{Effect: simulated.Answer, Status: http.StatusInternalServerError,
		Body:  `{"error":{"code":"internal_server_error","message":"please try again"}}`,
		Match: func(call simulated.Call) bool { return slices.Contains(asked, call.Kind) }})
	return nil
}

// cutListing: Daytona's listing answers well, in full, and leaves out two of three.
func (c *script) cutListing(context.Context) error {
	c.lift = c.stage.at(atDaytona).Inject(simulated.Fault{On: simulated.List, Effect: simulated.Omit,
		Omits: func(s simulated.Sandbox) bool { return s.ID[0]%3 > 0 }})
	return nil
}

// fix ends the present fault of a provider.
func (c *script) fix(context.Context) error {
	c.lift()
	return nil
}

// onlyVercelWaits: Vercel is not trusted, and all that broke elsewhere is repaired.
func (c *script) onlyVercelWaits(o *reconcile.Overview) bool {
	for _, v := range c.truth.all() {
		if v.incident != incidentOutage && !(v.repaired && v.confirmed) {
			return false
		}
	}
	return c.waits().distrusted("listing:vercel", (*reconcile.SourceSeen).Unread)(o)
}
